"""Stale answers are marked exactly when a quote is gone, and their threads are told once, whatever is killed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from core.access.scopes import Access
from core.answering.pipeline import Question
from core.answering.run import NO_OBSERVER
from core.domain.answer import Answer
from core.domain.conversation import Conversation, Role
from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress
from core.domain.passages import Span
from core.domain.service import ChannelSettings, InboxEntry, Listening
from core.features.staleness.stale_answers import Staleness
from core.features.staleness.stale_notes import StaleNotes
from core.work.attempts import ONLY_ATTEMPT
from core.work.progress import SilentProgress
from storage.database.tables import MessageRow
from tests.builders import (
    build_citation,
    build_conversation,
    build_document,
    build_incoming,
    build_message,
    build_pages,
    build_passages,
    build_scope,
    build_source,
)
from tests.fakes import ManualClock
from tests.stores import Stores

WORDS = ["under the mat", "in the shed", "by the mill"]
WRITES = {"record", "note_done", "accept"}


class Killed(Exception):
    """What stands for kill -9."""


class Place:
    """A library, conversations and an inbox; `check` runs as a new process would."""

    def __init__(self) -> None:
        stores = Stores()
        self.database = stores.database
        self.corpus = stores.corpus
        self.conversations = stores.conversations
        self.settings = stores.settings
        self.access = Access(self.corpus, self.settings)
        self.inbox = stores.inbox(ManualClock())
        self.stale = stores.stale
        self._revision = 0

    async def write(self, *pages: str, path: str = "guide.md") -> None:
        """A new revision of a document; without pages, none of its text is left."""
        self._revision += 1
        await self.corpus.save_source(build_source())
        document = build_document(path, revision=f"r{self._revision}")
        built = build_pages(document, *(pages or ("nothing",)))
        await self.corpus.switch_revision(document, built, build_passages(built))

    async def close(self) -> None:
        """Let nobody in chats read the documents any more."""
        channel = ChannelAddress(platform="web", workspace="local", channel="general")
        await self.settings.save_channel(channel, ChannelSettings(sources=frozenset()))

    async def begin(self, id: str, platform: str = "web") -> Conversation:
        address = ThreadAddress(platform=platform, workspace="local", channel="general", thread=id)
        conversation = build_conversation(id, address=address)
        await self.conversations.add(conversation)
        return conversation

    async def ask(self, conversation: str, number: int, *quotes: str, path: str = "guide.md") -> str:
        """A question, and an answer with these quotes of the document as it is now; the answer's id."""
        document = build_document(path)
        revision = dict((await self.corpus.live_revisions()).keys())[document.id]
        pages = await self.corpus.list_pages(document.id, build_scope(build_source()))
        texts = {page.number: page.text for page in pages}
        citations = [
            build_citation(
                document.id,
                number=place,
                quote=quote,
                page_number=page,
                span=Span(text.index(quote), text.index(quote) + len(quote)),
                revision=revision,
            )
            for place, quote in enumerate(quotes, start=1)
            for page, text in [next(item for item in texts.items() if quote in item[1])]
        ]
        ids = f"{conversation}-q{number}", f"{conversation}-a{number}"
        question = build_message(ids[0], f"Question {number}?")
        answer = build_message(ids[1], "So.", role=Role.ASSISTANT, citations=tuple(citations), status="answered")
        await self.conversations.append(conversation, [question, answer])
        return ids[1]

    def staleness(self, guard: Callable[[Any], Any] = lambda target: target) -> Staleness:
        return Staleness(
            guard(self.stale),
            conversations=self.conversations,
            inbox=guard(self.inbox),
            settings=self.settings,
            clock=ManualClock(),
            noted={"web", "discord"},
        )

    async def check(self) -> int:
        return await self.staleness().check()

    async def notes(self) -> list[InboxEntry]:
        return [entry for entry in await self.inbox.list_open("local") if entry.incoming.is_note]

    async def marked(self) -> set[str]:
        query = select(MessageRow.id).where(MessageRow.stale)
        return await self.database.read(lambda connection: set(connection.scalars(query)))


@pytest.fixture
def place() -> Place:
    return Place()


