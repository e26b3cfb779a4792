"""Files sent with a question: read for its thread alone, cited by their names, gone with their conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.domain.conversation import Attachment, IncomingMessage, ThreadAddress
from core.domain.corpus import Document, Source
from core.ingestion.limits import ReadLimits
from core.ingestion.report import IngestReport
from core.library import Library
from core.ports import ConversationRepository, CorpusRepository
from core.service_ports import ThreadReader

ATTACHMENT_KIND = "attachment"  # of the source that holds a thread's files
MOST_ATTACHMENTS = 10  # of one question


def attachment_source_name(address: ThreadAddress) -> str:
    """The name of the source that holds the files of a thread."""
    return f"attached:{address}"


class Ingest(Protocol):
    """Reads files into the library: a run of core.ingestion.pipeline.Ingestor with a child process of its own."""

    async def __call__(self, source: Source, root: Path, only: str | None = None) -> IngestReport:
        """`source` is saved already; `only` is the one file under `root` to look at. Raises as Ingestor does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFiles:
    """What came of a question's files."""

    documents: tuple[Document, ...]  # that can be read now, in the order of the files
    notes: tuple[str, ...]  # one sentence for each file that could not be read


class Attachments:
    """The files of threads, each thread's in a source of its own."""

    def __init__(
        self,
        *,
        corpus: CorpusRepository,
        library: Library,
        conversations: ConversationRepository,
        ingest: Ingest,
        limits: ReadLimits,
        most: int = MOST_ATTACHMENTS,
    ) -> None:
        self._corpus = corpus
        self._library = library
        self._conversations = conversations
        self._ingest = ingest
        self._limits = limits
        self._most = most

    async def read(self, question: IncomingMessage, address: ThreadAddress, reader: ThreadReader) -> ReadFiles:
        """Bring the files of a question into its conversation's source; `address` is the conversation's.

        A file that was read before is unchanged. Raises StorageError and ModelMissing; all else is a note.
        """
        raise NotImplementedError

    async def forget(self, address: ThreadAddress) -> None:
        """Remove all files of a thread; a thread without files is ignored."""
        raise NotImplementedError

    async def sweep(self, workspaces: Sequence[str]) -> int:
        """Remove the files of threads whose conversations are gone; how many threads that were."""
        raise NotImplementedError


def too_many(attachments: Sequence[Attachment], most: int) -> str:
    """The sentence about files that are left out."""
    names = ", ".join(item.name for item in attachments[most:])
    return f"I read the first {most} files alone, and left out {names}: ask about them in a question of their own."
