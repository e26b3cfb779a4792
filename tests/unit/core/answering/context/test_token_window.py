import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.answering.context import FullHistoryCapped, TokenWindow, estimate_tokens
from core.domain.chat import ChatMessage, ChatRequest, ChatRole, ToolDefinition
from tests.scripted import check_request
from tests.unit.core.answering.context.history import A, answered, asked, passage, passages, texts, tools, turns_of
from tests.unit.core.library_builder import Shelf

NEXT = ChatMessage(role=ChatRole.USER, text="And now?")
SEARCH = ToolDefinition(name="search", description="d", parameters={"type": "object"})


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("a.md", "First a. " + "Word " * 300, title="A")
    return shelf


async def test_only_the_newest_turn_keeps_its_passages(shelf):
    turns = await TokenWindow(shelf.corpus).select(turns_of(3), shelf.scope(), 10_000)

    assert texts(turns) == ["Question 1?", "Answer 1.", "Question 2?", "Answer 2.", "Question 3?", "Answer 3."]
    assert [number for number, _ in passages(turns)] == [1]
    assert turns[2].tool_results[0].text == '(Shown then: "A" page 1. Call again to read it.)'


async def test_what_people_say_since_leaves_the_last_answer_its_passages(shelf):
    talk = [asked("No, that was Jonas.", "ben"), asked("Poor Jonas!", "cleo")]
    turns = await TokenWindow(shelf.corpus).select([*turns_of(2), *talk], shelf.scope(), 10_000)

    assert texts(turns)[-2:] == ["No, that was Jonas.", "Poor Jonas!"]
    assert [number for number, _ in passages(turns)] == [1]


async def test_the_same_budget_reaches_further_back_than_the_full_history(shelf):
    history = turns_of(30, words=40)
    full = await FullHistoryCapped(shelf.corpus).select(history, shelf.scope(), 4_000)
    window = await TokenWindow(shelf.corpus).select(history, shelf.scope(), 4_000)

    assert len(texts(window)) > 2 * len(texts(full))


async def test_passages_of_the_newest_turn_go_before_the_turn_does(shelf):
    turns = await TokenWindow(shelf.corpus).select(turns_of(2), shelf.scope(), 120)

    assert "Question 2?" in texts(turns)
    assert passages(turns) == []


async def test_a_turn_that_is_too_long_alone_is_cut(shelf):
    turns = await TokenWindow(shelf.corpus).select([asked("why " * 500)], shelf.scope(), 50)

    assert [len(turn.text) < 200 for turn in turns] == [True]


@settings(max_examples=30, deadline=None)
@given(counts=st.lists(st.integers(1, 60), max_size=8), budget=st.integers(60, 3_000))
async def test_it_never_costs_more_than_its_budget_and_can_be_sent(counts, budget):
    shelf = Shelf()
    await shelf.add("a.md", "First a. " + "Word " * 300, title="A")
    history = [
        message
        for place, words in enumerate(counts)
        for message in (
            asked(f"{place} " + "q " * words),
            tools(f"c{place}", passage(A)),
            answered(f"{place} " + "a " * words),
        )
    ]
    turns = await TokenWindow(shelf.corpus).select(history, shelf.scope(), budget)

    assert sum(map(estimate_tokens, turns)) <= budget
    check_request(ChatRequest(system="s", messages=(*turns, NEXT), tools=(SEARCH,)))
