"""What is its own: the queries it makes, and what a model without tools is given (the rest: the contract test)."""

import pytest

from core.answering.run import Budget
from core.answering.strategies.always_retrieve import LONGEST_QUERY, MOST_QUERIES, AlwaysRetrieveStrategy
from core.domain.chat import Capabilities, ChatMessage, ChatRole
from tests.builders import build_incoming
from tests.fakes import ManualClock, RecordingProgress
from tests.librarian import said
from tests.scripted import ScriptedProvider, calls, text_of
from tests.unit.core.library_builder import Shelf

PLAIN = Capabilities(tools=False, context_tokens=4_000)
HISTORY = (ChatMessage(role=ChatRole.USER, text="What hangs?"), ChatMessage(role=ChatRole.ASSISTANT, text="The lamp."))


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("lamp.md", "The lamp hangs in the hall.", title="Lamp")
    return shelf


async def ask(shelf: Shelf, *script: object, capabilities: Capabilities = PLAIN, history: object = HISTORY):
    provider = ScriptedProvider(script, capabilities=capabilities)
    strategy = AlwaysRetrieveStrategy(provider, Budget(), ManualClock())
    question = build_incoming("Where does it hang?")
    return await strategy.draft(question, history, shelf.toolbox(), RecordingProgress()), provider


async def test_lines_are_queries_without_bullets_quotes_and_repeats(shelf):
    lines = f'1. lamp hall\n- "lamp hall"\n\n* where lamp\n{"x" * 400}\n• fourth'
    draft, _ = await ask(shelf, said(lines), said("In the hall [1]."))
    asked = [call.arguments["query"] for call in draft.new_messages[0].tool_invocations]
    assert asked == ["lamp hall", "where lamp", "x" * LONGEST_QUERY] and len(asked) == MOST_QUERIES


async def test_a_model_without_tools_gets_passages_as_text_and_no_tool_turn(shelf):
    draft, provider = await ask(shelf, said("lamp hall"), said("In the hall [1]."))
    queries, answer = provider.requests
    assert queries.tools == answer.tools == ()
    last = answer.messages[-1].text
    assert '[1] "Lamp" (lamp.md), page 1' in last and last.endswith("Question: Where does it hang?")
    assert [turn.text for turn in answer.messages[:-1]] == ["What hangs?", "The lamp."]
    assert text_of(draft) == "In the hall [1]."


async def test_a_first_question_is_searched_for_as_it_stands_with_no_request_for_it(shelf):
    draft, provider = await ask(shelf, said("Nowhere."), history=())
    assert len(provider.requests) == 1
    assert draft.evidence.searches == ("Where does it hang?",)


async def test_where_no_query_comes_the_question_itself_is_searched_for(shelf):
    draft, _ = await ask(shelf, said("..."), said("Nowhere."))
    assert draft.evidence.searches == ("Where does it hang?",)
    draft, _ = await ask(shelf, calls(), said("Nowhere."), capabilities=Capabilities())
    assert draft.evidence.searches == ("Where does it hang?",)


async def test_where_nothing_is_found_the_model_is_told(shelf):
    _, provider = await ask(shelf, said("zebra"), said("I did not find it."))
    assert "Nothing was found." in provider.requests[-1].messages[-1].text
