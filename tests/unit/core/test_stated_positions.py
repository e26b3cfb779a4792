"""How far people say they have read is remembered; what is no such statement is a question like others."""

from dataclasses import replace

import pytest

from core.attempts import ONLY_ATTEMPT
from core.conversations import Conversations
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import Circumstances
from core.domain.settings import TO_THE_END, ChannelAddress, PersonAddress
from core.progress import SilentProgress
from core.providers.scripted import says
from core.stated_positions import WHICH_BOOK, StatedPositions, read_statement
from tests.unit.core.shelf import Shelf
from tests.unit.core.test_answering import SEARCH, Desk, message

ADA = PersonAddress(workspace="local", person="ada")
EMMA = "local/handbook/emma.md"


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    pages = [f"# Chapter {number}: Day {number}\n\nThe key hangs." for number in range(1, 6)]
    await shelf.add("emma.md", *pages, title="Emma")
    await shelf.add("house.md", "# Keys\n\nThe key hangs under the stairs.", title="House")
    return shelf


async def say(shelf: Shelf, text: str, *script: object, **fields: object) -> Answer:
    desk = Desk(shelf, *script)
    stated = StatedPositions(
        desk.service,
        settings=shelf.settings,
        library=shelf.library,
        corpus=shelf.corpus,
        conversations=Conversations(desk.store, desk.clock),
        access=shelf.access,
        clock=desk.clock,
    )
    return await stated.answer(message(text, **fields), SilentProgress(), ONLY_ATTEMPT)


@pytest.mark.parametrize(
    ("text", "place", "book"),
    [
        ("I've finished chapter 5 of Emma", "I've finished chapter 5", "Emma"),
        ("ok, I’m in the middle of chapter seven.", "I’m in the middle of chapter seven", None),
        ("We are on page 120 of “The Lighthouse”!", "We are on page 120", "The Lighthouse"),
        ("Finished part II, chapter 3 of the book Emma", "Finished part II, chapter 3", "Emma"),
        ("I have finished Emma.", "the end", "Emma"),
    ],
)
def test_a_statement_says_how_far_and_in_what(text: str, place: str, book: str | None) -> None:
    found = read_statement(text)
    assert found is not None and (found.place, found.book) == (place, book)


@pytest.mark.parametrize(
    "text",
    [
        "Have I finished chapter 5 of Emma?",
        "I've finished chapter 5 of Emma, what happened to Harriet?",
        "What happens in chapter 5 of Emma",
        "Summarise chapter 2",
        "Chapter 5 of Emma",
        "I think chapter 5 of Emma is long",
        "I've finished 5 of the reports",
        "I've finished chapter 5 of Emma\nand more",
        "In chapter 5, who is Bob",
        "",
    ],
)
def test_questions_and_sentences_with_more_in_them_are_no_statements(text: str) -> None:
    assert read_statement(text) is None


async def test_a_statement_sets_the_position_of_who_says_it_and_nobody_elses(shelf: Shelf) -> None:
    answer = await say(shelf, "I've finished chapter 2 of Emma")

    assert answer.status is AnswerStatus.ANSWERED
    assert answer.text.startswith("From now on you will see nothing of “Emma” beyond page 2 (Chapter 2: Day 2).")
    assert "for you alone" in answer.text and "/position" in answer.text
    assert await shelf.settings.positions(ADA) == {EMMA: 2}
    assert await shelf.settings.positions(ChannelAddress.of(message().address)) == {}


async def test_in_a_chapter_means_up_to_the_page_before_it(shelf: Shelf) -> None:
    await say(shelf, "I'm in the middle of chapter 3 of Emma", circumstances=Circumstances(direct=True))
    assert await shelf.settings.positions(ADA) == {EMMA: 2}


async def test_without_a_name_the_one_book_with_a_position_is_meant(shelf: Shelf) -> None:
    assert (await say(shelf, "I've finished chapter 2")).text == WHICH_BOOK
    await shelf.settings.save_position(ADA, EMMA, 1)
    await say(shelf, "I've finished chapter 2")

    assert await shelf.settings.positions(ADA) == {EMMA: 2}


async def test_a_chapter_that_is_not_there_is_said_and_sets_nothing(shelf: Shelf) -> None:
    await shelf.settings.save_position(ADA, EMMA, 1)
    answer = await say(shelf, "I've finished chapter 9 of Emma")

    assert answer.status is AnswerStatus.CLARIFY and "chapter 9" in answer.text and "Day 5" not in answer.text
    assert await shelf.settings.positions(ADA) == {EMMA: 1}


async def test_a_channel_that_has_read_less_is_told_no_title(shelf: Shelf) -> None:
    await shelf.settings.save_position(ChannelAddress.of(message().address), EMMA, 1)
    answer = await say(shelf, "I've finished chapter 4 of Emma")

    assert "beyond page 4." in answer.text and "Day" not in answer.text


async def test_a_finished_book_opens_only_where_a_position_was_kept(shelf: Shelf) -> None:
    answer = await say(shelf, "I've finished Emma", SEARCH, says("The key hangs [1]."))
    assert answer.citations and await shelf.settings.positions(ADA) == {}
    await shelf.settings.save_position(ADA, EMMA, 2)
    answer = await say(shelf, "I've finished Emma", thread="t2")

    assert answer.text.startswith("You may see all of “Emma”.")
    assert await shelf.settings.positions(ADA) == {EMMA: TO_THE_END}


async def test_what_is_no_book_here_is_a_question_like_others(shelf: Shelf) -> None:
    answer = await say(shelf, "I've finished chapter 2 of Middlemarch", SEARCH, says("The key hangs [1]."))

    assert answer.citations and await shelf.settings.positions(ADA) == {}
    assert replace(answer, jobs=()).status is AnswerStatus.ANSWERED
