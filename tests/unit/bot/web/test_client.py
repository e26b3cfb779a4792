"""The chat page as a platform: a post is a message of the history, one for each key, whatever happens."""

import asyncio

import pytest

from bot.web.client import FLUSH_SECONDS, WebPlatform
from bot.web.events import EventHub, with_heartbeat
from bot.web.translate import thread_address
from core.answering.answers.stored import stored_ids
from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import IncomingMessage
from core.domain.service import ACCEPTED, InboxEntry, InboxStatus
from core.work.conversations import Conversations
from tests.builders import NOON, build_job
from tests.fakes import ManualClock
from tests.stores import Stores

ADDRESS = thread_address("local", "general", "t1")
INCOMING = IncomingMessage(address=ADDRESS, author="Ada", text="Where is the key?", event_key="web:local:general:k1")
ENTRY = InboxEntry(
    seq=1,
    incoming=INCOMING,
    message_key="web:local:general:k1",
    status=InboxStatus.RUNNING,
    decision=ACCEPTED,
    created_at=NOON,
)


class Place:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.hub = EventHub()
        self.conversations = Conversations(Stores().conversations, self.clock)
        self.platform = WebPlatform(self.hub, self.conversations, self.clock)

    async def texts(self) -> list[tuple[str, str | None]]:
        found = await self.conversations.find(ADDRESS)
        assert found is not None
        return [(item.content, item.status) for item in (await self.conversations.show(found.id, "local"))[1]]


def said(text: str) -> Answer:
    return Answer(status=AnswerStatus.ANSWERED, text=text)


@pytest.fixture
async def place() -> Place:
    place = Place()
    await place.conversations.open(INCOMING)
    return place


async def kinds(place: Place, cursor: str, count: int) -> list[str]:
    found = []
    async for event in place.hub.read(str(ADDRESS), cursor):
        found.append(event.kind)
        if len(found) == count:
            break
    return found


async def test_posting_the_same_key_again_is_the_same_post(place: Place) -> None:
    answer = said("Under the mat.")
    refs = [await place.platform.post(ADDRESS, ENTRY.message_key, answer, look_first=again) for again in (False, True)]

    assert refs == [stored_ids(INCOMING).answer] * 2
    assert await place.texts() == [("Under the mat.", "answered")]


async def test_an_error_is_posted_once_and_never_beside_an_answer(place: Place) -> None:
    for _ in range(2):
        await place.platform.fail(ADDRESS, ENTRY.message_key, "The model is away.")
    await place.platform.fail(ADDRESS, "web:local:general:k2", "The model is still away.")
    await place.platform.post(
        ADDRESS, "web:local:general:k3", Answer(status=AnswerStatus.ANSWERED, text="Back."), look_first=True
    )
    await place.platform.fail(ADDRESS, "web:local:general:k3", "Away again.")

    assert await place.texts() == [
        ("The model is away.", "error"),
        ("The model is still away.", "error"),
        ("Back.", "answered"),
    ]


async def test_a_post_to_a_deleted_thread_makes_no_new_one(place: Place) -> None:
    found = await place.conversations.find(ADDRESS)
    assert found is not None
    await place.conversations.delete(found.id, "local")
    await place.platform.fail(ADDRESS, ENTRY.message_key, "The model is away.")

    assert await place.conversations.list_conversations("local") == []


async def test_an_answer_under_way_is_shown_until_it_is_posted(place: Place) -> None:
    cursor = place.hub.cursor(str(ADDRESS))
    progress = await place.platform.open(ENTRY)
    progress.step(build_job("j1/t0", parent_id="j1"))
    progress.text("Under the mat")
    (live,) = place.platform.running(ADDRESS)
    await place.platform.post(ADDRESS, ENTRY.message_key, said("x"), look_first=False)

    assert live.to_view()["text"] == "Under the mat"
    assert await kinds(place, cursor, 4) == ["begin", "step", "text", "end"]
    assert place.platform.running(ADDRESS) == []


async def test_an_answer_begun_again_ends_what_was_shown_of_the_first_try(place: Place) -> None:
    first = await place.platform.open(ENTRY)
    first.text("Under the mat " * 100)
    second = await place.platform.open(ENTRY)
    cursor = place.hub.cursor(str(ADDRESS))
    await asyncio.sleep(FLUSH_SECONDS * 2)
    second.text("No")

    assert [live.text for live in place.platform.running(ADDRESS)] == ["No"]
    assert await kinds(place, cursor, 1) == ["text"]


async def test_a_silent_stream_shows_that_it_lives() -> None:
    hub = EventHub()
    blocks = with_heartbeat(hub.read("a"), 0.01)
    assert await anext(blocks) == b": still here\n\n"
    hub.publish("a", "text", {"n": 1})
    while (block := await anext(blocks)).startswith(b":"):
        pass
    assert b"event: text" in block
    await blocks.aclose()
    assert hub.readers == 0


async def test_a_stream_ends_when_the_service_does() -> None:
    hub = EventHub()
    blocks = with_heartbeat(hub.read("a"), 5)
    reading = asyncio.create_task(anext(blocks))
    await asyncio.sleep(0)
    hub.close()
    with pytest.raises(StopAsyncIteration):
        await reading
    assert hub.readers == 0