class Fuse:
    """Ends a process before, or right after, its write number `burns_at`."""

    def __init__(self, burns_at: int, *, is_late: bool) -> None:
        self.left = burns_at
        self._is_late = is_late

    def guard(self, target: Any) -> Any:
        fuse = self

        class Guarded:
            def __getattr__(self, name: str) -> Any:
                method = getattr(target, name)
                return fuse.fused(method) if name in WRITES else method

        return Guarded()

    def fused(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any) -> Any:
            self.left -= 1
            if self.left < 0 and not self._is_late:
                raise Killed
            done = await method(*args)
            if self.left < 0:
                raise Killed
            return done

        return call


PAGES = st.lists(st.lists(st.sampled_from(WORDS), max_size=3).map(". ".join), max_size=3)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True), st.lists(PAGES, max_size=6))
def test_after_any_edits_an_answer_is_stale_exactly_when_a_quote_is_gone(quotes: list[str], edits: Any) -> None:
    async def scenario() -> None:
        place = Place()
        await place.write(". ".join(WORDS))
        await place.begin("c1")
        answer = await place.ask("c1", 1, *quotes)
        was_stale, notes = False, 0
        for pages in edits:
            await place.write(*pages)
            is_stale = not all(any(quote in page for page in pages) for quote in quotes)
            told = await place.check()
            assert await place.marked() == ({answer} if is_stale else set())
            assert told == int(is_stale and not was_stale)  # one note when it becomes stale, and no other
            was_stale, notes = is_stale, notes + told
            assert await place.check() == 0
        assert len(await place.notes()) == notes

    asyncio.run(scenario())


async def test_a_thread_gets_one_note_for_all_of_its_answers_and_further_syncs_none(place: Place) -> None:
    await place.write("under the mat")
    await place.write("in the shed", path="other.md")
    await place.begin("c1")
    await place.begin("c2")
    expected = [await place.ask("c1", 1, "under the mat"), await place.ask("c1", 2, "in the shed", path="other.md")]
    await place.ask("c2", 1, "under the mat")
    await place.check()
    await place.write("nothing")
    await place.write(path="other.md")

    assert await place.check() == 2
    [first] = [note for note in await place.notes() if note.incoming.conversation_id == "c1"]
    assert first.incoming.metadata["note_on"].split() == expected
    assert first.address.thread == "c1"
    assert [await place.check() for _ in range(3)] == [0, 0, 0]
    assert len(await place.notes()) == 2


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("burns_at", range(9))
async def test_a_kill_at_any_write_neither_loses_nor_doubles_a_note(place: Place, burns_at: int, is_late: bool) -> None:
    await place.write("under the mat")
    for id in ("c1", "c2", "c3"):
        await place.begin(id)
        await place.ask(id, 1, "under the mat")
    await place.write("nothing")
    fuse = Fuse(burns_at, is_late=is_late)

    with pytest.raises(Killed):
        await place.staleness(fuse.guard).check()
    await place.check()

    assert sorted(note.address.thread for note in await place.notes()) == ["c1", "c2", "c3"]
    assert len(await place.marked()) == 3
    assert await place.stale.due_notes() == []


async def test_processes_that_look_at_once_tell_once(place: Place) -> None:
    await place.write("under the mat")
    for id in ("c1", "c2"):
        await place.begin(id)
        await place.ask(id, 1, "under the mat")
    await place.write("nothing")
    await asyncio.gather(*(place.check() for _ in range(4)))
    assert sorted(note.address.thread for note in await place.notes()) == ["c1", "c2"]


@pytest.mark.parametrize(
    ("platform", "listening", "expected"),
    [
        ("web", Listening.NORMAL, 1),
        ("discord", Listening.LISTENING, 1),
        ("web", Listening.MUTED, 0),
        ("terminal", Listening.NORMAL, 0),
    ],
)
async def test_muted_threads_and_doors_without_threads_are_not_told(
    place: Place, platform: str, listening: Listening, expected: int
) -> None:
    await place.write("under the mat")
    conversation = await place.begin("c1", platform)
    answer = await place.ask("c1", 1, "under the mat")
    await place.settings.save_listening(conversation.address, listening)
    await place.write("nothing")
    assert await place.check() == expected
    assert await place.marked() == {answer}
    await place.settings.save_listening(conversation.address, Listening.NORMAL)
    assert await place.check() == 0


