"""How far people say they have read is remembered; what is no such statement is a question like others."""

import time
from dataclasses import replace
from datetime import timedelta

import pytest

from core.access.positions.statements import read_statement
from core.answering.steps.stated_positions import WHICH_BOOK
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import Focus
from core.domain.incoming import ChannelAddress, Circumstances
from core.domain.service import TO_THE_END, PersonAddress
from core.work.attempts import ONLY_ATTEMPT
from core.work.progress import SilentProgress
from tests.builders import build_conversation
from tests.scripted import says
from tests.unit.core.answering.test_service import SEARCH, Desk, message
from tests.unit.core.library_builder import Shelf

ADA = PersonAddress(workspace="local", person="ada")
EMMA, HOUSE = "local/handbook/emma.md", "local/handbook/house.md"


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    pages = [f"# Chapter {number}: Day {number}\n\nThe key hangs." for number in range(1, 6)]
    await shelf.add("emma.md", *pages, title="Emma")
    await shelf.add("house.md", "# Keys\n\nThe key hangs under the stairs.", title="House")
    return shelf


async def say(shelf: Shelf, text: str, *script: object, desk: Desk | None = None, **fields: object) -> Answer:
    desk = desk or Desk(shelf, *script)
    return await desk.service.answer(message(text, **fields), SilentProgress(), ONLY_ATTEMPT)


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
        f"I've finished chapter 5 of {'a very long book ' * 12}",
        "",
    ],
)
def test_questions_and_sentences_with_more_in_them_are_no_statements(text: str) -> None:
    assert read_statement(text) is None


async def test_a_statement_sets_the_position_of_who_says_it_and_nobody_elses(shelf: Shelf) -> None:
    answer = await say(shelf, "I've finished chapter 2 of Emma")

    assert answer.status is AnswerStatus.ANSWERED
    assert answer.text.startswith("From now on you will see nothing of “Emma” beyond page 2 (Chapter 2: Day 2).")
    assert "only to you" in answer.text and "/position" in answer.text
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
    await shelf.settings.save_position(ADA, HOUSE, 1)
    assert (await say(shelf, "I've finished chapter 3")).text == WHICH_BOOK
    assert await shelf.settings.positions(ADA) == {EMMA: 2, HOUSE: 1}


@pytest.mark.parametrize(("idle", "read"), [(timedelta(minutes=29), {EMMA: 2}), (timedelta(minutes=31), {})])
async def test_without_a_name_the_book_that_was_just_talked_about_is_meant(
    shelf: Shelf, idle: timedelta, read: dict[str, int]
) -> None:
    desk = Desk(shelf)
    focus = Focus(document_id=EMMA, document="emma.md", title="Emma", touched_at=desk.clock.now() - idle)
    await desk.store.add(build_conversation(address=message().address, focus=focus))
    answer = await say(shelf, "I've finished chapter 2", desk=desk)

    assert await shelf.settings.positions(ADA) == read
    assert (answer.text == WHICH_BOOK) is (read == {})


async def test_what_a_conversation_is_kept_to_goes_before_what_it_talked_about_last(shelf: Shelf) -> None:
    desk = Desk(shelf)
    focus = Focus(document_id=HOUSE, document="house.md", title="House", touched_at=desk.clock.now())
    await desk.store.add(build_conversation(address=message().address, focus=focus, pinned_document_id=EMMA))
    await say(shelf, "I've finished chapter 2", desk=desk)

    assert await shelf.settings.positions(ADA) == {EMMA: 2}


async def test_a_name_that_two_books_have_is_asked_about(shelf: Shelf) -> None:
    await shelf.add("second/emma.md", "# Chapter 1\n\nText.", "# Chapter 2\n\nText.", title="Emma")
    answer = await say(shelf, "I've finished chapter 2 of Emma")

    assert answer.status is AnswerStatus.CLARIFY
    assert "second/emma.md" in answer.text and answer.text.endswith(".")
    assert await shelf.settings.positions(ADA) == {}


async def test_a_chapter_that_is_not_there_is_said_and_sets_nothing(shelf: Shelf) -> None:
    await shelf.settings.save_position(ADA, EMMA, 1)
    answer = await say(shelf, "I've finished chapter 9 of Emma")

    assert answer.status is AnswerStatus.CLARIFY and "chapter 9" in answer.text and "Day 5" not in answer.text
    assert await shelf.settings.positions(ADA) == {EMMA: 1}


async def test_what_could_be_meant_instead_is_named_only_as_far_as_its_reader_is(shelf: Shelf) -> None:
    await shelf.add("night.md", "# The Arrival\n\nText.", "# Chapter 8\n\nText.", title="Night")
    told = [await say(shelf, "I've finished chapter 9 of Night")]
    await shelf.settings.save_position(ADA, "local/handbook/night.md", 1)
    told.append(await say(shelf, "I've finished chapter 9 of Night"))

    assert [answer.status for answer in told] == [AnswerStatus.CLARIFY] * 2
    assert ["Chapter 8" in answer.text for answer in told] == [True, False]


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


@pytest.mark.parametrize("words", ["read through ", "in the middle of ", "reading ", "to the end of "])
def test_a_row_of_words_that_say_how_far_stops_nobody(words: str) -> None:
    started = time.process_time()
    assert read_statement(("I have " + words * 40)[:199] + "?") is None
    assert time.process_time() - started < 1.0
