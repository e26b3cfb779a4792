"""Ingest runs: the only writers of the search index, one at a time over all processes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from core.access.work_in_progress import WorkInProgress
from core.domain.corpus import Source
from core.domain.ingest_report import IndexState, IngestReport, ProgressCallback, RepairReport, ignore_progress
from core.domain.reader_kinds import parse_kind
from core.domain.readers import MEMBERS_ONLY
from core.domain.selection import EVERYTHING, Selection
from core.knowledge.narrowing import NO_RULES, ReaderRules
from core.knowledge.sources import add_source
from core.ports import CorpusRepository
from storage.documents.extraction.runs import Extractions
from storage.documents.pipeline import Ingestor


@dataclass(kw_only=True)
class Ingests:
    """Ingest runs, each followed by an extraction run."""

    corpus: CorpusRepository
    build: Callable[[], Ingestor]
    alone: Callable[[], AbstractAsyncContextManager[None]]
    extracts: Extractions
    work: WorkInProgress  # gets the progress of each run
    notice: Callable[[], Awaitable[object]]  # Staleness.check, before and after each run: finds stale answers

    def __post_init__(self) -> None:
        self._lock = asyncio.Lock()

    async def add(
        self,
        paths: Sequence[Path],
        workspace: str,
        *,
        source: str | None = None,
        kind: str = "auto",
        readers: frozenset[str] = MEMBERS_ONLY,
        by: str = "",
        force: bool = False,
        progress: ProgressCallback = ignore_progress,
    ) -> IngestReport:
        """Ingest files and folders in order and return the sum of the reports.

        `kind` forces a reader; new sources get these `readers`, and are noted as added `by` a person. Raises BadInput
        for an unusable kind or path before it reads anything.
        """
        reader_kind = parse_kind(kind)
        total, read, places = IngestReport(), {}, []
        async with self._changing_index() as ingestor:
            for path in paths:
                places.append(await add_source(self.corpus, workspace, path, source, readers=readers, by=by))
            for place in places:
                read[place.source.id] = place.source
                root = Path(place.source.location)
                async with self.work.reading(place.source.id, progress) as noting:
                    report = await ingestor.ingest(
                        place.source, root, place.only or None, kind=reader_kind, force=force, progress=noting
                    )
                total.add(report)
        for each in read.values():
            await self.extracts.follow(each, total, progress)
        return total

    async def bring_in(
        self,
        source: Source,
        root: Path,
        only: str | Sequence[str] | None = None,
        *,
        kind: str | None = None,
        selection: Selection = EVERYTHING,
        links: Mapping[str, str] | None = None,
        rules: ReaderRules = NO_RULES,
        force: bool = False,
        progress: ProgressCallback = ignore_progress,
    ) -> IngestReport:
        """Bring a stored source up to date (Ingest of attachments, SyncIngest, UploadIngest)."""
        async with self.work.reading(source.id, progress) as noting, self._changing_index() as ingestor:
            report = await ingestor.ingest(
                source,
                root,
                only,
                kind=kind,
                force=force,
                selection=selection,
                links=links,
                rules=rules,
                progress=noting,
            )
        await self.extracts.follow_later(source, report)
        return report

    async def compare(self) -> IndexState:
        """Compare index and database while no run changes either."""
        async with self._changing_index() as ingestor:
            return await ingestor.compare()

    async def repair(self, progress: ProgressCallback) -> RepairReport:
        """Bring the index in line with the database. Raises StorageError and ModelMissing."""
        with self.work.repairing():
            async with self._changing_index() as ingestor:
                return await ingestor.repair(progress)

    @asynccontextmanager
    async def _changing_index(self) -> AsyncIterator[Ingestor]:
        """Lock the index: a repair in another process would remove an unfinished run's passages."""
        async with self._lock, self.alone():
            await self.notice()  # earlier changes first: each run gets its own notes
            yield self.build()
            await self.notice()
