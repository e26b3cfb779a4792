"""The service's schedule: recurring work, syncs of sources, and watched folders."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from bot.service.supervision import start_task
from core.domain.sources import Cron, Every, FolderOrigin, SourceSpec, SyncState
from core.errors import FootnoteError
from core.features.syncing import Syncs
from core.ports import Clock

# After the start, so that first answers come first.
FIRST_TICK = timedelta(minutes=5)
DAILY = timedelta(days=1)
# A missed tick (after a laptop's sleep) still runs, once.
LATE_SECONDS = 3600

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Recurring work; `work` returns a line for the log, or None if there was nothing to do."""

    name: str
    work: Callable[[], Awaitable[str | None]]
    every: timedelta = DAILY
    first_after: timedelta = FIRST_TICK
    cron: str | None = None  # a crontab line in UTC, instead of the two above
    jitter_seconds: float = 0  # random offset, so that ticks don't run all at once


class Schedule:
    def __init__(self, ticks: Sequence[Tick]) -> None:
        self._ticks = tuple(ticks)
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._running: set[asyncio.Task[object]] = set()

    def start(self) -> None:
        for tick in self._ticks:
            self._scheduler.add_job(
                self._run,
                _trigger(tick),
                args=[tick],
                id=tick.name,
                coalesce=True,
                max_instances=1,
                misfire_grace_time=LATE_SECONDS,
                **({"next_run_time": datetime.now(UTC) + tick.first_after} if tick.cron is None else {}),
            )
        self._scheduler.start()

    async def stop(self) -> None:
        """Stop ticking; running ticks are cancelled and have ended when this returns."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
            await asyncio.sleep(0)  # a due tick has started after this, or never does
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(set(self._running))

    async def _run(self, tick: Tick) -> None:
        if (task := asyncio.current_task()) is not None:  # the scheduler doesn't wait for its tasks
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        try:
            said = await tick.work()
        except FootnoteError as error:
            when = f"in {tick.every}" if tick.cron is None else f"at {tick.cron!r}"
            _log.warning("The tick %r failed and will be retried %s: %s", tick.name, when, error)
        else:
            if said:
                _log.info("%s", said)


def _trigger(tick: Tick) -> CronTrigger | IntervalTrigger:
    jitter = tick.jitter_seconds or None
    if tick.cron is None:
        return IntervalTrigger(seconds=tick.every.total_seconds(), timezone=UTC, jitter=jitter)
    trigger = CronTrigger.from_crontab(tick.cron, timezone=UTC)
    trigger.jitter = jitter
    return trigger


# After the start of the service, for overdue syncs, so that first answers come first.
SOONEST = timedelta(seconds=60)
# Earlier than any sync.
EVER = datetime.min.replace(tzinfo=UTC)
# A sync by another process this recently counts as the same tick.
SAME_TICK = timedelta(seconds=50)
# Changes this close together are one: editors save files in several steps.
DEBOUNCE_MS = 1_600
# Between checks for a missing watched folder.
ABSENT_SECONDS = 60.0


async def sync_ticks(syncs: Syncs, clock: Clock) -> list[Tick]:
    """Return a tick for each source with a schedule. Overdue syncs run soon after the start, first ones at once."""
    states = {
        (status.spec.workspace, status.spec.name): status.state
        for workspace in {spec.workspace for spec in syncs.specs}
        for status in await syncs.overview(workspace)
        if status.spec is not None
    }
    due = [spec for spec in syncs.specs if spec.enabled and spec.schedule is not None]
    return [_tick(syncs, spec, states.get((spec.workspace, spec.name)), clock) for spec in due]


async def watch_folder(syncs: Syncs, spec: SourceSpec, folder: Path) -> None:
    """Sync a source once if it never was, and whenever files of its folder change. Waits for a missing folder."""
    from watchfiles import awatch

    while True:
        try:
            await _sync(syncs, spec, unless_since=EVER)  # one that is new in the configuration
            async for _ in awatch(folder, debounce=DEBOUNCE_MS):
                await _sync(syncs, spec)
        except (OSError, FootnoteError) as error:
            _log.warning("Source %s is not watched for %.0f s: %s", spec.label, ABSENT_SECONDS, error)
        await asyncio.sleep(ABSENT_SECONDS)


def watched(specs: Iterable[SourceSpec]) -> list[tuple[SourceSpec, Path]]:
    """Return the watched sources with their folders."""
    return [
        (spec, spec.origin.path)
        for spec in specs
        if spec.enabled and spec.watch and isinstance(spec.origin, FolderOrigin)
    ]


async def start_watching(stack: AsyncExitStack, syncs: Syncs) -> None:
    """Watch until the stack is closed."""
    for spec, folder in watched(syncs.specs):
        await start_task(stack, watch_folder(syncs, spec, folder))


def _tick(syncs: Syncs, spec: SourceSpec, last: SyncState | None, clock: Clock) -> Tick:
    every = timedelta(seconds=spec.schedule.seconds) if isinstance(spec.schedule, Every) else timedelta(days=1)
    waited = clock.now() - last.ended_at if last else every
    same = min(every / 2, SAME_TICK) + timedelta(seconds=spec.jitter_seconds)

    async def work() -> None:
        await _sync(syncs, spec, unless_since=clock.now() - same)

    return Tick(
        name=f"sync {spec.workspace}/{spec.name}",
        work=work,
        every=every,
        first_after=max(every - waited, SOONEST) if last else timedelta(0),
        cron=spec.schedule.line if isinstance(spec.schedule, Cron) else None,
        jitter_seconds=spec.jitter_seconds,
    )


async def _sync(syncs: Syncs, spec: SourceSpec, unless_since: datetime | None = None) -> None:
    """Sync a source, and log its changes. Logs failures as warnings."""
    for done in await syncs.sync(spec.workspace, [spec.name], unless_since=unless_since):
        if done.by_another:
            continue  # logged by that process
        state, counts = done.state, done.state.counts
        for warning in state.warnings:
            _log.info("Source %s: %s", spec.label, warning)
        if state.error is not None:
            _log.warning("Source %s fails since %s: %s", spec.label, state.failing_since, state.error)
        elif any(counts.get(name) for name in ("added", "updated", "removed")):
            _log.info("Source %s synced: %s", spec.label, dict(counts))
