"""Waiting for conditions: looked at after every change, never by counting time."""

import asyncio
from collections.abc import Awaitable, Callable

LOOK_SECONDS = 0.25  # also without a change: a process may have ended
UNTIL_SECONDS = 60.0


async def until(condition: Callable[[], Awaitable[bool]]) -> bool:
    """Whether a condition that nobody tells of came true in time."""
    try:
        async with asyncio.timeout(UNTIL_SECONDS):
            while True:
                if await condition():
                    return True
                await asyncio.sleep(LOOK_SECONDS / 5)
    except TimeoutError:
        return False


class Waiting:
    def __init__(self) -> None:
        self._waiting: set[asyncio.Event] = set()

    def changed(self) -> None:
        """Wakes everybody who waits: called after every request and event."""
        for event in self._waiting:
            event.set()

    async def until(self, condition: Callable[[], object], timeout_seconds: float) -> bool:
        """Whether the condition came true in time."""
        loop = asyncio.get_running_loop()
        deadline, event = loop.time() + timeout_seconds, asyncio.Event()
        self._waiting.add(event)
        try:
            while not condition():
                left = deadline - loop.time()
                if left <= 0:
                    return False
                try:
                    await asyncio.wait_for(event.wait(), min(left, LOOK_SECONDS))
                except TimeoutError:
                    continue
                event.clear()
            return True
        finally:
            self._waiting.discard(event)
