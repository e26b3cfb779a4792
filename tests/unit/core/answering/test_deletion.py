"""Deleted questions and threads: nothing is answered or remembered, and the posts to delete are named."""

import asyncio

import pytest

from core.answering.answers.stored import answer_message, question_message
from core.answering.deletion import Forgetting
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import Role
from core.domain.incoming import ChannelAddress, IncomingMessage, Talk
from core.domain.service import ACCEPTED, Decision, InboxStatus
from core.service.worker import Worker
from core.work.conversations import Conversations
from tests.builders import NOON, build_incoming, build_message
from tests.fakes import ManualClock, RealClock
from tests.stores import Stores
from tests.unit.core.answering.steps.test_preparing import Room, Thread
from tests.unit.core.answering.steps.test_preparing import message as asked_in_chat
from tests.unit.core.library_builder import Shelf
from tests.unit.core.service.test_worker import WallPlatform


def question(key: str = "q1", version: str = "", **fields: object) -> IncomingMessage:
    event = f"{key}@{version}" if version else key
    return build_incoming(f"Question {event}?", event_key=event, message_key=key, **fields)


class Place:
    def __init__(self) -> None:
        clock = ManualClock()
        stores = Stores()
        self.store = stores.conversations
        self.conversations = Conversations(self.store, clock)
        self.inbox = stores.inbox(clock)
        self.stopped: list[str] = []
        self.forgetting = Forgetting(
            inbox=self.inbox, conversations=self.conversations, stop=self.stopped.append, patience_seconds=0.1
        )

    async def answered(self, message: IncomingMessage, post: str | None = "c/9") -> None:
        """A question with tool calls and an answer, and its entry that ended."""
        entry, _ = await self.inbox.accept(message, ACCEPTED)
        await self.inbox.claim(1, {"web"})
        found = await self.conversations.open(message)
        answer = answer_message(Answer(status=AnswerStatus.ANSWERED, text="Yes."), message, found.id, None, NOON)
        tools = build_message(f"tools {message.event_key}", role=Role.TOOL_RESULT)
        await self.conversations.record(found, [question_message(message, found.id, NOON), tools, answer])
        await self.inbox.finish(entry.seq, InboxStatus.DONE, post_ref=post)

    async def history(self) -> list[str]:
        [found] = await self.store.list_conversations("local")
        return [item.content for item in await self.store.list_messages(found.id)]


@pytest.fixture
def place() -> Place:
    return Place()


async def test_a_deleted_question_goes_with_its_answer_and_its_post_is_named_each_time(place: Place) -> None:
    await place.answered(question("q1"), "c/1")
    await place.answered(question("q2"), "c/2")

    assert await place.forgetting.forget_message("q1") == ("c/1",)
    assert await place.history() == ["Question q2?", "Where is the key?", "Yes."]
    assert await place.forgetting.forget_message("q1") == ("c/1",)
    assert len(await place.history()) == 3


async def test_all_versions_of_an_edited_question_are_forgotten(place: Place) -> None:
    await place.answered(question("q1"), "c/1")
    await place.answered(question("q1", "2"), "c/1")
    await place.answered(question("q2"), "c/2")

    assert await place.forgetting.forget_message("q1") == ("c/1",)
    assert await place.history() == ["Question q2?", "Where is the key?", "Yes."]


async def test_a_message_that_was_no_question_writes_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    async def write(key: str, by: str) -> list[object]:
        raise AssertionError("the inbox was written")

    monkeypatch.setattr(place.inbox, "cancel", write)
    assert await place.forgetting.forget_message("unknown") == ()


async def test_what_nobody_asked_is_ignored(place: Place) -> None:
    assert await place.forgetting.forget_message("unknown") == ()
    await place.forgetting.forget_thread(question().address)
    assert (await place.store.list_conversations("local"), place.stopped) == ([], [])


async def test_a_refused_message_has_nothing_to_forget(place: Place) -> None:
    await place.inbox.accept(question(), Decision(code="no", sentence="No.", accepted=False))
    assert await place.forgetting.forget_message("q1") == ()


