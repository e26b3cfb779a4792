"""What surrounds a platform's question, over the answer service with stores in memory and a readable platform."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from core.answering.steps.preparing import TALK_LIMIT
from core.domain.answer import Answer, AnswerStatus
from core.domain.audit import Audit
from core.domain.chat import ChatRequest, ChatRole
from core.domain.conversation import Role
from core.domain.incoming import Attachment, ChannelAddress, Circumstances, IncomingMessage, Talk, ThreadAddress
from core.domain.jobs import JobKind, JobStatus
from core.domain.replies import ChatResponse
from core.domain.service import ACCEPTED, ChannelSettings, Listening
from core.errors import NotFound, PlatformError, StorageError
from core.work.attempts import Attempt
from core.work.conversations import Conversations
from tests.builders import NOON
from tests.scripted import Turn, says
from tests.unit.core.answering.test_service import KEY, SEARCH, Desk
from tests.unit.core.library_builder import Shelf

HERE = ThreadAddress(platform="chat", workspace="local", channel="c", thread="t")
TALK = [
    Talk(message_id="m1", author="Grace", text="I lost my key again.", said_at=NOON - timedelta(minutes=2)),
    Talk(message_id="m2", author="Ada", text="Then ask the house book.", said_at=NOON - timedelta(minutes=1)),
]
IN_THREAD = Circumstances(in_thread=True)
IN_CHANNEL = Circumstances()
MORE = Attempt(number=1, is_last=False, is_stopped=lambda: False)


class Thread:
    """A platform's thread as it can be read."""

    def __init__(self, talk: Sequence[Talk] = (), error: Exception | None = None) -> None:
        self.talk = talk
        self.error = error
        self.read = 0

    async def talk_before(self, question: IncomingMessage, limit: int) -> Sequence[Talk]:
        self.read += 1
        if self.error is not None:
            raise self.error
        return self.talk[-limit:]

    async def read_attachment(self, question: IncomingMessage, attachment: Attachment) -> bytes:
        raise PlatformError("The file is gone.")


class Languages:
    """Settings of which only the language is ever set."""

    def __init__(self, **languages: str) -> None:
        self._languages = languages

    async def channel(self, address: ChannelAddress) -> ChannelSettings:
        return ChannelSettings(language=self._languages.get(address.channel))

    async def save_channel(self, address: ChannelAddress, settings: ChannelSettings) -> None:
        raise AssertionError("nothing is set here")

    async def listening(self, address: ThreadAddress) -> Listening:
        return Listening.NORMAL

    async def save_listening(self, address: ThreadAddress, listening: Listening, *, audit: Audit = None) -> None:
        raise AssertionError("nothing is set here")


class Room:
    """A desk behind what prepares its questions."""

    def __init__(self, shelf: Shelf, thread: Thread, *script: Turn, **languages: str) -> None:
        self.desk = Desk(shelf, *script, pipeline={"readers": {"chat": thread}}, settings=Languages(**languages))
        self.thread = thread
        self.inbox = self.desk.inbox
        self.conversations = Conversations(self.desk.store, self.desk.clock)
        self.answers = self.desk.service

    async def ask(self, message: IncomingMessage, attempt: Attempt | None = None) -> Answer:
        await self.inbox.accept(message, ACCEPTED)
        return await self.answers.answer(message, self.desk.progress, attempt or Attempt())

    async def history(self) -> list[tuple[str, str]]:
        """(author, text) of all but tool calls."""
        stored = [
            message
            for conversation in await self.desk.store.list_conversations("local")
            for message in await self.desk.store.list_messages(conversation.id)
        ]
        return [(item.author, item.content) for item in stored if item.role is not Role.TOOL_RESULT]

    @property
    def asked(self) -> list[tuple[str | None, str]]:
        """(speaker, text) of what people said in the last request."""
        messages = self.desk.provider.requests[-1].messages
        return [(item.speaker, item.text) for item in messages if item.role is ChatRole.USER]


def message(text: str = "Where is the key?", key: str = "q1", version: str = "", **fields: object) -> IncomingMessage:
    event = f"{key}@{version}" if version else key
    values = {"address": HERE, "author": "17", "author_name": "Ada", "event_key": event, "message_key": key, **fields}
    return IncomingMessage(text=text, **{"circumstances": IN_THREAD, **values})


ANSWER = (SEARCH, says("The key hangs under the stairs [1]."))


REFUSALS = [PlatformError("I may not read the history here."), NotFound("I may not read the history here.")]


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
    return shelf


