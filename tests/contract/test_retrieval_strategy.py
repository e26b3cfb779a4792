"""What every RetrievalStrategy promises (core/ports.py), with the shipped tools over a library in memory."""

from collections.abc import Callable, Sequence

import pytest

from core.domain.answer import Draft
from core.domain.chat import (
    Capabilities,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    ChatRole,
    CitedText,
    ToolChoice,
    ToolInvocation,
    Usage,
)
from core.domain.conversation import IncomingMessage, ThreadAddress
from core.domain.corpus import SearchScope
from core.errors import ProviderError, ProviderRateLimited
from core.limits import Budget
from core.ports import ChatProvider, RetrievalStrategy
from core.providers.scripted import ScriptedProvider, Turn, check_request
from core.strategies.facts_first import FactsFirstStrategy
from core.strategies.tool_use import ToolUseStrategy
from tests.fakes import ManualClock, RecordingProgress
from tests.unit.core.shelf import Shelf

Maker = Callable[[ChatProvider, Budget], RetrievalStrategy]

STRATEGIES: dict[str, Maker] = {
    "tool_use": lambda provider, budget: ToolUseStrategy(provider, budget, ManualClock()),
    "facts_first": lambda provider, budget: FactsFirstStrategy(ToolUseStrategy(provider, budget, ManualClock())),
}


@pytest.fixture(params=STRATEGIES)
def make(request: pytest.FixtureRequest) -> Maker:
    return STRATEGIES[request.param]


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("keys.md", "The key is under the mat.", title="Keys")
    return shelf


def search_then_answer(request: ChatRequest) -> ChatResponse:
    """A model that searches once, where it may, and then answers from what it was shown."""
    shown = [item for message in request.messages for result in message.tool_results for item in result.passages]
    usage = Usage(input_tokens=100, output_tokens=10)
    if not shown and request.tools and request.tool_choice is not ToolChoice.NONE:
        call = ToolInvocation(id="c1", name="search", arguments={"query": "key mat"})
        return ChatResponse(tool_invocations=(call,), usage=usage)
    text = f"Under the mat [{shown[0].number}]." if shown else "I did not find it."
    return ChatResponse(segments=(CitedText(text=text),), usage=usage, model="m-1")


def restless(request: ChatRequest) -> ChatResponse:
    """A model that searches for ever, unless it must answer."""
    usage = Usage(input_tokens=100, output_tokens=10)
    if request.tool_choice is ToolChoice.NONE or not request.tools:
        return ChatResponse(segments=(CitedText(text="So far nothing."),), usage=usage)
    call = ToolInvocation(id=f"c{len(request.messages)}", name="search", arguments={"query": "more"})
    return ChatResponse(segments=(CitedText(text="Hm."),), tool_invocations=(call,), usage=usage)


async def draft(
    make: Maker,
    shelf: Shelf,
    script: Sequence[Turn],
    *,
    history: Sequence[ChatMessage] = (),
    budget: Budget | None = None,
    scope: SearchScope | None = None,
) -> tuple[Draft, ScriptedProvider, RecordingProgress]:
    provider = ScriptedProvider(script, capabilities=Capabilities())
    progress = RecordingProgress()
    address = ThreadAddress(platform="terminal", workspace="local", channel="chat", thread="t")
    question = IncomingMessage(address=address, author="ada", text="Where is the key?", event_key="e")
    tools = shelf.toolbox(scope=scope)
    written = await make(provider, budget or Budget()).draft(question, history, tools, progress)
    return written, provider, progress


async def test_it_answers_from_passages_that_are_in_its_evidence(make, shelf):
    written, _, progress = await draft(make, shelf, [search_then_answer] * 4)
    assert written.text == progress.shown == "Under the mat [1]."
    assert written.evidence.by_number(1).source.passage.text == "The key is under the mat."
    assert written.evidence.searches
    assert not written.partial and written.model == "m-1"


async def test_tokens_of_all_requests_are_summed(make, shelf):
    written, provider, _ = await draft(make, shelf, [search_then_answer] * 4)
    count = len(provider.requests)
    assert written.usage == Usage(input_tokens=100 * count, output_tokens=10 * count)


async def test_what_it_leaves_for_history_is_a_prompt_that_models_take(make, shelf):
    written, provider, _ = await draft(make, shelf, [search_then_answer] * 4)
    question = ChatMessage(role=ChatRole.USER, text="Where?")
    tools = provider.requests[0].tools
    check_request(ChatRequest(system="", messages=(question, *written.new_messages, question), tools=tools))
    assert all(turn.native is None for turn in written.new_messages)


@pytest.mark.parametrize("budget", [Budget(steps=2), Budget(tokens=150)], ids=["steps", "tokens"])
async def test_at_a_bound_it_answers_from_what_it_has_and_is_partial(make, shelf, budget):
    written, provider, progress = await draft(make, shelf, [restless] * 9, budget=budget)
    assert written.partial
    assert written.text == progress.shown == "So far nothing."
    assert len(provider.requests) <= 3


async def test_a_providers_error_is_raised_as_it_is(make, shelf):
    with pytest.raises(ProviderRateLimited):
        await draft(make, shelf, [ProviderRateLimited("Slow down.", retry_after_seconds=3)] * 3)


async def test_an_empty_answer_is_an_error_and_never_a_draft(make, shelf):
    with pytest.raises(ProviderError, match="empty answer"):
        await draft(make, shelf, [ChatResponse()] * 5)


async def test_history_goes_before_the_question(make, shelf):
    history = [ChatMessage(role=ChatRole.USER, text="Hello"), ChatMessage(role=ChatRole.ASSISTANT, text="Hi")]
    _, provider, _ = await draft(make, shelf, [search_then_answer] * 4, history=history)
    texts = [message.text for message in provider.requests[-1].messages if message.text]
    assert texts[:2] == ["Hello", "Hi"] and "Where is the key?" in texts[2]


async def test_outside_the_scope_there_is_no_evidence(make, shelf):
    nothing = SearchScope(workspace="local", sources=frozenset())
    written, _, _ = await draft(make, shelf, [restless] * 9, budget=Budget(steps=2), scope=nothing)
    assert not written.evidence.passages and written.evidence.searches
