"""The composition root's part for syncs: the configured sources with what brings them. Only bot/wiring.py uses it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from core.domain.source_specs import SourceSpec
from core.source_ports import SourceFetcher, SyncRepository
from core.syncing import SyncParts, Syncs

if TYPE_CHECKING:
    from bot.wiring import App

MIRRORS_FOLDER = "mirrors"  # of the data directory: a folder for each source that is fetched


def build_syncs(
    app: "App",
    states: SyncRepository,
    build_fetcher: Callable[[SourceSpec, str | None], SourceFetcher],
    alone: Callable[[], AbstractAsyncContextManager[None]],
) -> Syncs:
    """The syncs over the parts of an app; `alone` lets one process at a time sync."""

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
            alone=alone,
        )
    )
