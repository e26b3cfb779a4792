"""Recaps: numbers of many answers in one row, what may be read, what a writer may get wrong."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from core.answering.support.check import SupportCheck
from core.domain.answer import Citation
from core.domain.conversation import Message, Role
from core.domain.incoming import ThreadAddress
from core.domain.spending import CallPurpose
from core.errors import InvalidState
from core.features.recap import Recaps, RecapTurn, quote_lines
from core.work.commands import CommandCall
from core.work.spending import MeteredProvider, Spending
from storage.database.repositories.spending import SqlSpendingStore
from tests.builders import build_citation, build_conversation, build_message
from tests.fakes import ManualClock
from tests.scripted import ScriptedProvider, says
from tests.unit.core.answering.providers.extractive.small_library import NearModel
from tests.unit.core.library_builder import QUOTING, Shelf

FIRST, SECOND = "The key hangs under the stairs.", "The shed is green."


class Room:
    """A library of two pages, and a conversation about them."""

    def __init__(self, shelf: Shelf, *written: str) -> None:
        self.shelf = shelf
        self.model = ScriptedProvider([says(text) for text in written])
        provider = self.model if written else QUOTING
        self.recaps = Recaps(shelf.corpus, shelf.stores.summaries, lambda _: provider, SupportCheck(NearModel()))

    async def recap(self, *messages: Message, positions: dict[str, int] | None = None):
        scope = replace(self.shelf.scope(), positions=positions or {})
        return await self.recaps.recap(build_conversation(), messages, scope)

    async def cite(self, number: int, page: int) -> Citation:
        """A footnote on the first sentence of a page."""
        [document] = await self.shelf.corpus.list_documents("local")
        found = await self.shelf.corpus.find_page(document.id, page, self.shelf.scope())
        assert found is not None
        [passage] = await self.shelf.corpus.list_page_passages(found.id, self.shelf.scope())
        return build_citation(
            document_id=document.id,
            document=document.path,
            number=number,
            page_id=found.id,
            page_number=page,
            quote=passage.passage.text,
            span=passage.passage.span,
            revision=found.revision,
            passage_id=passage.passage.id,
        )


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("house.md", FIRST, SECOND, title="House")
    await shelf.conversations.add(build_conversation())
    return shelf


def said(place: int, question: str, answer: str, *citations: Citation) -> tuple[Message, Message]:
    return (
        build_message(f"q{place}", question),
        build_message(f"a{place}", answer, role=Role.ASSISTANT, author="footnote", citations=citations),
    )


async def three_turns(room: Room) -> Sequence[Message]:
    shed = (await room.cite(1, 2), await room.cite(2, 1))
    return (
        *said(1, "Where is the key? [2]", "Well. Under the stairs.[1] More.", await room.cite(1, 1)),
        *said(2, "And the shed?", "It is green.[1] The key is under the stairs.[2]", *shed),
        *said(3, "Thanks!", "You are welcome: `a[1]`, [9]."),
    )


async def test_footnotes_of_all_answers_stand_in_one_row_and_each_once(shelf):
    room = Room(shelf)
    told = await room.recap(*await three_turns(room))

    assert told.text.splitlines() == [
        "- **Where is the key?** Under the stairs.[1]",
        "- **And the shed?** It is green.[2]",
        "- **Thanks!** You are welcome: `a[1]`, .",
    ]
    assert [(item.number, item.quote) for item in told.citations] == [(1, FIRST), (2, SECOND)]


async def test_a_model_writes_and_its_markers_are_proved(shelf):
    room = Room(shelf, "- The shed is green [2].\n- The key is under the stairs [1][7].")
    told = await room.recap(*await three_turns(room))

    assert "green[1]." in told.text
    assert [(item.number, item.quote) for item in told.citations] == [(1, SECOND), (2, FIRST)]
    asked = room.model.requests[0].messages[0].text
    assert "It is green.[2] The key is under the stairs.[1]" in asked
    assert "Where is the key?\n" in asked


async def test_a_number_that_is_no_footnote_is_not_shown_as_one(shelf):
    room = Room(shelf, "Red [9]. The shed is green [2]. See `x[9]`, [12][13] and [0].")
    told = await room.recap(*await three_turns(room))

    assert told.text == "Red. The shed is green[1]. See `x[9]`, and."
    assert len(told.citations) == 1


@pytest.mark.parametrize("written", ["Nothing of note.", " "])
async def test_a_model_that_drops_all_footnotes_is_not_believed(shelf, written):
    room = Room(shelf, written)
    told = await room.recap(*await three_turns(room))

    assert [item.number for item in told.citations] == [1, 2]


async def test_a_model_that_contradicts_a_footnote_is_not_believed(shelf):
    room = Room(shelf, "- The shed is not green [2].\n- The key hangs under the stairs [1].")
    told = await room.recap(*await three_turns(room))

    assert "not green" not in told.text
    assert "It is green.[2]" in told.text


async def test_it_is_written_once_until_something_new_is_said(shelf):
    room = Room(shelf, "Under the stairs [1].", "Green [2].")
    messages = await three_turns(room)
    first, again = await room.recap(*messages), await room.recap(*messages)
    later = await room.recap(*messages, *said(4, "So?", "So."))

    assert first == again
    assert later.text.startswith("Green")
    assert len(room.model.requests) == 2


async def test_an_earlier_answer_that_changed_or_went_is_told_anew(shelf):
    """Numbers of a kept recap would stand for other footnotes, and it would tell what its author took away."""
    room = Room(shelf, "Under the stairs [1].", "Green [1].", "Only thanks.")
    first, second, last = (await three_turns(room))[:2], (await three_turns(room))[2:4], said(3, "Thanks!", "Bye.")
    await room.recap(*first, *second, *last)
    edited = replace(first[1], content="No idea.", citations=())
    told = await room.recap(first[0], edited, *second, *last)
    gone = await room.recap(*last)

    assert "stairs" not in told.text
    assert [(item.number, item.quote) for item in told.citations] == [(1, SECOND)]
    assert (gone.text, gone.citations) == ("Only thanks.", ())


async def test_what_rests_on_a_document_that_was_removed_is_told_no_more(shelf):
    room = Room(shelf, "Under the stairs [1].", "There was talk of a shed.")
    messages = (*await three_turns(room), *said(4, "Bye", "Bye."))
    await room.recap(*messages)
    [document] = await shelf.corpus.list_documents("local")
    await shelf.corpus.remove_documents([document.id])
    told = await room.recap(*messages)

    assert "stairs" not in told.text
    assert "stairs" not in room.model.requests[1].messages[0].text
    assert told.citations == ()


async def test_who_may_read_less_is_told_less_and_the_model_too(shelf):
    room = Room(shelf, "Green [2].", "Under the stairs [1].")
    messages = await three_turns(room)
    await room.recap(*messages)
    [document] = await shelf.corpus.list_documents("local")
    told = await room.recap(*messages, positions={document.id: 1})

    assert [item.page_number for item in told.citations] == [1]
    assert "green" not in room.model.requests[1].messages[0].text
    assert "green" not in told.text.lower()


async def test_what_was_replaced_meanwhile_has_no_footnote(shelf):
    room = Room(shelf)
    messages = await three_turns(room)
    await shelf.add("house.md", "The key is gone.", SECOND, title="House", revision="r2")
    told = await room.recap(*messages)

    assert told.citations == ()
    assert "Under the stairs." in told.text


async def test_nothing_said_is_nothing_to_sum_up(shelf):
    with pytest.raises(InvalidState, match="Nothing was asked here yet"):
        await Room(shelf).recap()


def test_by_rule_a_long_sentence_is_cut_and_keeps_its_markers():
    turn = RecapTurn(asker="ada", question="why " * 100, answer="because " * 100 + "so.[3]")
    line = quote_lines([turn])

    assert len(line) < 450
    assert line.endswith("…[3]")


async def test_a_recap_is_charged_to_the_caller_of_the_command(shelf):
    ledger = SqlSpendingStore(shelf.stores.database, ManualClock())
    spending = Spending(store=ledger, prices={})
    model = MeteredProvider(
        ScriptedProvider([says("Green [2].")]), spending, model="a", max_output_tokens=99, seconds=60
    )
    address = ThreadAddress(platform="slack", workspace="local", channel="C1", thread="1")
    call = CommandCall(name="recap", workspace="local", conversation=None, author="U1", address=address)
    recaps = Recaps(shelf.corpus, shelf.stores.summaries, lambda _: model, SupportCheck(NearModel()))
    messages = await three_turns(Room(shelf))
    await recaps.recap(build_conversation(), messages, shelf.scope(), call.account)

    [line] = (await ledger.report(None, date(2000, 1, 1))).lines
    assert (line.workspace, line.person, line.purpose) == ("local", "slack:U1", CallPurpose.RECAP)
