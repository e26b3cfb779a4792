import pytest

from core.answering.run import Budget
from core.answering.strategies.tool_use import ToolUseStrategy
from core.domain.answer import QueryType
from core.domain.chat import (
    Capabilities,
    ChatMessage,
    ChatRole,
    NumberedPassage,
    ToolChoice,
    ToolInvocation,
    ToolResult,
)
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.errors import UnsupportedFeature
from tests.fakes import ManualClock, RecordingProgress
from tests.scripted import ScriptedProvider, calls, says, text_of
from tests.unit.core.library_builder import Shelf


def question(text: str = "Where is the key?", **fields: object) -> IncomingMessage:
    address = ThreadAddress(platform="terminal", workspace="local", channel="chat", thread="t")
    return IncomingMessage(address=address, author="ada", text=text, event_key="e", **fields)


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("keys.md", "The key is under the mat.", title="Keys")
    return shelf


def strategy(provider: ScriptedProvider) -> ToolUseStrategy:
    return ToolUseStrategy(provider, Budget(), ManualClock())


async def test_the_model_gets_prompt_history_question_and_model_of_choice(shelf):
    provider = ScriptedProvider([says("Under the mat.")])
    history = [ChatMessage(role=ChatRole.USER, text="Hi"), ChatMessage(role=ChatRole.ASSISTANT, text="Hello")]
    asked = question(model="m-2", query_type=QueryType.SUMMARY)
    draft = await strategy(provider).draft(asked, history, shelf.toolbox(), RecordingProgress())
    (request,) = provider.requests
    assert [message.text for message in request.messages] == ["Hi", "Hello", "Where is the key?"]
    assert request.model == draft.model == "m-2"
    assert "You are Footnote" in request.system and "A summary is wanted" in request.system


async def test_passages_of_earlier_turns_are_evidence_and_keep_their_numbers(shelf):
    (known,) = await shelf.corpus.list_page_passages("local/handbook/keys.md@r1#1", shelf.scope())
    call = ToolInvocation(id="c1", name="search", arguments={"query": "key"})
    shown = ToolResult(invocation_id="c1", name="search", text="", passages=(NumberedPassage(number=1, source=known),))
    history = [
        ChatMessage(role=ChatRole.USER, text="Which key?"),
        ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=(call,)),
        ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=(shown,)),
        ChatMessage(role=ChatRole.ASSISTANT, text="The silver one."),
    ]
    provider = ScriptedProvider([calls(call), says("Under the mat [1].")])
    draft = await strategy(provider).draft(question(), history, shelf.toolbox(), RecordingProgress())
    assert draft.evidence.by_number(1).source == known
    assert len(draft.evidence.passages) == 1
    assert draft.new_messages[0].tool_invocations[0].id == "c1-1"  # the id of history is taken


async def test_a_provider_without_tools_is_refused_with_what_to_do(shelf):
    provider = ScriptedProvider([], name="plain", capabilities=Capabilities(tools=False))
    with pytest.raises(UnsupportedFeature, match="'plain' can't call tools: choose another provider"):
        await strategy(provider).draft(question(), [], shelf.toolbox(), RecordingProgress())


async def test_it_stays_within_its_budget_and_what_it_says_is_seen_as_it_is_written(shelf):
    call = ToolInvocation(id="c1", name="search", arguments={"query": "key"})
    provider, progress = ScriptedProvider([calls(call), says("Under the mat [1].")]), RecordingProgress()
    bounded = ToolUseStrategy(provider, Budget(steps=1), ManualClock())
    draft = await bounded.draft(question(), [], shelf.toolbox(), progress)
    assert [request.tool_choice for request in provider.requests] == [ToolChoice.AUTO, ToolChoice.AUTO]
    assert provider.requests[1].messages[-1].text.startswith("The limit of 1 step ")
    assert (draft.partial, text_of(draft), progress.shown) == (True, "Under the mat [1].", "Under the mat [1].")
