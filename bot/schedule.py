"""What the service does by the clock. APScheduler keeps no state: after a restart every tick begins anew.

Ticks must be safe to repeat and to miss; what must happen exactly once goes through the inbox.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler

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


class Schedule:
    def __init__(self, ticks: Sequence[Tick]) -> None:
        self._ticks = tuple(ticks)
        self._scheduler = AsyncIOScheduler(timezone=UTC)

    def start(self) -> None:
        """Begin, in the running event loop."""
        for tick in self._ticks:
            self._scheduler.add_job(
                _run,
                "interval",
                args=[tick],
                id=tick.name,
                seconds=tick.every.total_seconds(),
                next_run_time=datetime.now(UTC) + tick.first_after,
                coalesce=True,
                max_instances=1,
                misfire_grace_time=LATE_SECONDS,
            )
        self._scheduler.start()

    def stop(self) -> None:
        """Tick no more; a tick under way is cut off."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)


async def _run(tick: Tick) -> None:
    try:
        said = await tick.work()
    except FootnoteError as error:
        _log.warning("The tick %r failed and is tried again in %s: %s", tick.name, tick.every, error)
    else:
        if said:
            _log.info("%s", said)
