"""Files sent with a question: read only for its thread, cited by their names, deleted with their conversation.

Their bytes are on disk only while they are read. The time of such a file follows from its content, so that its stored
stamp tells whether it was read before.
"""

import asyncio
import hashlib
import os
import re
import tempfile
import unicodedata
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Protocol, TypeVar

from core.access.scopes import ATTACHMENTS, attached_name
from core.domain.corpus import Document, FileStamp, Source
from core.domain.incoming import Attachment, IncomingMessage, ThreadAddress
from core.domain.ingest_report import IngestReport
from core.domain.jobs import JobKind
from core.domain.read_limits import MEBIBYTE, ReadLimits
from core.errors import FootnoteError, ModelMissing, NotFound, PlatformError, ReadError, StorageError
from core.knowledge.library import Library
from core.knowledge.sources import source_id
from core.ports import ConversationRepository, CorpusRepository
from core.ports.service import ThreadReader
from core.thread_work import to_its_end
from core.work.steps import NO_STEPS, Step

MOST_ATTACHMENTS = 10  # of one question
DOWNLOAD_SECONDS = 60.0  # for one file
TEXT_KIND = "text"  # of the reader of plain texts
LONGEST_NAME = 200  # bytes: with a number and an ending still a name that every disk takes
LONGEST_ENDING = 20  # characters: longer ones are no endings

Read = TypeVar("Read")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')


class Ingest(Protocol):
    """A function that reads files into the library: one ingest run with its own child process."""

    async def __call__(
        self, source: Source, root: Path, only: str | None = None, *, kind: str | None = None
    ) -> IngestReport:
        """`source` is saved already; `only` is the one file under `root` to look at, `kind` the reader's that reads it.

        Raises as Ingestor does.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFiles:
    """The results of a question's files."""

    documents: tuple[Document, ...] = ()  # that can be read now, in the order of the files
    notes: tuple[str, ...] = ()  # one sentence for each file that could not be read


