"""Work in threads: who is cancelled meanwhile, even twice, waits for its end, and leaves nothing open."""

import asyncio
import threading
from collections.abc import Callable, Coroutine

import pytest

from core.thread_work import opened, to_its_end


class Slow:
    """Work that takes until it is let go; a thing that can be closed."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.events: list[str] = []

    def open(self) -> "Slow":
        self.begun.set()
        assert self.go_on.wait(30)
        self.events.append("opened")
        return self

    def close(self) -> None:
        self.events.append("closed")

    def fail(self) -> None:
        self.open()
        raise OSError("full")


async def cancelled(work: Callable[[], Coroutine[None, None, object]], slow: Slow) -> "asyncio.Task[object]":
    """A task that was cancelled twice in the middle of the work, and what it did not wait for has ended, too."""
    task = asyncio.create_task(work())
    await asyncio.to_thread(slow.begun.wait, 30)
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    slow.go_on.set()
    await asyncio.wait({task})
    return task


async def test_what_work_gives_or_raises_is_the_callers():
    slow = Slow()
    slow.go_on.set()
    assert await to_its_end(slow.open) is slow
    with pytest.raises(OSError, match="full"):
        await to_its_end(slow.fail)


@pytest.mark.parametrize("name", ["open", "fail"])
async def test_who_is_cancelled_goes_when_the_work_has_ended(name: str):
    slow = Slow()
    task = await cancelled(lambda: to_its_end(getattr(slow, name)), slow)
    assert task.cancelled()
    assert slow.events == ["opened"]


async def test_what_is_opened_is_closed_again():
    slow = Slow()
    slow.go_on.set()
    async with opened(slow.open, Slow.close) as thing:
        thing.events.append("used")
    assert slow.events == ["opened", "used", "closed"]


async def test_what_was_opened_for_a_cancelled_caller_is_closed_unused():
    slow = Slow()

    async def use() -> None:
        async with opened(slow.open, Slow.close) as thing:
            thing.events.append("used")

    task = await cancelled(use, slow)
    assert task.cancelled()
    assert slow.events == ["opened", "closed"]


async def test_what_could_not_be_opened_is_not_closed():
    slow = Slow()
    slow.go_on.set()
    with pytest.raises(OSError, match="full"):
        async with opened(slow.fail, lambda thing: slow.close()):
            pass
    assert slow.events == ["opened"]
