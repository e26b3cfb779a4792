"""A source folder with all that an ingest needs, and a fuse that ends a run at a chosen write."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from core.domain.corpus import Document, Source
from core.domain.ingest_report import IngestReport
from core.domain.read_limits import MEBIBYTE, ReadLimits
from storage.documents.child import ReadTask
from storage.documents.pipeline import Ingestor
from storage.documents.sandbox import Sandbox
from tests.builders import build_scope, build_source
from tests.fakes import ManualClock, MemoryIndex
from tests.stores import Stores
from tests.unit.storage.documents.fake_readers import HERE

LIMITS = ReadLimits(seconds=5, memory_bytes=400 * MEBIBYTE, file_bytes=100_000)


class Place:
    """A source folder with everything around it; `ingest` runs as a new process would."""

    def __init__(self, root: Path, readers: str = HERE) -> None:
        self.root = root
        self._readers = readers
        stores = Stores()
        self.corpus: Any = stores.corpus
        self.index: Any = MemoryIndex()
        self.conversations = stores.conversations
        self.source = build_source("notes", location=str(root))
        self.scope = build_scope(self.source)
        self.read_paths: list[str] = []
        self.before_read: dict[str, Callable[[], object]] = {}  # what happens to a file between listing and reading

    def write(self, path: str, text: str = "Some words.") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        stamp = os.stat(file).st_mtime_ns + 1  # two writes within one tick of the clock differ all the same
        os.utime(file, ns=(stamp, stamp))
        return file

    async def ingest(self, only: str | None = None, source: Source | None = None, **options: Any) -> IngestReport:
        source = source or self.source
        await self.corpus.save_source(source)
        self.read_paths.clear()
        sandbox = WatchedSandbox(self, self._readers)
        ingestor = Ingestor(
            corpus=self.corpus,
            index=self.index,
            clock=ManualClock(),
            sandbox=sandbox,
            limits=LIMITS,
        )
        report = await ingestor.ingest(source, self.root, only, **options)
        assert sandbox._process is None
        return report

    async def documents(self) -> dict[str, Document]:
        return {document.path: document for document in await self.corpus.list_documents("local")}

    async def texts(self) -> dict[str, str]:
        return {
            path: "|".join(page.text for page in await self.corpus.list_pages(document.id, self.scope))
            for path, document in (await self.documents()).items()
        }


class WatchedSandbox(Sandbox):
    def __init__(self, place: Place, readers: str) -> None:
        super().__init__(LIMITS, readers)
        self._place = place

    async def read(self, task: ReadTask) -> Any:
        self._place.read_paths.append(task.path.name)
        self._place.before_read.get(task.path.name, lambda: None)()
        return await super().read(task)


class Unopened:
    """An index that must not be touched."""

    def __getattr__(self, name: str) -> Callable[..., Awaitable[None]]:
        raise AssertionError(f"the index was used: {name}")


class Killed(Exception):
    """What stands for kill -9: nothing of the run goes on."""


class Fuse:
    """Counts calls that write, and ends the run before the one at `burns_at`."""

    def __init__(self, burns_at: int) -> None:
        self.left = burns_at

    def guard(self, target: Any, *names: str) -> Any:
        fuse = self

        class Guarded:
            def __getattr__(self, name: str) -> Any:
                method = getattr(target, name)
                if name not in names:
                    return method

                async def call(*args: Any) -> Any:
                    fuse.left -= 1
                    if fuse.left < 0:
                        raise Killed(name)
                    return await method(*args)

                return call

        return Guarded()


def counts(report: IngestReport) -> tuple[int, int, int, int, int]:
    return report.added, report.updated, report.unchanged, report.removed, len(report.failures)


def reasons(report: IngestReport) -> dict[str, str]:
    return {failure.path: failure.reason for failure in report.failures}