async def test_called_into_a_thread_it_reads_what_was_said_before_and_remembers_it(shelf: Shelf) -> None:
    room = Room(shelf, Thread(TALK), *ANSWER)
    answer = await room.ask(message())

    assert room.asked == [("Grace", TALK[0].text), ("Ada", TALK[1].text), ("Ada", "Where is the key?")]
    assert await room.history() == [
        ("Grace", TALK[0].text),
        ("Ada", TALK[1].text),
        ("Ada", "Where is the key?"),
        ("footnote", "The key hangs under the stairs[1]."),
    ]
    [conversation] = await room.desk.store.list_conversations("local")
    assert (conversation.title, conversation.owner) == ("Where is the key?", "17")
    stored = await room.desk.store.list_messages(conversation.id)
    assert [item.created_at for item in stored[:2]] == [said.said_at for said in TALK]
    [reading] = [job for job in answer.jobs if job.name == "read what was said before"]
    assert (reading.kind, reading.parent_id, reading.output) == (JobKind.PLANNING, answer.jobs[0].id, {"messages": 2})


@pytest.mark.parametrize("question", ["Where was it last?", "and the spare one?", "since when?"])
async def test_a_question_in_a_channel_that_leans_on_its_talk_is_read_with_it(shelf: Shelf, question: str) -> None:
    room = Room(shelf, Thread(TALK), *ANSWER)
    await room.ask(message(question, circumstances=IN_CHANNEL))
    assert [text for _, text in room.asked] == [*(said.text for said in TALK), question]


@pytest.mark.parametrize("question", ["Where is the key of the shed?", "hi! who has the spare key of the shed?"])
async def test_a_question_in_a_channel_that_says_what_it_is_about_needs_no_talk(shelf: Shelf, question: str) -> None:
    room = Room(shelf, Thread(TALK), *ANSWER)
    await room.ask(message(question, circumstances=IN_CHANNEL))
    assert [text for _, text in room.asked] == [question]
    assert room.thread.read == 0


async def test_its_own_history_is_enough_from_then_on(shelf: Shelf) -> None:
    room = Room(shelf, Thread(TALK), *ANSWER, *ANSWER)
    await room.ask(message())
    await room.ask(message("And the lock?", "q2"))

    assert room.thread.read == 1
    assert [text for _, text in await room.history()].count(TALK[0].text) == 1


async def test_a_title_comes_from_the_question_also_where_the_conversation_had_none(shelf: Shelf) -> None:
    room = Room(shelf, Thread(TALK), *ANSWER)
    await room.conversations.create(message())
    await room.ask(message())

    assert [found.title for found in await room.desk.store.list_conversations("local")] == ["Where is the key?"]


async def test_a_try_after_a_crash_records_nothing_twice(shelf: Shelf) -> None:
    def crash(request: ChatRequest) -> ChatResponse:
        raise asyncio.CancelledError

    room = Room(shelf, Thread(TALK), crash, *ANSWER)
    question = message(about=TALK[0])
    with pytest.raises(asyncio.CancelledError):
        await room.ask(question, MORE)
    before = await room.history()
    await room.ask(question, Attempt(number=2))

    assert [text for _, text in before] == [TALK[1].text, TALK[0].text, "Where is the key?"]
    assert await room.history() == [*before, ("footnote", "The key hangs under the stairs[1].")]
    assert [text for _, text in room.asked] == [text for _, text in before]


@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: type(error).__name__)
async def test_a_thread_that_can_not_be_read_is_a_failed_step_and_one_sentence(shelf: Shelf, error: Exception) -> None:
    room = Room(shelf, Thread(error=error), *ANSWER)
    answer = await room.ask(message())

    note = "I could not read what was said here before: I may not read the history here."
    assert answer.text == f"The key hangs under the stairs[1].\n\n{note}"
    assert (answer.status, answer.data_gaps, len(answer.citations)) == (AnswerStatus.ANSWERED, (note,), 1)
    [reading] = [job for job in answer.jobs if job.kind is JobKind.PLANNING and "before" in job.name]
    assert (reading.status, reading.error) == (JobStatus.FAILED, "I may not read the history here.")
    assert (await room.history())[-1] == ("footnote", answer.text)


