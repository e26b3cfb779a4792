"""Opening, titling, renaming and deleting conversations; what focus remembers and when it forgets."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.audit import Deed
from core.domain.conversation import Focus
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.errors import BadInput, NotFound
from core.work.conversations import Conversations
from core.work.history import FOCUS_SECTIONS, TITLE_LENGTH, live_focus, next_focus, title_from
from tests.builders import NOON, build_citation, build_message
from tests.fakes import ManualClock
from tests.stores import Stores


def message(text: str = "Where is the key?", thread: str = "t1", **fields: object) -> IncomingMessage:
    address = ThreadAddress(platform="web", workspace="local", channel="c", thread=thread)
    return IncomingMessage(address=address, author="ada", text=text, event_key=text, **fields)


@pytest.fixture
def desk() -> Conversations:
    return Conversations(Stores().conversations, ManualClock())


async def test_a_thread_has_one_conversation_titled_by_its_first_question(desk: Conversations) -> None:
    first = await desk.open(message("Where is the key?\nI lost mine."))
    again = await desk.open(message("And the lock?"))

    assert (first.title, again.id) == ("Where is the key?", first.id)
    assert (await desk.open(message(thread="t2"))).id != first.id


async def test_a_conversation_is_resumed_by_its_id_from_elsewhere(desk: Conversations) -> None:
    first = await desk.open(message())

    assert (await desk.open(message(thread="t9", conversation_id=first.id))).id == first.id


async def test_a_conversation_without_title_takes_it_from_the_first_question_recorded(desk: Conversations) -> None:
    conversation = await desk.create(message())
    await desk.record(conversation, [build_message(content="> # How do I begin?", conversation_id=conversation.id)])

    assert (await desk.show(conversation.id, "local"))[0].title == "How do I begin?"


async def test_renaming_cuts_to_a_line_and_refuses_blanks(desk: Conversations) -> None:
    conversation = await desk.open(message())
    renamed = await desk.rename(conversation.id, "local", "Keys\nand " + "x" * 200)

    assert len(renamed.title) <= TITLE_LENGTH
    with pytest.raises(BadInput, match="empty"):
        await desk.rename(conversation.id, "local", "  ")


@pytest.mark.parametrize("workspace", ["local", "other"])
async def test_deleting_asks_for_the_workspace(desk: Conversations, workspace: str) -> None:
    conversation = await desk.open(message())
    if workspace == "other":
        with pytest.raises(NotFound):
            await desk.delete(conversation.id, workspace)
        assert len(await desk.list_conversations("local")) == 1
    else:
        await desk.delete(conversation.id, workspace)
        assert await desk.list_conversations("local") == []


def test_titles_are_the_first_line_without_marks() -> None:
    assert title_from("\n## What is new?\nmore") == "What is new?"


def focus(*sections: str, minutes: int = 0) -> Focus:
    return Focus(
        document_id="d1", document="a.md", title="A", sections=sections, touched_at=NOON - timedelta(minutes=minutes)
    )


@pytest.mark.parametrize(("minutes", "lives"), [(0, True), (30, True), (31, False)])
def test_a_focus_idles_out_after_half_an_hour(minutes: int, lives: bool) -> None:
    assert (live_focus(focus(minutes=minutes), NOON) is not None) is lives


def test_the_focus_is_the_document_of_most_footnotes() -> None:
    citations = [
        build_citation("d2", page_id="x"),
        build_citation("d1", page_id="p1"),
        build_citation("d1", page_id="p2"),
    ]
    found = next_focus(None, citations, NOON)

    assert found is not None
    assert (found.document_id, found.sections) == ("d1", ("p1", "p2"))


def test_sections_of_the_same_document_stay_behind_the_new_ones_up_to_a_bound() -> None:
    before = focus(*(f"old{n}" for n in range(9)))
    found = next_focus(before, [build_citation("d1", page_id="new")], NOON)

    assert found is not None
    assert found.sections == ("new", "old0", "old1", "old2", "old3")
    assert len(found.sections) == FOCUS_SECTIONS


def test_an_answer_without_footnotes_keeps_a_live_focus_awake() -> None:
    touched = next_focus(focus("p1", minutes=20), [], NOON)

    assert touched is not None
    assert touched.touched_at == NOON
    assert next_focus(focus("p1", minutes=40), [], NOON) == focus("p1", minutes=40)


async def test_a_message_is_found_with_its_conversation_in_its_own_workspace_alone(desk: Conversations) -> None:
    conversation = await desk.create(message(), title="Keys")
    await desk.record(conversation, [build_message("m1")])

    found, stored = await desk.message("m1", "local")
    assert (found.id, stored.id, stored.content) == (conversation.id, "m1", "Where is the key?")
    for message_id, workspace in [("m2", "local"), ("m1", "elsewhere")]:
        with pytest.raises(NotFound):
            await desk.message(message_id, workspace)


async def test_messages_can_be_taken_out_of_the_history(desk: Conversations) -> None:
    conversation = await desk.create(message())
    await desk.record(conversation, [build_message("m1"), build_message("m2")])
    await desk.forget(conversation, ["m1", "unknown"])

    _, left = await desk.show(conversation.id, "local")
    assert [stored.id for stored in left] == ["m2"]


async def test_who_keeps_more_of_a_conversation_is_told_when_it_is_deleted() -> None:
    told: list[ThreadAddress] = []

    async def tell(address: ThreadAddress) -> None:
        told.append(address)

    desk = Conversations(Stores().conversations, ManualClock(), tell)
    conversation = await desk.create(message())
    with pytest.raises(NotFound):
        await desk.delete(conversation.id, "elsewhere")
    assert told == []
    await desk.delete(conversation.id, "local")
    assert told == [conversation.address]


async def test_what_nobody_used_for_long_is_deleted_in_its_workspace_alone_and_noted() -> None:
    stores, clock = Stores(), ManualClock()
    desk = Conversations(stores.conversations, clock)
    old = await desk.create(message(thread="old"))
    elsewhere = ThreadAddress(platform="web", workspace="crew", channel="c", thread="old")
    await desk.create(replace(message(), address=elsewhere))
    clock.advance(3600)
    await desk.create(message(thread="new"))
    deleted = await desk.delete_unused("local", clock.now() - timedelta(minutes=30))

    assert deleted == 1
    assert [item.address.thread for item in await desk.list_conversations("local")] == ["new"]
    assert [item.address.thread for item in await desk.list_conversations("crew")] == ["old"]
    [entry] = await stores.audit.newest(None, 10)
    assert (entry.note.actor, entry.note.deed) == ("retention", Deed.CONVERSATION_DELETED)
    assert old.id in entry.note.about


def test_context_expiry() -> None:
    """A journal is taken for follow-ups for half an hour after the last answer from it."""
    cited = next_focus(None, [build_citation("road")], NOON)
    later = next_focus(cited, [], NOON + timedelta(minutes=25))

    assert live_focus(cited, NOON + timedelta(minutes=30)) == cited
    assert live_focus(cited, NOON + timedelta(minutes=30, seconds=1)) is None
    assert live_focus(later, NOON + timedelta(minutes=55)) == later
    assert live_focus(None, NOON) is None
