"""Work in threads that a cancelled caller waits for.

A thread can't be stopped: who leaves it behind leaves open what it opens, and lets the next one in while it writes.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


async def to_its_end(work: Callable[[], T]) -> T:
    """What `work` gives, run in a thread; who is cancelled meanwhile, however often, goes when it has ended.

    Raises what `work` raises; where its caller was cancelled, nobody hears of that. A time limit around it is kept to
    only as far as `work` keeps to one.
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
    running.exception()  # nobody else hears of it
    raise cancelled


@asynccontextmanager
async def opened(open_it: Callable[[], T], close: Callable[[T], object]) -> AsyncIterator[T]:
    """What `open_it` gives, until `close` takes it back, both in threads. Who is cancelled leaves nothing open."""
    made: list[T] = []
    try:
        await to_its_end(lambda: made.append(open_it()))
        yield made[0]
    finally:
        for thing in made:
            await to_its_end(lambda thing=thing: close(thing))  # type: ignore[misc]  # a default binds it