async def test_a_thread_that_does_not_come_in_time_is_answered_without(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hanging(Thread):
        async def talk_before(self, question: IncomingMessage, limit: int) -> Sequence[Talk]:
            await asyncio.Event().wait()
            return []

    monkeypatch.setattr("core.answering.steps.preparing.TALK_SECONDS", 0.01)
    answer = await Room(shelf, Hanging(), *ANSWER).ask(message())
    assert answer.data_gaps == ("I could not read what was said here before: it didn't arrive within 0.01 s.",)


async def test_the_message_asked_about_comes_right_before_the_question_and_the_model_is_told(shelf: Shelf) -> None:
    room = Room(shelf, Thread(TALK), *ANSWER, *ANSWER)
    await room.ask(message())
    await room.ask(message("What does that mean?", "q2", about=TALK[0]))

    assert [text for _, text in room.asked][-2:] == [TALK[0].text, "What does that mean?"]
    assert [text for _, text in room.asked].count(TALK[0].text) == 1
    assert "about the message directly before it" in room.desk.provider.requests[-1].system
    assert "about the message directly before it" not in room.desk.provider.requests[0].system
    assert [text for _, text in await room.history()].count(TALK[0].text) == 1


async def test_the_language_of_the_channel_is_told_to_the_model(shelf: Shelf) -> None:
    room = Room(shelf, Thread(), *ANSWER, *ANSWER, c="German")
    await room.ask(message())
    await room.ask(message(key="q2", address=replace(HERE, channel="d")))

    first, *_, last = room.desk.provider.requests
    assert "Answer in German, " in first.system
    assert "Answer in " not in last.system


async def test_files_that_can_not_be_read_at_all_are_named(shelf: Shelf) -> None:
    room = Room(shelf, Thread(), *ANSWER)
    file = Attachment(name="notes.pdf", size_bytes=10, reference="r")
    answer = await room.ask(message(attachments=(file,)))

    assert answer.data_gaps == ("I can't read files here, so I left out notes.pdf.",)
    assert "notes.pdf" not in room.desk.provider.requests[0].system


async def test_private_questions_do_not_read_the_thread(shelf: Shelf) -> None:
    room = Room(shelf, Thread(TALK), *ANSWER)
    await room.ask(message(private=True))

    assert room.thread.read == 0


async def test_platforms_whose_history_is_ours_pass_through(shelf: Shelf) -> None:
    room = Room(shelf, Thread(TALK), *ANSWER, c="German")
    answer = await room.ask(message(address=replace(HERE, platform="web"), about=TALK[0]))
    settled = await room.answers.settle(message(address=replace(HERE, platform="web")), answer)

    assert (room.thread.read, settled.text) == (0, answer.text)
    assert "German" not in room.desk.provider.requests[0].system
    assert len(await room.history()) == 2


async def test_an_edited_question_takes_the_place_of_the_earlier_one_and_its_answer(shelf: Shelf) -> None:
    room = Room(shelf, Thread(), *ANSWER, *ANSWER, SEARCH, says("It hangs [1]."))
    await room.ask(message("Where is the kye?"))
    await room.ask(message("And the shed?", "q2"))
    answer = await room.ask(message("Where is the key?", version="2"))

    assert [text for _, text in room.asked] == ["And the shed?", "Where is the key?"]
    assert not any("kye" in turn.text for turn in room.desk.provider.requests[-1].messages)
    assert [text for _, text in await room.history()] == [
        "And the shed?",
        "The key hangs under the stairs[1].",
        "Where is the key?",
        "It hangs[1].",
    ]
    again = await room.ask(message("Where is the key?", version="2"))
    assert (again.message_id, again.text, len(await room.history())) == (answer.message_id, answer.text, 4)


async def test_a_stopped_edit_leaves_no_earlier_version_either(shelf: Shelf) -> None:
    room = Room(shelf, Thread(), *ANSWER)
    await room.ask(message("Where is the kye?"))
    stopped = Answer(status=AnswerStatus.STOPPED, text="Stopped.")
    await room.answers.settle(message("Where is the key?", version="2"), stopped)

    assert await room.history() == [("Ada", "Where is the key?"), ("footnote", "Stopped.")]


async def test_what_is_withdrawn_while_it_runs_leaves_nothing_behind(shelf: Shelf) -> None:
    def cancel(request: ChatRequest) -> ChatResponse:
        raise asyncio.CancelledError

    room = Room(shelf, Thread(), cancel)
    withdrawn = replace(MORE, is_withdrawn=lambda: True)
    with pytest.raises(asyncio.CancelledError):
        await room.ask(message(), withdrawn)
    assert await room.history() == []


async def test_stopped_while_it_reads_the_thread_question_and_stop_are_remembered(shelf: Shelf) -> None:
    room = Room(shelf, Thread(error=asyncio.CancelledError()))
    with pytest.raises(asyncio.CancelledError):
        await room.ask(message())
    assert await room.history() == [("Ada", "Where is the key?"), ("footnote", "Stopped.")]


async def test_an_error_that_may_pass_ends_the_try_before_the_question_is_recorded(shelf: Shelf) -> None:
    room = Room(shelf, Thread(error=StorageError("Busy.")), *ANSWER)
    with pytest.raises(StorageError):
        await room.ask(message(), MORE)
    assert await room.history() == []
    answer = await room.ask(message(), Attempt(number=2))
    assert (answer.status, answer.text) == (AnswerStatus.ERROR, "Busy.")
    assert await room.history() == [("Ada", "Where is the key?"), ("footnote", "Busy.")]


async def test_no_more_is_read_than_fits_a_question(shelf: Shelf) -> None:
    many = [replace(TALK[0], message_id=f"m{n}", text=f"Word {n}.") for n in range(TALK_LIMIT + 5)]
    room = Room(shelf, Thread([*many, replace(TALK[0], message_id="blank", text=" ")]), *ANSWER)
    await room.ask(message())

    texts = [text for _, text in await room.history()]
    assert (texts[0], texts[-3], len(texts)) == ("Word 6.", "Word 34.", TALK_LIMIT - 1 + 2)
