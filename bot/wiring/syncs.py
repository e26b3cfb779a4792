"""The composition root's part for syncs: the configured sources with what brings them. Only app.py uses it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from core.domain.jobs import JobKind
from core.domain.sources import SourceSpec
from core.features.syncing import SyncParts, Syncs
from core.ports.documents import SourceFetcher, SyncRepository
from core.work.orphaned_jobs import end_abandoned
from storage.documents.pipeline import has_files

if TYPE_CHECKING:
    from bot.wiring.app import App

MIRRORS_FOLDER = "mirrors"  # of the data directory: a folder for each source that is fetched


def build_syncs(
    app: "App",
    states: SyncRepository,
    build_fetcher: Callable[[SourceSpec, str | None], SourceFetcher],
    alone: Callable[[], AbstractAsyncContextManager[None]],
) -> Syncs:
    """The syncs over the parts of an app; `alone` lets one process at a time sync. It ends what a killed one left."""

    @asynccontextmanager
    async def turn() -> AsyncIterator[None]:
        async with alone():
            await end_abandoned(app.job_store, app.clock, JobKind.SYNC)
            yield

    def fetcher(spec: SourceSpec) -> SourceFetcher:
        token = app.config.source_token(spec.workspace, spec.name)
        return build_fetcher(spec, token.get_secret_value() if token else None)

    return Syncs(
        SyncParts(
            specs=app.config.source_specs(),
            corpus=app.corpus,
            states=states,
            jobs=app.job_store,
            clock=app.clock,
            ingest=app.ingests.bring_in,
            fetcher=fetcher,
            mirrors=app.config.data_path / MIRRORS_FOLDER,
            alone=turn,
            has_files=has_files,
        )
    )
