"""Attachments and kept answers over a real ingest: stores in memory, real readers in a real child process."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from core.domain.corpus import Source
from core.domain.incoming import Attachment, IncomingMessage, Talk
from core.domain.ingest_report import IngestReport, ProgressCallback, ignore_progress
from core.domain.read_limits import MEBIBYTE, ReadLimits
from core.errors import PlatformError
from core.features.kept_answers import KeptAnswers
from core.features.live_channels import LiveChannels
from core.features.review import Reviews
from core.features.staleness.stale_answers import Staleness
from core.features.statistics import UsageStatistics
from core.knowledge.attachments import Attachments
from core.knowledge.library import Library
from core.knowledge.narrowing import NO_RULES, ReaderRules
from core.ports import Clock
from core.ports.service import InboxStore
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.spending import SqlSpendingStore
from storage.documents.base import has_reader
from storage.documents.files import stamp_file
from storage.documents.pipeline import Ingestor
from storage.documents.sandbox import Sandbox
from tests.fakes import ManualClock, WordIndex
from tests.stores import Stores
from tests.unit.core.library_builder import Shelf

LIMITS = ReadLimits(seconds=30, memory_bytes=600 * MEBIBYTE, file_bytes=20_000)


class Downloads:
    """A platform's files by their references; counts what was fetched."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.fetched: list[str] = []

    def attachment(self, name: str, reference: str | None = None, **fields: object) -> Attachment:
        reference = reference or name
        size = {"size_bytes": len(self.files.get(reference, b"")), **fields}
        return Attachment(name=name, reference=reference, **size)

    async def talk_before(self, question: IncomingMessage, limit: int) -> list[Talk]:
        return []

    async def read_attachment(self, question: IncomingMessage, attachment: Attachment) -> bytes:
        self.fetched.append(attachment.reference)
        if attachment.reference not in self.files:
            raise PlatformError("The file is gone from the platform.")
        return self.files[attachment.reference]


class Files:
    """A library in memory that is filled by real ingests; `corpus` and `index` may be those of a shelf."""

    def __init__(self, corpus: SqlCorpusRepository | None = None, index: WordIndex | None = None) -> None:
        stores = Stores()
        self.corpus = corpus or stores.corpus
        self.index = index or WordIndex()
        self.conversations = stores.conversations
        self.reports: list[IngestReport] = []

    async def ingest(
        self,
        source: Source,
        root: Path,
        only: str | Sequence[str] | None = None,
        *,
        kind: str | None = None,
        links: Mapping[str, str] | None = None,
        rules: ReaderRules = NO_RULES,
        force: bool = False,
        progress: ProgressCallback = ignore_progress,
    ) -> IngestReport:
        ingestor = Ingestor(
            corpus=self.corpus,
            index=self.index,
            clock=ManualClock(),
            sandbox=Sandbox(LIMITS),
            limits=LIMITS,
        )
        report = await ingestor.ingest(
            source, root, only, kind=kind, links=links, rules=rules, force=force, progress=progress
        )
        self.reports.append(report)
        return self.reports[-1]

    def attachments(self, conversations: SqlConversationRepository | None = None) -> Attachments:
        conversations = conversations or self.conversations
        return Attachments(
            corpus=self.corpus,
            library=Library(corpus=self.corpus, index=self.index, conversations=conversations),
            conversations=conversations,
            ingest=self.ingest,
            has_reader=has_reader,
            stamp=stamp_file,
            limits=LIMITS,
        )


class SameText:
    """Meanings that are texts."""

    async def group(self, texts: Sequence[str]) -> list[list[int]]:
        groups: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            groups.setdefault(text.casefold(), []).append(place)
        return list(groups.values())


def build_kept(shelf: Shelf, files: Files, clock: Clock) -> KeptAnswers:
    """Kept answers of a shelf, read by `files`, which have its corpus and index."""
    stores, library = shelf.stores, Library(shelf.corpus, shelf.index, shelf.stores.conversations)
    known = (stores.kept, shelf.corpus, shelf.settings, shelf.access, library)
    return KeptAnswers(*known, files.ingest, alone=alone, clock=clock)


def build_live(shelf: Shelf, files: Files, inbox: InboxStore, clock: Clock) -> LiveChannels:
    """Live channels of a shelf, read by `files`, which have its corpus and index."""
    library = Library(shelf.corpus, shelf.index, shelf.stores.conversations)
    known = (shelf.stores.channels, shelf.corpus, inbox, shelf.access, library)
    return LiveChannels(*known, files.ingest, alone=alone, clock=clock, keep_days=30, debounce_seconds=0.01)


def build_reviews(shelf: Shelf, kept: KeptAnswers, staleness: Staleness, clock: Clock) -> Reviews:
    statistics = UsageStatistics(
        asked=shelf.stores.asked(clock),
        corpus=shelf.corpus,
        groups=SameText(),
        spending=SqlSpendingStore(shelf.stores.database, clock),
        clock=clock,
    )
    return Reviews(kept, statistics, staleness, shelf.access, shelf.corpus)


@asynccontextmanager
async def alone() -> AsyncIterator[None]:
    yield
