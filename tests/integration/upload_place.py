"""Uploads over a real ingest: stores in memory, real readers in a real child process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from core.domain.corpus import Document, SearchQuery, Source
from core.domain.ingest_report import IngestReport, ProgressCallback
from core.errors import StorageError
from core.features.uploads import UploadedFile, Uploads
from core.knowledge.library import Library
from core.knowledge.narrowing import ReaderRules
from storage.documents.base import check_readable
from storage.documents.files import stamp_file
from storage.documents.pipeline import Ingestor
from storage.documents.sandbox import Sandbox
from tests.builders import build_scope
from tests.fakes import ManualClock, WordIndex
from tests.integration.platform_files import LIMITS
from tests.stores import Stores
from tests.waiting import Waiting


async def in_chunks(data: bytes, size: int = 1_000) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


class UploadPlace:
    """A library that is filled by uploads; `begin` makes what a new process on the same stores would have."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stores = Stores()
        self.corpus, self.index = self.stores.corpus, WordIndex()
        self.runs: list[list[str]] = []
        self.before_run: Callable[[], Awaitable[object]] | None = None
        self.broken: StorageError | None = None
        self.begin()

    def begin(self) -> None:
        self.uploads = Uploads(
            corpus=self.corpus,
            jobs=self.stores.jobs,
            clock=ManualClock(),
            ingest=self.ingest,
            check=check_readable,
            stamp=stamp_file,
            limits=LIMITS,
            folder=self.folder,
            alone=alone,
            links=self.stores.additions.links,
        )
        self.library = Library(
            corpus=self.corpus,
            index=self.index,
            conversations=self.stores.conversations,
            delete_files=self.uploads.delete_files,
        )

    async def ingest(
        self,
        source: Source,
        root: Path,
        only: Sequence[str],
        *,
        links: Mapping[str, str],
        force: bool,
        rules: ReaderRules,
        progress: ProgressCallback,
    ) -> IngestReport:
        if self.broken is not None:
            raise self.broken
        ingestor = Ingestor(
            corpus=self.corpus,
            index=self.index,
            clock=ManualClock(),
            sandbox=Sandbox(LIMITS),
            limits=LIMITS,
        )
        self.runs.append(sorted(only))
        if self.before_run is not None:
            before, self.before_run = self.before_run, None
            await before()
        return await ingestor.ingest(source, root, only, links=links, force=force, rules=rules, progress=progress)

    async def add(self, name: str, data: bytes | str = "The key is under the mat.") -> UploadedFile:
        given = data.encode() if isinstance(data, str) else data
        return await self.uploads.accept("local", name, in_chunks(given), by="Ada", where="web")

    async def read(self) -> dict[str, tuple[str, str]]:
        """Read what waits; return states and reasons by path."""
        await self.uploads.read("local")
        return {file.path: (file.state.value, file.reason) for file in self.uploads.files("local")}

    async def work_off(self) -> None:
        """Do what the service does, until nothing waits."""
        work = asyncio.create_task(self.uploads.work(["local"]))
        await Waiting().until(lambda: self.runs and not self.uploads.waiting("local"), 60)
        work.cancel()
        await asyncio.wait({work})

    async def documents(self) -> dict[str, Document]:
        return {document.path: document for document in await self.corpus.list_documents("local")}

    async def find(self, words: str) -> list[str]:
        """Return the documents that a search finds."""
        sources = await self.corpus.list_sources("local")
        hits = await self.library.search(SearchQuery(text=words), build_scope(*sources))
        return [hit.document.path for hit in hits]

    def on_disk(self) -> list[str]:
        return sorted(path.name for path in self.folder.rglob("*") if path.is_file())


@asynccontextmanager
async def alone() -> AsyncIterator[None]:
    yield
