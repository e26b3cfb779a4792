"""The composition root's part for ingestion: a pipeline with the configured limits. Only bot/wiring/app.py uses it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bot.config.sections import IngestConfig
from core.domain.corpus import Source
from core.domain.ingest_report import IndexState, IngestReport, ProgressCallback, RepairReport
from core.domain.read_limits import MEBIBYTE, WALL_TIMES, ReadLimits
from core.domain.reader_kinds import parse_kind
from core.domain.selection import Selection
from core.features.staleness.detection import Staleness
from core.knowledge.library import Library
from core.ports import Clock, ConversationRepository, CorpusRepository, SearchIndex
from core.ports.service import StaleRepository

if TYPE_CHECKING:
    from bot.wiring.app import App
    from storage.documents.pipeline import Ingestor

# Threads there get a note when answers in them become stale. Terminal and API say it of the conversation they open.
NOTED_PLATFORMS = ("discord", "slack", "web")


class Extracts(Protocol):
    """What extracts the data of documents that were read (bot.wiring.extraction.Extractions)."""

    async def follow(self, source: Source, report: IngestReport, progress: ProgressCallback) -> None: ...

    async def follow_later(self, source: Source, report: IngestReport) -> None: ...


class Ingests:
    """The runs that change the index, one at a time, over all processes; and what they leave to be extracted."""

    def __init__(
        self,
        *,
        corpus: CorpusRepository,
        build: Callable[[], "Ingestor"],
        alone: Callable[[], AbstractAsyncContextManager[None]],
        extracts: Extracts,
        notice: Callable[[], Awaitable[object]],
    ) -> None:
        """`notice` is called around each run: answers that cite what it changed are stale (Staleness.check)."""
        self._corpus = corpus
        self._build = build
        self._alone = alone
        self._extracts = extracts
        self._notice = notice
        self._lock = asyncio.Lock()

    async def add(
        self,
        paths: Sequence[Path],
        workspace: str,
        *,
        source: str | None,
        kind: str,
        force: bool,
        progress: ProgressCallback,
    ) -> IngestReport:
        """As App.ingest."""
        from core.knowledge.sources import add_source

        reader_kind = parse_kind(kind)
        total, read = IngestReport(), {}
        async with self._changing_index() as ingestor:
            for place in [await add_source(self._corpus, workspace, path, source) for path in paths]:
                read[place.source.id] = place.source
                root = Path(place.source.location)
                report = await ingestor.ingest(
                    place.source, root, place.only or None, kind=reader_kind, force=force, progress=progress
                )
                total.add(report)
        for each in read.values():
            await self._extracts.follow(each, total, progress)
        return total

    async def read_in(self, source: Source, root: Path, only: str | None, *, kind: str | None) -> IngestReport:
        """As App.read_in."""
        async with self._changing_index() as ingestor:
            report = await ingestor.ingest(source, root, only, kind=kind)
        await self._extracts.follow_later(source, report)
        return report

    async def bring_in(
        self,
        source: Source,
        root: Path,
        *,
        selection: Selection,
        kind: str | None,
        links: Mapping[str, str],
        force: bool,
        progress: ProgressCallback,
    ) -> IngestReport:
        """Bring a configured source up to date (implements core.features.syncing.SyncIngest)."""
        async with self._changing_index() as ingestor:
            report = await ingestor.ingest(
                source, root, kind=kind, force=force, selection=selection, links=links, progress=progress
            )
        await self._extracts.follow_later(source, report)
        return report

    async def compare(self) -> IndexState:
        """How the index differs from the database, while no run changes either."""
        async with self._changing_index() as ingestor:
            return await ingestor.compare()

    async def repair(self, progress: ProgressCallback) -> RepairReport:
        """Bring the index in line with the database. Raises StorageError and ModelMissing."""
        async with self._changing_index() as ingestor:
            return await ingestor.repair(progress)

    @asynccontextmanager
    async def _changing_index(self) -> AsyncIterator["Ingestor"]:
        """One run at a time, over all processes: a repair must not remove another run's unfinished passages."""
        async with self._lock, self._alone():
            await self._notice()  # of what was changed before: each run has its own note
            yield self._build()
            await self._notice()


def build_ingests(app: "App", alone: Callable[[], AbstractAsyncContextManager[None]]) -> Ingests:
    """The runs over the parts of an app; `alone` holds the index for one process at a time."""
    return Ingests(
        corpus=app.corpus,
        build=lambda: build_ingestor(
            app.config.ingest,
            corpus=app.corpus,
            index=app.index,
            conversations=app.conversation_store,
            clock=app.clock,
        ),
        alone=alone,
        extracts=app.extractions,
        notice=lambda: app.staleness.check(),
    )


def build_library(app: "App") -> Library:
    """What people do with the library; answers that cite what they remove are noticed at once."""
    return Library(
        corpus=app.corpus,
        index=app.index,
        conversations=app.conversation_store,
        after_removal=lambda: app.staleness.check(),
    )


def build_staleness(app: "App", repository: StaleRepository) -> Staleness:
    """What notices stale answers; their notes go where people write to each other."""
    return Staleness(
        repository,
        conversations=app.conversation_store,
        inbox=app.inbox_store,
        settings=app.settings,
        clock=app.clock,
        noted=NOTED_PLATFORMS,
    )


def build_ingestor(
    settings: IngestConfig,
    *,
    corpus: CorpusRepository,
    index: SearchIndex,
    conversations: ConversationRepository,
    clock: Clock,
) -> "Ingestor":
    """One for each run: its child process is not for concurrent use."""
    from storage.documents.pdf.recognition import UNRECOGNISED
    from storage.documents.pipeline import Ingestor
    from storage.documents.sandbox import READERS, RECOGNISING_READERS, Sandbox

    limits = to_read_limits(settings)
    recognises = settings.ocr and can_recognise()
    return Ingestor(
        corpus=corpus,
        index=index,
        conversations=conversations,
        clock=clock,
        sandbox=Sandbox(limits, RECOGNISING_READERS if recognises else READERS),
        limits=limits,
        retried={UNRECOGNISED} if recognises else (),
    )


def can_recognise() -> bool:
    """Return whether the text recognition of scanned pages (the extra `ocr`) is installed."""
    from storage.documents.pdf import recognition

    return recognition.is_installed()


def to_read_limits(settings: IngestConfig) -> ReadLimits:
    """The configured limits on reading one file."""
    return ReadLimits(
        seconds=settings.parse_seconds,
        wall_seconds=settings.parse_seconds * WALL_TIMES,
        memory_bytes=settings.parse_memory_mb * MEBIBYTE,
        file_bytes=settings.max_file_mb * MEBIBYTE,
        pages=settings.max_pages,
        recognised_pages=settings.max_ocr_pages,
    )
