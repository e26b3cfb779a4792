"""Platforms are kept connected, each apart from the others."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest

from bot.service import supervision
from bot.service.supervision import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, STEADY_SECONDS, Supervision, start_task
from core.errors import ConfigError, PlatformError
from tests.fakes import ManualClock


class Line:
    """A platform's connection: each try fails with the next error, or stays until `end`."""

    def __init__(self, *errors: Exception | None) -> None:
        self.errors = list(errors)
        self.tries = 0
        self.up = asyncio.Event()
        self.end = asyncio.Event()

    async def connect(self, note_up: Callable[[], None]) -> None:
        self.tries += 1
        if (error := self.errors.pop(0)) is not None:
            raise error
        note_up()
        self.up.set()
        await self.end.wait()
        self.end.clear()


class Pauses:
    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


async def test_a_platform_that_fails_is_tried_again_with_growing_pauses_while_another_stays_connected() -> None:
    pauses, bad, good = Pauses(), Line(*[PlatformError("Down.")] * 9, None), Line(None)
    supervised = Supervision(ManualClock(), pauses)
    async with AsyncExitStack() as stack:
        await start_task(stack, supervised.keep("discord", bad.connect))
        await start_task(stack, supervised.keep("slack", good.connect))
        await supervised.wait_for_first_tries()
        assert supervised.states == {"discord": "Down.", "slack": ""}

        await asyncio.wait_for(bad.up.wait(), 60)
        assert supervised.states == {"discord": "", "slack": ""}
        assert (bad.tries, good.tries) == (10, 1)
    assert pauses.seconds == [5, 10, 20, 40, 80, 160, 300, 300, 300]
    assert (FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS) == (5, 300)


async def test_a_refused_token_and_a_fault_of_ours_are_told_and_end_nothing(caplog: pytest.LogCaptureFixture) -> None:
    pauses, line = Pauses(), Line(ConfigError("Discord refuses the bot's token."), KeyError("shard"), None)
    supervised = Supervision(ManualClock(), pauses)
    async with AsyncExitStack() as stack:
        await start_task(stack, supervised.keep("discord", line.connect))
        await asyncio.wait_for(line.up.wait(), 60)
    assert "Discord is off, everything else goes on. Next try in 5 s. Discord refuses the bot's token." in caplog.text
    assert "Something went wrong in Footnote (KeyError)." in caplog.text
    assert line.tries == 3


async def test_after_a_long_connection_the_pauses_begin_anew() -> None:
    clock, pauses = ManualClock(), Pauses()
    line = Line(*[PlatformError("Down.")] * 3, None, None)
    supervised = Supervision(clock, pauses)
    async with AsyncExitStack() as stack:
        await start_task(stack, supervised.keep("slack", line.connect))
        await asyncio.wait_for(line.up.wait(), 60)
        clock.advance(STEADY_SECONDS + 1)
        line.up.clear()
        line.end.set()
        await asyncio.wait_for(line.up.wait(), 60)
    assert pauses.seconds == [5, 10, 20, 5]


async def test_the_service_waits_for_slow_first_tries_only_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "START_SECONDS", 0.01)
    supervised = Supervision(ManualClock())

    async def hang(note_up: Callable[[], None]) -> None:
        await asyncio.Event().wait()

    async with AsyncExitStack() as stack:
        await start_task(stack, supervised.keep("discord", hang))
        await asyncio.wait_for(supervised.wait_for_first_tries(), 60)
        assert supervised.states == {"discord": ""}


async def test_without_platforms_elsewhere_there_is_nothing_to_wait_for() -> None:
    supervised = Supervision(ManualClock())
    await asyncio.wait_for(supervised.wait_for_first_tries(), 60)
    assert supervised.states == {}
