"""What a service has in hand, as control commands see it."""

import asyncio
from dataclasses import replace

import pytest

from core.domain.incoming import IncomingMessage
from core.domain.service import InboxStatus
from core.errors import InvalidState
from core.service.commands.threads import ENDING_TRIES, RunningQuestions
from core.service.inbox import COMMAND
from tests.unit.core.service.commands.counter import HERE, Counter, stocked


@pytest.fixture
async def run() -> Counter:
    return await stocked()


async def test_what_is_open_in_a_thread_comes_newest_first_without_what_has_ended(run: Counter) -> None:
    ended, first, second = [await run.ask(text) for text in ("ended?", "first?", "second?")]
    await run.entries.claim(1, {"web"})
    await run.entries.finish(ended.seq, InboxStatus.DONE)
    await run.ask("elsewhere?", thread="t2")
    questions = RunningQuestions(run.entries, run.stop)

    assert [entry.seq for entry in await questions.open_in("local", HERE)] == [second.seq, first.seq]
    assert await questions.open_in("elsewhere", HERE) == []


async def test_the_newest_is_looked_for_in_the_thread_then_in_its_channel_then_nowhere(run: Counter) -> None:
    in_thread = await run.ask("here?")
    near = await run.ask("near?", thread="t2")
    await run.ask("far?", channel="cellar")
    await run.ask("bens?", author="ben")
    command = IncomingMessage(address=HERE, author="ada", text="/why", event_key="c")
    await run.entries.accept(command, COMMAND)
    questions = RunningQuestions(run.entries, run.stop)

    async def newest(**place: str) -> int | None:
        found = await questions.newest("local", "ada", replace(HERE, **place))
        return found.seq if found else None

    assert await newest() == in_thread.seq
    assert await newest(thread="") == near.seq
    assert await newest(channel="attic") is None
    assert await newest(platform="api") is None
    assert await questions.newest("elsewhere", "ada", None) is None


async def test_ending_a_thread_waits_until_its_answers_have_stopped(run: Counter) -> None:
    entry = await run.ask("where?", author="ben")
    await run.entries.claim(1, {"web"})

    async def stop(message_key: str, by: str, is_moderator: bool) -> None:
        await run.stop(message_key, by, is_moderator)
        asyncio.get_running_loop().call_soon(lambda: ending.append(asyncio.ensure_future(end())))

    async def end() -> None:
        await run.entries.finish(entry.seq, InboxStatus.CANCELLED)

    ending: list[asyncio.Future[None]] = []
    await RunningQuestions(run.entries, stop).end_all("local", HERE)

    assert run.stopped == [(entry.message_key, "ben")]
    assert await run.entries.depth() == {}


async def test_a_thread_whose_answer_does_not_stop_is_not_ended(run: Counter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.service.commands.threads.ENDING_PAUSE_SECONDS", 0)
    await run.ask("where?")
    with pytest.raises(InvalidState, match="Stop the answer first"):
        await RunningQuestions(run.entries, run.stop).end_all("local", HERE)

    assert len(run.stopped) == 1 < ENDING_TRIES
