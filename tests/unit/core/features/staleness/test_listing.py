"""/stale lists the stale answers of where it is given, and asks one of them again."""

from typing import Any

import pytest

from core.domain.conversation import Conversation
from core.errors import BadInput
from core.features.staleness.stale_answers import LISTED, stale_command
from core.work.commands import CommandCall, CommandResult
from tests.builders import build_message
from tests.unit.core.features.staleness.test_stale_answers import Place


@pytest.fixture
async def place() -> Place:
    place = Place()
    await place.write("under the mat, in the shed")
    return place


async def run(place: Place, conversation: Conversation | None, number: str = "", **fields: Any) -> CommandResult:
    command = stale_command(place.staleness(), place.access, place.corpus)
    options = {"number": number} if number else {}
    call = CommandCall(
        name="stale", options=options, workspace="local", conversation=conversation, author="ada", **fields
    )
    return await command.run(call)


async def test_the_answers_of_the_conversation_are_listed_with_what_became_of_them(place: Place) -> None:
    here, _ = await place.begin("c1"), await place.begin("c2")
    assert "No stale answers" in (await run(place, here)).text
    await place.ask("c1", 1, "under the mat", "in the shed")
    await place.ask("c2", 2, "under the mat")
    await place.write("in the shed")

    lines = (await run(place, here)).text.splitlines()
    assert lines[0] == "1. Question 1?: “Guide” no longer says what footnote 1 quotes"
    assert lines[1:] == ["", "Ask one again with /stale and its number."]
    everywhere = (await run(place, None, sees_all=True)).text
    assert "Question 1?" in everywhere and "Question 2?" in everywhere
    with pytest.raises(BadInput, match="needs a conversation"):
        await run(place, None)


async def test_a_document_that_is_closed_here_has_no_name(place: Place) -> None:
    here = await place.begin("c1")
    await place.ask("c1", 1, "under the mat", "in the shed")
    await place.write("in the shed")
    await place.close()

    lines = (await run(place, here, address=here.address)).text.splitlines()
    assert lines[0] == "1. Question 1?: a document no longer says what footnote 1 quotes"


async def test_a_long_list_is_cut(place: Place) -> None:
    here = await place.begin("c1")
    for number in range(LISTED + 2):
        await place.ask("c1", number, "under the mat")
    await place.write()
    lines = (await run(place, here)).text.splitlines()
    assert lines[LISTED] == "- and 2 more"


@pytest.mark.parametrize(("thread", "is_private"), [("c1", False), ("private:ada", True)])
async def test_one_is_asked_again_where_it_was_answered(place: Place, thread: str, is_private: bool) -> None:
    here = await place.begin(thread)
    await place.ask(thread, 1, "under the mat")
    await place.ask(thread, 2, "under the mat")
    await place.write("nothing")
    asked = (await run(place, here, "2")).ask
    assert asked is not None
    assert (asked.text, asked.private) == ("Question 2?", is_private)


@pytest.mark.parametrize("number", ["0", "3", "x", "²"])
async def test_a_number_that_is_none_is_one_clear_sentence(place: Place, number: str) -> None:
    here = await place.begin("c1")
    await place.ask("c1", 1, "under the mat")
    await place.write("nothing")
    with pytest.raises(BadInput, match="/stale to list them"):
        await run(place, here, number)


async def test_an_answer_whose_question_was_removed_is_listed_and_not_asked(place: Place) -> None:
    here = await place.begin("c1")
    await place.conversations.append("c1", [build_message("talk", "Hello")])
    await place.ask("c1", 1, "under the mat")
    await place.conversations.remove_messages("c1", ["talk", "c1-q1"])
    await place.write("nothing")
    assert "(its question was removed)" in (await run(place, here)).text
    with pytest.raises(BadInput, match="your own words"):
        await run(place, here, "1")