async def test_an_answer_stored_after_its_document_changed_is_noticed(place: Place) -> None:
    await place.write("under the mat")
    await place.begin("c1")
    answer = await place.ask("c1", 1, "under the mat")
    stored = await place.conversations.find_message(answer)
    assert stored is not None
    await place.conversations.remove_messages("c1", [answer])
    await place.write("nothing")
    assert await place.check() == 0
    await place.conversations.append("c1", [stored])
    assert await place.check() == 1


async def test_the_list_has_the_question_and_is_as_of_now(place: Place) -> None:
    await place.write("under the mat")
    await place.begin("c1")
    await place.ask("c1", 7, "under the mat")
    await place.write("nothing")
    [found] = await place.staleness().list_stale("local")
    assert (found.question, found.lost[0].number) == ("Question 7?", 1)
    assert await place.staleness().list_stale("elsewhere") == []
    assert await place.check() == 1  # listing told nobody


async def test_an_answer_whose_question_was_asked_again_is_not_listed(place: Place) -> None:
    await place.write("under the mat")
    await place.begin("c1")
    await place.ask("c1", 1, "under the mat")
    await place.write("in the shed")
    again = build_message("again", "Question 1?")
    await place.conversations.append("c1", [again])
    assert len(await place.staleness().list_stale("local")) == 1
    await place.conversations.append("c1", [build_message("new", "So.", role=Role.ASSISTANT)])
    assert await place.staleness().list_stale("local") == []


async def noted(place: Place) -> Answer:
    [note] = await place.notes()
    answer = await StaleNotes(place.staleness(), place.access, place.corpus)(to_question(note.incoming))
    assert answer is not None
    return answer


def to_question(message: IncomingMessage) -> Question:
    return Question(message=message, progress=SilentProgress(), attempt=ONLY_ATTEMPT, observer=NO_OBSERVER)


async def test_a_note_says_which_footnotes_of_which_document_are_lost(place: Place) -> None:
    await place.write("under the mat, in the shed")
    await place.begin("c1")
    answer = await place.ask("c1", 1, "under the mat", "in the shed")
    await place.write("nothing")
    await place.check()
    note = await noted(place)
    assert note.text == (
        "My answer to “Question 1?” is out of date: “Guide” no longer says what footnotes 1 and 2 quote. "
        "Ask again for an updated answer."
    )
    assert [(item.message_id, item.question) for item in note.note_on] == [(answer, "Question 1?")]


async def test_a_note_names_no_document_that_its_thread_may_not_read(place: Place) -> None:
    await place.write("under the mat")
    await place.begin("c1")
    await place.ask("c1", 1, "under the mat")
    await place.write("nothing")
    await place.close()
    await place.check()
    assert "out of date: a document no longer says what footnote 1 quotes" in (await noted(place)).text


async def test_a_note_about_several_answers_has_a_line_for_each(place: Place) -> None:
    await place.write("under the mat, in the shed")
    await place.begin("c1")
    for number in range(7):
        await place.ask("c1", number, "under the mat")
    await place.write()
    await place.check()
    note = await noted(place)
    assert note.text.splitlines()[0] == "7 of my answers here are out of date. Ask again where it matters:"
    assert note.text.splitlines()[2] == "- Question 0?: “Guide” no longer says what footnote 1 quotes"
    assert note.text.splitlines()[-1] == "- and 2 more"
    assert len(note.note_on) == 7


async def test_a_note_that_is_not_true_any_more_tells_nothing(place: Place) -> None:
    await place.write("under the mat")
    await place.begin("c1")
    await place.ask("c1", 1, "under the mat")
    await place.write("nothing")
    await place.check()
    await place.write("It is under the mat.")
    assert (await noted(place)).note_on == ()


async def test_questions_of_people_are_no_notes(place: Place) -> None:
    assert (
        await StaleNotes(place.staleness(), place.access, place.corpus)(to_question(build_incoming("Where?"))) is None
    )


async def test_a_notes_key_ends_with_the_moment_it_was_due_and_is_its_own(place: Place) -> None:
    await place.write("under the mat")
    for id in ("c1", "c2"):
        await place.begin(id)
        await place.ask(id, 1, "under the mat")
    await place.write("nothing")
    await place.check()
    keys = [note.message_key.rpartition(":")[2] for note in await place.notes()]
    assert len(set(keys)) == 2
    assert all(int(float(key)) == int(ManualClock().now().timestamp()) for key in keys)
