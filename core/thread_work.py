"""Work in threads that a cancelled caller waits for.

A thread can't be stopped: a caller that doesn't wait would leave its resources open, and let the next caller in while
the thread still writes.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


async def to_its_end(work: Callable[[], T]) -> T:
    """Run `work` in a thread and wait until it finishes, even if cancelled.

    Raises what `work` raises, unless the caller was cancelled. A timeout around it takes effect only after `work`
    ends.
    """
    running = asyncio.get_running_loop().run_in_executor(None, work)
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return running.result()
    running.exception()  # mark it as retrieved
    raise cancelled


@asynccontextmanager
async def opened(open_it: Callable[[], T], close: Callable[[T], object]) -> AsyncIterator[T]:
    """Open a resource and close it afterwards, both in threads. A cancelled caller leaves nothing open."""
    made: list[T] = []
    try:
        await to_its_end(lambda: made.append(open_it()))
        yield made[0]
    finally:
        for thing in made:
            await to_its_end(lambda thing=thing: close(thing))  # type: ignore[misc]  # a default binds it