class Attachments:
    """The files of threads, each thread's in a source of its own."""

    def __init__(
        self,
        *,
        corpus: CorpusRepository,
        library: Library,
        conversations: ConversationRepository,
        ingest: Ingest,
        has_reader: Callable[[Path], bool],
        stamp: Callable[[Path], FileStamp],
        limits: ReadLimits,
        most: int = MOST_ATTACHMENTS,
    ) -> None:
        self._corpus = corpus
        self._library = library
        self._conversations = conversations
        self._ingest = ingest
        self._has_reader = has_reader
        self._stamp = stamp
        self._limits = limits
        self._most = most

    async def read(self, question: IncomingMessage, reader: ThreadReader, parent: Step = NO_STEPS) -> ReadFiles:
        """Bring the files of a question into its thread's source, each as a step below `parent`.

        A file that was read in this thread before is not read again; another one of the same name gets a number
        behind its name. Raises StorageError and ModelMissing; all else is a note.
        """
        source = _source_of(question.address)
        await self._corpus.save_source(source)
        documents: list[Document] = []
        notes: list[str] = []
        for attachment in question.attachments[: self._most]:
            try:
                documents.append(await self._read(attachment, question, source, reader, parent))
            except (StorageError, ModelMissing):
                raise
            except FootnoteError as error:
                notes.append(f"I could not read {attachment.name}: {str(error).strip().rstrip('.')}.")
        if left := question.attachments[self._most :]:
            names = ", ".join(attachment.name for attachment in left)
            notes.append(f"I read {self._most} files at most for one question, so I left out {names}.")
        return ReadFiles(documents=tuple(documents), notes=tuple(notes))

    async def forget(self, address: ThreadAddress) -> None:
        """Remove all files of a thread; a thread without files is ignored."""
        await self._remove(address.workspace, attached_name(address))

    async def sweep(self, workspaces: Sequence[str]) -> int:
        """Remove the files of threads without a conversation; return the number of threads."""
        swept = 0
        for workspace in workspaces:
            sources = await self._corpus.list_sources(workspace)
            attached = [source.name for source in sources if source.kind == ATTACHMENTS]
            # Asked after the sources: a thread that begins meanwhile has its conversation before it has files.
            known = await self._conversations.list_conversations(workspace) if attached else []
            for name in set(attached) - {attached_name(conversation.address) for conversation in known}:
                await self._remove(workspace, name)
                swept += 1
        return swept

    async def _read(
        self, attachment: Attachment, question: IncomingMessage, source: Source, reader: ThreadReader, parent: Step
    ) -> Document:
        """Read one file as a document. Errors give the reason, as the end of a sentence."""
        size = {"name": attachment.name, "bytes": attachment.size_bytes}
        async with parent.step(JobKind.INGEST, f"read {attachment.name}", input=size) as reading:
            self._check_size(attachment.size_bytes)
            data = await in_time(reader.read_attachment(question, attachment), DOWNLOAD_SECONDS)
            self._check_size(len(data))
            stored = await self._corpus.list_documents(source.workspace, frozenset({source.id}))
            with tempfile.TemporaryDirectory(prefix="footnote-") as folder:
                path = await to_its_end(partial(_write, Path(folder), attachment.name, data))
                stamp = await to_its_end(partial(self._stamp, path))
                name = _free_name(path.name, stamp, stored)
                await to_its_end(partial(os.rename, path, Path(folder, name)))
                known = self._has_reader(Path(safe_name(attachment.name)))
                # Text files that no reader knows by suffix: logs, program code, tables.
                kind = TEXT_KIND if not known and attachment.content_type.startswith("text/") else None
                report = await self._ingest(source, Path(folder), name, kind=kind)
            reading.output = {"pages": report.pages, "passages": report.passages, "unchanged": report.unchanged}
            if report.failures:
                raise ReadError(report.failures[0].reason)
        stored = await self._corpus.list_documents(source.workspace, frozenset({source.id}))
        found = next((document for document in stored if document.path == name), None)
        if found is None:
            raise ReadError("it was removed during reading")
        return found

    def _check_size(self, size: int) -> None:
        if size > self._limits.file_bytes:
            most = self._limits.file_bytes / MEBIBYTE
            raise ReadError(f"too large: {size / MEBIBYTE:,.1f} MB, at most {most:,.1f} MB are read")

    async def _remove(self, workspace: str, name: str) -> None:
        try:
            await self._library.remove_source(workspace, name)
        except NotFound:
            return  # no file was ever read there, or another process was faster


async def in_time(reading: Awaitable[Read], seconds: float) -> Read:
    """Return the platform's result, or raise PlatformError after the timeout."""
    try:
        return await asyncio.wait_for(reading, seconds)
    except TimeoutError as error:
        raise PlatformError(f"it didn't arrive within {seconds:g} s") from error


def safe_name(name: str) -> str:
    """Return a file name that every disk accepts."""
    clean = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", name).encode("utf-8", "replace").decode())
    pure = PurePath(clean.strip().lstrip(". ").rstrip(". ") or "file")
    ending = pure.suffix if len(pure.suffix) <= LONGEST_ENDING else ""
    return f"{pure.name.removesuffix(ending).encode()[:LONGEST_NAME].decode(errors='ignore')}{ending}"


def _source_of(address: ThreadAddress) -> Source:
    name = attached_name(address)
    identity, workspace = source_id(address.workspace, name), address.workspace
    return Source(id=identity, workspace=workspace, name=name, kind=ATTACHMENTS, location=name)


def _write(folder: Path, name: str, data: bytes) -> Path:
    """Write a file whose modification time follows from its content."""
    path = folder / safe_name(name)
    path.write_bytes(data)
    seconds = int.from_bytes(hashlib.sha256(data).digest()[:4], "big") // 2  # till 2038, which every disk can keep
    os.utime(path, (seconds, seconds))
    return path


def _free_name(name: str, stamp: FileStamp, stored: Sequence[Document]) -> str:
    """The name under which the same content is stored, else one that no other content has: "notes (2).pdf"."""
    taken = {document.path: document.stamp for document in stored}
    pure, number, free = PurePath(name), 1, name
    while free in taken and taken[free] not in (None, stamp):
        number += 1
        free = f"{pure.stem} ({number}){pure.suffix}"
    return free
