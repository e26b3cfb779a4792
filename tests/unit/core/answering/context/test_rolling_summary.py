from dataclasses import replace

import pytest

from core.answering.context import (
    BEGINNING,
    FOLDED_TURNS,
    KEPT_TURNS,
    LineSummariser,
    ModelSummariser,
    RollingSummary,
    estimate_tokens,
)
from core.domain.jobs import JobKind, JobStatus
from core.domain.replies import ChatResponse, CitedText
from core.errors import ProviderError
from core.work.steps import NO_STEPS, Steps
from tests.builders import build_citation, build_conversation
from tests.fakes import ManualClock
from tests.scripted import ScriptedProvider
from tests.stores import Stores
from tests.unit.core.answering.context.history import answered, asked, passages, texts, turns_of
from tests.unit.core.library_builder import Shelf

PLENTY = 100_000
FIRST_FOLD = KEPT_TURNS + FOLDED_TURNS


def reply(text: str) -> ChatResponse:
    return ChatResponse(segments=(CitedText(text=text),))


class Room:
    """The strategy over a library and a conversation that is there."""

    def __init__(self, shelf: Shelf, *script: ChatResponse | ProviderError) -> None:
        self.shelf = shelf
        self.summaries = shelf.stores.summaries
        self.model = ScriptedProvider(script)
        self.parent = NO_STEPS

    async def select(self, messages, scope=None, budget=PLENTY):
        strategy = RollingSummary(self.shelf.corpus, self.summaries, self.summariser, self.parent)
        return await strategy.select(messages, scope or self.shelf.scope(), budget)

    def summariser(self, workspace, step):
        return ModelSummariser(self.model, step)


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("a.md", "First a.", title="A")
    await shelf.conversations.add(build_conversation())
    return shelf


async def test_a_short_conversation_stays_as_it_was(shelf):
    room = Room(shelf)
    turns = await room.select(turns_of(FIRST_FOLD - 1))

    assert texts(turns)[0] == "Question 1?"
    assert room.model.requests == []


async def test_earlier_turns_become_one_summary_and_the_newest_stay(shelf):
    room = Room(shelf, reply("They asked four things."))
    turns = await room.select(turns_of(FIRST_FOLD))

    assert texts(turns)[0] == f"{BEGINNING}\nThey asked four things."
    assert texts(turns)[1] == f"Question {FOLDED_TURNS + 1}?"
    assert len(passages(turns)) == 1
    asked_for = room.model.requests[0].messages[0].text
    assert "ada: Question 1?" in asked_for and "Assistant: Answer 4." in asked_for
    assert "Question 5?" not in asked_for


async def test_between_two_folds_the_summary_is_the_same_and_made_once(shelf):
    room = Room(shelf, reply("First notes."))
    beginnings = {
        texts(await room.select(turns_of(count)))[0] for count in range(FIRST_FOLD, FIRST_FOLD + FOLDED_TURNS)
    }

    assert beginnings == {f"{BEGINNING}\nFirst notes."}
    assert len(room.model.requests) == 1


async def test_the_next_summary_goes_on_from_the_last_one(shelf):
    room = Room(shelf, reply("First notes."), reply("Second notes."))
    await room.select(turns_of(FIRST_FOLD))
    turns = await room.select(turns_of(FIRST_FOLD + FOLDED_TURNS))

    assert texts(turns)[0] == f"{BEGINNING}\nSecond notes."
    asked_for = room.model.requests[1].messages[0].text
    assert asked_for.startswith("Notes so far:\nFirst notes.")
    assert "Question 1?" not in asked_for and "Question 5?" in asked_for


async def test_who_may_read_less_has_a_summary_of_their_own_without_what_lies_beyond(shelf):
    book = await shelf.add("book.md", "Page one.", "The butler did it.", title="Book")
    beyond = build_citation(document_id=book.id, page_number=2)
    history = [asked("Who?"), answered("The butler.", citations=(beyond,)), *turns_of(FIRST_FOLD)[:-1]]
    room = Room(shelf, reply("It was the butler."), reply("They asked who."))
    open_turns = await room.select(history)
    bound = replace(shelf.scope(), positions={book.id: 1})
    turns = await room.select(history, bound)

    assert "butler" in texts(open_turns)[0]
    assert texts(turns)[0] == f"{BEGINNING}\nThey asked who."
    assert "butler" not in room.model.requests[1].messages[0].text


@pytest.mark.parametrize("place", [0, 2])
async def test_what_was_edited_or_taken_away_since_is_in_no_summary(shelf, place):
    room = Room(shelf, reply("They told a secret."), reply("They asked."))
    history = turns_of(FIRST_FOLD)
    before = [*history[:place], replace(history[place], content="My secret is 7."), *history[place + 1 :]]
    await room.select(before)
    turns = await room.select(history)

    assert texts(turns)[0] == f"{BEGINNING}\nThey asked."
    assert "secret" not in room.model.requests[1].messages[0].text


async def test_without_a_summary_the_newest_turns_go_alone_and_the_step_says_why(shelf):
    room = Room(shelf, ProviderError("The model is busy."))
    jobs = Stores().jobs
    steps = Steps(jobs, ManualClock(), "local", lambda job: None)
    async with steps.step(JobKind.REQUEST, "answer", input={}) as room.parent:
        turns = await room.select(turns_of(FIRST_FOLD))

    assert texts(turns)[0] == "Question 1?"
    [failed] = [job for job in steps.jobs if job.name == "summarise earlier questions"]
    assert (failed.status, failed.error) == (JobStatus.FAILED, "The model is busy.")


async def test_the_budget_holds_with_a_long_summary(shelf):
    room = Room(shelf, reply("word " * 5_000))
    turns = await room.select(turns_of(FIRST_FOLD, words=30), budget=800)

    assert sum(map(estimate_tokens, turns)) <= 800
    assert len(texts(turns)[0]) <= 800 + len(BEGINNING) + 1  # a quarter of the budget in bytes


async def test_by_rule_each_question_is_a_line_with_the_beginning_of_its_answer(shelf):
    strategy = RollingSummary(shelf.corpus, shelf.stores.summaries, lambda *_: LineSummariser())
    turns = await strategy.select(turns_of(FIRST_FOLD), shelf.scope(), PLENTY)
    tight = await strategy.select(turns_of(FIRST_FOLD + FOLDED_TURNS), shelf.scope(), 300)

    assert texts(turns)[0].splitlines()[1:] == [f"- Question {n}? → Answer {n}." for n in range(1, FOLDED_TURNS + 1)]
    assert "Question 8? → Answer 8." in texts(tight)[0]
