"""What the service does about sources: syncs by the clock, and when files of a watched folder change."""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

from bot.service.schedule import Tick
from core.domain.sources import Cron, Every, FolderOrigin, SourceSpec, SyncState
from core.errors import FootnoteError
from core.features.syncing import Syncs
from core.ports import Clock

# After the start of the service, for what is due already: people have their first answers before.
SOONEST = timedelta(seconds=60)
# Another process that synced a source this shortly before has done the same tick.
SAME_TICK = timedelta(seconds=50)
# Changes of a folder that come this close together are one: an editor saves a file in several steps.
DEBOUNCE_MS = 1_600
# Before a watched folder that is not there is looked for again.
ABSENT_SECONDS = 60.0

_log = logging.getLogger(__name__)


async def sync_ticks(syncs: Syncs, clock: Clock) -> list[Tick]:
    """A tick for each source with a schedule. What fell due while no service ran comes soon after the start."""
    states = {
        (status.spec.workspace, status.spec.name): status.state
        for workspace in {spec.workspace for spec in syncs.specs}
        for status in await syncs.overview(workspace)
        if status.spec is not None
    }
    due = [spec for spec in syncs.specs if spec.enabled and spec.schedule is not None]
    return [_tick(syncs, spec, states.get((spec.workspace, spec.name)), clock) for spec in due]


async def watch_folder(syncs: Syncs, spec: SourceSpec, folder: Path) -> None:
    """Sync a source whenever files of its folder change; for ever. A folder that goes away is waited for."""
    from watchfiles import awatch

    while True:
        try:
            async for _ in awatch(folder, debounce=DEBOUNCE_MS):
                await _sync(syncs, spec)
        except (OSError, FootnoteError) as error:
            _log.warning("Source %s is not watched for %.0f s: %s", spec.label, ABSENT_SECONDS, error)
        await asyncio.sleep(ABSENT_SECONDS)


def watched(specs: Iterable[SourceSpec]) -> list[tuple[SourceSpec, Path]]:
    """The sources to be watched, with their folders."""
    return [
        (spec, spec.origin.path)
        for spec in specs
        if spec.enabled and spec.watch and isinstance(spec.origin, FolderOrigin)
    ]


async def start_watching(stack: AsyncExitStack, syncs: Syncs) -> None:
    """Watch, until the stack is closed."""
    for spec, folder in watched(syncs.specs):
        task = asyncio.create_task(watch_folder(syncs, spec, folder), name=f"watch {spec.name}")
        stack.push_async_callback(_end, task)


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task])


def _tick(syncs: Syncs, spec: SourceSpec, last: SyncState | None, clock: Clock) -> Tick:
    every = timedelta(seconds=spec.schedule.seconds) if isinstance(spec.schedule, Every) else timedelta(days=1)
    waited = clock.now() - last.ended_at if last else every
    same = min(every / 2, SAME_TICK) + timedelta(seconds=spec.jitter_seconds)

    async def work() -> str | None:
        return await _sync(syncs, spec, clock, same)

    return Tick(
        name=f"sync {spec.workspace}/{spec.name}",
        work=work,
        every=every,
        first_after=max(every - waited, SOONEST),
        cron=spec.schedule.line if isinstance(spec.schedule, Cron) else None,
        jitter_seconds=spec.jitter_seconds,
    )


async def _sync(
    syncs: Syncs, spec: SourceSpec, clock: Clock | None = None, same: timedelta | None = None
) -> str | None:
    """A line for the log where something changed; what failed is a warning."""
    since = clock.now() - same if clock and same else None
    for done in await syncs.sync(spec.workspace, [spec.name], unless_since=since):
        if done.by_another:
            continue  # it is in that one's log
        state, counts = done.state, done.state.counts
        for warning in state.warnings:
            _log.info("Source %s: %s", spec.label, warning)
        if state.error is not None:
            _log.warning("Source %s fails since %s: %s", spec.label, state.failing_since, state.error)
        elif any(counts.get(name) for name in ("added", "updated", "removed")):
            _log.info("Source %s synced: %s", spec.label, dict(counts))
    return None
