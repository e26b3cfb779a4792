"""Syncs over a real pipeline with stores in memory; fetchers are chosen by the test."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from core.domain.corpus import SearchScope, Source
from core.domain.ingest_report import IngestReport, ProgressCallback
from core.domain.selection import Selection
from core.domain.sources import SourceSpec
from core.features.syncing import Syncs
from core.knowledge.narrowing import ReaderRules
from core.ports.documents import Fetched, FetchProgress, SourceFetcher
from storage.documents.pipeline import Ingestor, has_files
from storage.documents.sandbox import Sandbox
from tests.fakes import ManualClock, MemoryIndex
from tests.integration.ingest_place import LIMITS
from tests.stores import Stores
from tests.unit.storage.documents.fake_readers import HERE


class SyncPlace:
    """Everything around Syncs. `specs` and `fetchers` (by the source's name) may be changed between two syncs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.specs: list[SourceSpec] = []
        self.fetchers: dict[str, SourceFetcher] = {}
        stores = Stores()
        self.corpus = stores.corpus
        self.index = MemoryIndex()
        self.conversations = stores.conversations
        self.states = stores.syncs
        self.jobs = stores.jobs
        self.clock = ManualClock()
        self.before_turn: Callable[[], object] = lambda: None  # what happens while a sync waits for its turn
        self.readers = HERE  # of the files
        self.most_at_once = 0
        self._at_once = 0

    @property
    def syncs(self) -> Syncs:
        return Syncs(
            specs=tuple(self.specs),
            corpus=self.corpus,
            states=self.states,
            jobs=self.jobs,
            clock=self.clock,
            ingest=self._ingest,
            fetcher=lambda spec: self.fetchers[spec.name],
            mirrors=self.folder / "mirrors",
            alone=self._alone,
            has_files=has_files,
        )

    async def texts(self, source: str) -> dict[str, str]:
        """Path -> text of the first page, of what the library holds of a source."""
        found = {}
        for document in await self.corpus.list_documents("local"):
            if document.source == source and document.revision is not None:
                scope = _all_of(document.workspace, document.source_id)
                found[document.path] = (await self.corpus.list_pages(document.id, scope))[0].text
        return found

    async def links(self, source: str) -> dict[str, str | None]:
        return {item.path: item.url for item in await self.corpus.list_documents("local") if item.source == source}

    async def _ingest(
        self,
        source: Source,
        root: Path,
        *,
        selection: Selection,
        kind: str | None,
        links: Mapping[str, str],
        rules: ReaderRules,
        force: bool,
        progress: ProgressCallback,
    ) -> IngestReport:
        ingestor = Ingestor(
            corpus=self.corpus,
            index=self.index,
            clock=self.clock,
            sandbox=Sandbox(LIMITS, self.readers),
            limits=LIMITS,
        )
        return await ingestor.ingest(
            source, root, selection=selection, kind=kind, links=links, rules=rules, force=force, progress=progress
        )

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await asyncio.sleep(0)
        self.before_turn()
        yield
        self._at_once -= 1


class FilesFetcher:
    """A fetcher that writes what it holds; `error` is raised instead."""

    def __init__(self, files: Mapping[str, str], links: Mapping[str, str] | None = None) -> None:
        self.files = dict(files)
        self.links = dict(links or {})
        self.restricted: dict[str, tuple[frozenset[str], ...]] = {}
        self.warnings: tuple[str, ...] = ()
        self.error: Exception | None = None
        self.forced: list[bool] = []

    async def fetch(self, mirror: Path, progress: FetchProgress, *, force: bool = False) -> Fetched:
        self.forced.append(force)
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        self._write(mirror, progress)
        return Fetched(root=mirror, warnings=self.warnings, links=self.links, restricted=self.restricted)

    def _write(self, mirror: Path, progress: FetchProgress) -> None:
        mirror.mkdir(parents=True, exist_ok=True)
        for number, (path, text) in enumerate(self.files.items(), start=1):
            file = mirror / path
            if not file.exists() or file.read_text() != text:
                file.write_text(text)
            progress(number, len(self.files), path)
        for file in [item for item in mirror.iterdir() if item.name not in self.files]:
            file.unlink()


def _all_of(workspace: str, source_id: str) -> SearchScope:
    return SearchScope(workspace=workspace, sources=frozenset({source_id}))
