"""The ingests and index repairs under way, which an entry point tells in place of a result."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Set
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from core.domain.ingest_report import IngestProgress, ProgressCallback
from core.errors import StorageError
from core.ports.documents import IngestProgressStore

NOTED_EVERY_SECONDS = 2.0  # for the other processes on the database

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class WorkInProgress:
    """The ingests and the index repair of this process, as far as they have come.

    A `store` tells the other processes on the database of the ingests, and this one of theirs.
    """

    store: IngestProgressStore | None = None
    sources: dict[str, IngestProgress] = field(default_factory=dict)  # by the id of the source that is read
    repairs: int = 0  # of the search index
    changed: asyncio.Event = field(default_factory=asyncio.Event)  # set at every change; its one waiter clears it

    @asynccontextmanager
    async def reading(self, source_id: str, progress: ProgressCallback) -> AsyncIterator[ProgressCallback]:
        """Register the ingest of a source; yield a callback that notes its progress and passes it on."""

        def report(now: IngestProgress) -> None:
            self.sources[source_id] = now
            self.changed.set()
            progress(now)

        self.sources[source_id] = IngestProgress(done=0, total=0, path="")
        noting = asyncio.create_task(self._keep_noted(source_id))
        try:
            yield report
        finally:
            self.sources.pop(source_id, None)
            self.changed.set()
            noting.cancel()
            await asyncio.wait({noting})
            if self.store is not None:
                try:
                    await self.store.end(source_id)
                except StorageError as error:  # it ends by itself
                    _log.info("The end of an ingest was not noted: %s", error)

    async def running(self, sources: Set[str]) -> list[IngestProgress]:
        """Return how far the ingests of these sources have come, in any process."""
        own = {id: now for id, now in self.sources.items() if id in sources}
        others = await self.store.elsewhere() if self.store is not None and sources - own.keys() else {}
        return [*own.values(), *(now for id, now in others.items() if id in sources and id not in own)]

    async def _keep_noted(self, source_id: str) -> None:
        while self.store is not None and source_id in self.sources:
            try:
                await self.store.note(source_id, self.sources[source_id])
            except StorageError as error:
                _log.info("The progress of an ingest was not noted: %s", error)
            await asyncio.sleep(NOTED_EVERY_SECONDS)

    @contextmanager
    def repairing(self) -> Iterator[None]:
        """Register a repair of the index."""
        self.repairs += 1
        try:
            yield
        finally:
            self.repairs -= 1
