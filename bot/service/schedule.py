"""What the service does by the clock. APScheduler keeps no state: after a restart every tick begins anew.

Ticks must be safe to repeat and to miss; what must happen exactly once goes through the inbox.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from core.errors import FootnoteError

# After the start, when people who restarted it have their first answers.
FIRST_TICK = timedelta(minutes=5)
DAILY = timedelta(days=1)
# A tick that is late (a laptop that slept) is still done, once.
LATE_SECONDS = 3600

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Something to do again and again; `work` gives a line for the log, or None when there was nothing to do."""

    name: str
    work: Callable[[], Awaitable[str | None]]
    every: timedelta = DAILY
    first_after: timedelta = FIRST_TICK
    cron: str | None = None  # a crontab line in UTC, in place of the two above
    jitter_seconds: float = 0  # at most so much later or earlier: not all at once


class Schedule:
    def __init__(self, ticks: Sequence[Tick]) -> None:
        self._ticks = tuple(ticks)
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._running: set[asyncio.Task[object]] = set()

    def start(self) -> None:
        """Begin, in the running event loop."""
        for tick in self._ticks:
            self._scheduler.add_job(
                self._run,
                _trigger(tick),
                args=[tick],
                id=tick.name,
                coalesce=True,
                max_instances=1,
                misfire_grace_time=LATE_SECONDS,
                **_first(tick),
            )
        self._scheduler.start()

    async def stop(self) -> None:
        """Tick no more; a tick under way is cut off, and has let go of everything when this returns."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
            await asyncio.sleep(0)  # a tick that was due just now has begun after this, or never does
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(set(self._running))

    async def _run(self, tick: Tick) -> None:
        if (task := asyncio.current_task()) is not None:  # of the scheduler's, which waits for none of them
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        await _do(tick)


def _trigger(tick: Tick) -> CronTrigger | IntervalTrigger:
    jitter = tick.jitter_seconds or None
    if tick.cron is None:
        return IntervalTrigger(seconds=tick.every.total_seconds(), timezone=UTC, jitter=jitter)
    trigger = CronTrigger.from_crontab(tick.cron, timezone=UTC)
    trigger.jitter = jitter
    return trigger


def _first(tick: Tick) -> dict[str, datetime]:
    """When it is first done, where its trigger does not say that by itself."""
    return {} if tick.cron is not None else {"next_run_time": datetime.now(UTC) + tick.first_after}


async def _do(tick: Tick) -> None:
    try:
        said = await tick.work()
    except FootnoteError as error:
        _log.warning("The tick %r failed and is tried again %s: %s", tick.name, _when(tick), error)
    else:
        if said:
            _log.info("%s", said)


def _when(tick: Tick) -> str:
    return f"in {tick.every}" if tick.cron is None else f"at {tick.cron!r}"
