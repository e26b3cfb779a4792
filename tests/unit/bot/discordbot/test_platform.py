"""A post while it is written: drawn at once at first, then no faster than Discord likes, never after its end."""

import asyncio
from collections.abc import Sequence

from bot.discordbot.delivery.platform import EDIT_SECONDS, LivePost
from core.domain.jobs import Job
from core.errors import PlatformError
from tests.builders import build_job


class RecordingDisplay:
    """What a post shows, drawing by drawing; pauses end when the test says so."""

    def __init__(self) -> None:
        self.drawn: list[tuple[str, int]] = []
        self.pauses: list[float] = []
        self.go = asyncio.Event()
        self.slow: asyncio.Event | None = None
        self.refuses = False

    async def draw(self, text: str, jobs: Sequence[Job]) -> None:
        if self.slow is not None:
            await self.slow.wait()
        if self.refuses:
            raise PlatformError("Discord did not post (503): trying again.")
        self.drawn.append((text, len(jobs)))

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await self.go.wait()
        self.go.clear()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_the_first_words_are_drawn_at_once_even_while_steps_are_resting() -> None:
    display = RecordingDisplay()
    live = LivePost(display.draw, display.pause)
    live.step(build_job())
    await settle()
    assert display.drawn == [("", 1)]
    live.text("The key ")
    await settle()
    assert display.drawn == [("", 1), ("The key ", 1)]
    await live.close()


async def test_what_comes_within_a_pause_is_drawn_together_after_it() -> None:
    display = RecordingDisplay()
    live = LivePost(display.draw, display.pause)
    for piece in ("The ", "key ", "hangs "):
        live.text(piece)
        await settle()
    assert display.drawn == [("The ", 0)]
    display.go.set()
    await settle()
    assert display.drawn == [("The ", 0), ("The key hangs ", 0)]
    assert display.pauses == [EDIT_SECONDS, EDIT_SECONDS]
    await live.close()


async def test_text_that_is_taken_back_is_not_shown_on() -> None:
    display = RecordingDisplay()
    live = LivePost(display.draw, display.pause)
    live.text("Let me look.")
    await settle()
    live.reset()
    display.go.set()
    await settle()
    assert display.drawn[-1] == ("", 0)
    await live.close()


async def test_a_drawing_under_way_has_arrived_when_the_end_is_told_and_none_comes_after() -> None:
    display = RecordingDisplay()
    display.slow = asyncio.Event()
    live = LivePost(display.draw, display.pause)
    live.text("The key ")
    await settle()
    closing = asyncio.create_task(live.close())
    await settle()
    assert not closing.done()
    display.slow.set()
    await closing
    live.text("hangs ")
    await settle()
    assert display.drawn == [("The key ", 0)]


async def test_a_draft_that_can_not_be_shown_does_not_end_the_drawing() -> None:
    display = RecordingDisplay()
    display.refuses = True
    live = LivePost(display.draw, display.pause)
    live.text("The ")
    await settle()
    display.refuses = False
    live.text("key ")
    display.go.set()
    await settle()
    assert display.drawn == [("The key ", 0)]
    await live.close()