async def test_a_question_that_waits_ends_silently_and_is_waited_for(place: Place) -> None:
    entry, _ = await place.inbox.accept(question(), ACCEPTED)
    forgetting = asyncio.create_task(place.forgetting.forget_message("q1"))
    while not place.stopped:  # noqa: ASYNC110 - a list tells nobody
        await asyncio.sleep(0)
    [claimed] = await place.inbox.claim(1, {"web"})
    await place.inbox.finish(entry.seq, InboxStatus.DONE, post_ref="c/7")  # it was being posted: too late to stop

    assert (claimed.cancelled_by, await forgetting) == ("(withdrawn)", ("c/7",))


async def test_patience_ends_where_nobody_works_on_the_question(place: Place) -> None:
    await place.inbox.accept(question(), ACCEPTED)
    assert await asyncio.wait_for(place.forgetting.forget_message("q1"), 60) == ()
    assert [entry.cancelled_by for entry in await place.inbox.find_open("q1")] == ["(withdrawn)"]


async def test_a_conversation_named_by_its_id_is_found_and_a_deleted_one_ignored(place: Place) -> None:
    await place.answered(question("q1"))
    [found] = await place.store.list_conversations("local")
    await place.answered(question("q2", thread="t9", conversation_id=found.id))

    await place.forgetting.forget_message("q2")
    assert await place.history() == ["Question q1?", "Where is the key?", "Yes."]
    await place.conversations.delete(found.id, "local")
    assert await place.forgetting.forget_message("q2") == ("c/9",)


async def test_a_thread_that_is_gone_is_forgotten_with_all_that_is_open_in_it(place: Place) -> None:
    await place.answered(question("q1"))
    await place.answered(question("q2", thread="t2"))
    await place.inbox.accept(question("q3"), ACCEPTED)
    await place.inbox.accept(question("q4", thread="t2"), ACCEPTED)
    await place.forgetting.forget_thread(question().address)
    await place.forgetting.forget_thread(question().address)

    assert [found.address.thread for found in await place.store.list_conversations("local")] == ["t2"]
    assert [entry.cancelled_by for entry in await place.inbox.find_open("q3")] == ["(withdrawn)"]
    assert [entry.cancelled_by for entry in await place.inbox.find_open("q4")] == [None]


async def test_a_conversation_of_one_question_goes_with_it_and_with_the_talk_before_it(place: Place) -> None:
    found = await place.conversations.open(question())
    await place.conversations.record(found, [build_message("talk", "I lost my key.")])
    await place.answered(question())

    assert await place.forgetting.forget_message("q1") == ("c/9",)
    assert await place.store.list_conversations("local") == []


async def test_a_conversation_in_which_something_waits_stays(place: Place) -> None:
    await place.answered(question())
    await place.inbox.accept(question("q2"), ACCEPTED)
    await place.forgetting.forget_message("q1")

    assert await place.history() == []


class Held(Thread):
    """A thread that is being read until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    async def talk_before(self, question: IncomingMessage, limit: int) -> list[Talk]:
        self.reached.set()
        await self.opened.wait()
        return []


async def test_a_question_deleted_while_it_is_answered_is_never_posted_and_leaves_no_trace() -> None:
    thread, wall = Held(), WallPlatform()
    room = Room(Shelf(), thread)
    worker = Worker(room.inbox, room.answers, {"chat": wall}, RealClock())
    forgetting = Forgetting(inbox=room.inbox, conversations=room.conversations, stop=worker.withdraw)
    asked = asked_in_chat()
    await room.inbox.accept(asked, ACCEPTED)
    working = asyncio.create_task(worker.run())
    await thread.reached.wait()

    assert await forgetting.forget_message(asked.message_key) == ()
    assert (wall.posts, await room.desk.store.list_conversations("local")) == ({}, [])
    [entry] = await room.inbox.list_versions(asked.message_key)
    assert entry.status is InboxStatus.CANCELLED
    await worker.stop()
    await working


async def test_with_a_channel_its_threads_are_forgotten_but_not_what_one_person_was_answered(place: Place) -> None:
    await place.answered(question("q1"))
    await place.answered(question("q2", thread="t2"))
    await place.answered(question("q3", thread="private:ada"))
    address = question().address
    channel = ChannelAddress(platform=address.platform, workspace=address.workspace, channel=address.channel)
    await place.forgetting.forget_channel(channel)
    await place.forgetting.forget_channel(channel)
    assert [found.address.thread for found in await place.store.list_conversations("local")] == ["private:ada"]
