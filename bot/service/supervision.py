"""Keeps the platforms elsewhere connected, each by a task of its own: the trouble of one ends nothing else."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, TypeAlias

from core.errors import FootnoteError, PlatformError
from core.ports import Clock

FIRST_PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 300.0  # a setting that an admin corrects on the platform's site works within so long
STEADY_SECONDS = 600.0  # after so long a connection, the pauses begin again
START_SECONDS = 10.0  # for the first tries, before the service says that it serves

# Connects, calls its argument as soon as it is connected, and raises a core error at the end of the connection.
Connect: TypeAlias = Callable[[Callable[[], None]], Awaitable[None]]

_log = logging.getLogger(__name__)


class Supervision:
    def __init__(self, clock: Clock, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._clock = clock
        self._pause = pause
        self._troubles: dict[str, str] = {}
        self._tried: dict[str, asyncio.Event] = {}

    @property
    def states(self) -> dict[str, str]:
        """The reason why a platform isn't connected, by name; "" for a connected one, or during its first try."""
        return dict(self._troubles)

    def keep(self, name: str, connect: Connect) -> Coroutine[Any, Any, None]:
        """Connect again and again until cancelled, after pauses that grow. Nothing raised by `connect` ends it."""
        self._troubles[name], self._tried[name] = "", asyncio.Event()
        return self._keep(name, connect)

    async def wait_for_first_tries(self) -> None:
        """Wait until each platform was connected or refused once, but for START_SECONDS at most."""
        tries = [asyncio.ensure_future(event.wait()) for event in self._tried.values()]
        if tries:
            _, late = await asyncio.wait(tries, timeout=START_SECONDS)
            for one in late:
                one.cancel()

    async def _keep(self, name: str, connect: Connect) -> None:
        seconds = FIRST_PAUSE_SECONDS
        while True:
            began = self._clock.monotonic()
            try:
                await connect(partial(self._note, name, ""))
                raise PlatformError("The connection ended.")
            except FootnoteError as error:
                sentence = str(error)
            except Exception as error:  # a fault of the adapter's is no reason to end the other platforms
                _log.exception("A fault of the connection to %s", name.capitalize())
                sentence = f"Something went wrong in Footnote ({type(error).__name__})."
            if self._clock.monotonic() - began > STEADY_SECONDS:
                seconds = FIRST_PAUSE_SECONDS
            self._note(name, sentence)
            _log.error("%s is off, everything else goes on. Next try in %g s. %s", name.capitalize(), seconds, sentence)
            await self._pause(seconds)
            seconds = min(seconds * 2, LONGEST_PAUSE_SECONDS)

    def _note(self, name: str, trouble: str) -> None:
        self._troubles[name] = trouble
        self._tried[name].set()


async def start_task(stack: AsyncExitStack, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
    """Start a task that runs until the end of `stack`."""
    task = asyncio.create_task(work)
    stack.push_async_callback(end_task, task)
    return task


async def end_task(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait({task})
