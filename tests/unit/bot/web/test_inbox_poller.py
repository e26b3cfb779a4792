"""Browsers are told of what other processes did, once each, and of nothing that was there before."""

import asyncio

import pytest

from bot.web.client import InboxPoller
from bot.web.events import EventHub
from bot.web.translate import thread_address
from core.domain.incoming import IncomingMessage, ThreadAddress, event_key
from core.domain.service import ACCEPTED, InboxStatus
from core.errors import StorageError
from core.service.addressing import BETWEEN_PEOPLE
from tests.fakes import RealClock
from tests.stores import Stores

ADDRESS = thread_address("local", "general", "t1")


def question(id: str, address: ThreadAddress = ADDRESS) -> IncomingMessage:
    key = event_key(address, id)
    return IncomingMessage(address=address, author="ada", text="Where?", event_key=key, message_key=key)


class Place:
    """A browser on one thread, and an inbox that others write to."""

    def __init__(self) -> None:
        self.store = Stores().inbox(RealClock())
        self.hub = EventHub()
        self.noticing = InboxPoller(self.store, self.hub, "local")
        self.cursor = self.hub.cursor(str(ADDRESS))

    async def told(self) -> list[str]:
        """What the browser was told since it was last asked, without the news of other threads."""
        kinds = []
        self.hub.publish(str(ADDRESS), "last", {})
        async for event in self.hub.read(str(ADDRESS), self.cursor):
            self.cursor = event.id
            if event.kind == "last":
                return kinds
            kinds += [event.kind] if event.kind != "threads" else []
        raise AssertionError("the hub was closed")

    async def finish(self, id: str) -> None:
        entry = await self.store.find(event_key(ADDRESS, id))
        assert entry is not None
        await self.store.claim(100, ["web"])
        await self.store.finish(entry.seq, InboxStatus.DONE)


@pytest.fixture
async def place() -> Place:
    return Place()


async def test_what_was_there_before_is_no_news_but_its_answer_is(place: Place) -> None:
    await place.store.accept(question("1"), ACCEPTED)
    await place.noticing.poll()
    assert await place.told() == []
    await place.finish("1")
    await place.noticing.poll()
    await place.noticing.poll()

    assert await place.told() == ["end"]


async def test_questions_talk_and_answers_of_other_processes_are_told_once(place: Place) -> None:
    await place.noticing.poll()
    await place.store.accept(question("1"), ACCEPTED)
    await place.store.accept(question("2"), BETWEEN_PEOPLE)
    await place.noticing.poll()
    assert await place.told() == ["changed", "changed"]
    await place.store.accept(question("3"), ACCEPTED)
    await place.finish("3")
    await place.noticing.poll()
    await place.noticing.poll()

    assert await place.told() == ["changed"]


async def test_other_platforms_and_other_threads_are_not_told_of_here(place: Place) -> None:
    await place.noticing.poll()
    elsewhere = ThreadAddress(platform="api", workspace="local", channel="api", thread="t")
    await place.store.accept(question("1", elsewhere), ACCEPTED)
    await place.store.accept(question("2", thread_address("local", "general", "t2")), ACCEPTED)
    await place.noticing.poll()

    assert await place.told() == []


async def test_an_old_question_is_followed_however_many_came_after_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.web.client.RECENT", 2)
    await place.store.accept(question("old"), ACCEPTED)
    await place.noticing.poll()
    for number in range(5):
        await place.store.accept(question(str(number)), BETWEEN_PEOPLE)
        await place.noticing.poll()
    await place.told()
    await place.finish("old")
    await place.noticing.poll()

    assert await place.told() == ["end"]


async def test_a_database_that_does_not_answer_is_tried_again(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("bot.web.client.POLL_SECONDS", 0.001)
    recent, tries = place.store.recent, []

    async def at_times(*arguments: object, **options: object) -> object:
        tries.append(arguments)
        if len(tries) == 2:
            raise StorageError("The database is away.")
        return await recent(*arguments, **options)

    monkeypatch.setattr(place.store, "recent", at_times)
    task = asyncio.create_task(place.noticing.run())
    await asyncio.sleep(0.02)
    assert tries == []  # nobody to tell
    browser = asyncio.create_task(anext(place.hub.read(str(ADDRESS))))
    async with asyncio.timeout(60):
        while len(tries) < 4:  # noqa: ASYNC110 - it looks by itself
            await asyncio.sleep(0.001)
    for running in (task, browser):
        running.cancel()
    await asyncio.wait({task, browser})

    assert "The database is away" in caplog.text
