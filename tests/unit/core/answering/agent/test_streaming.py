"""People see the answer as it grows, and nothing of what stands before a tool call."""

from collections.abc import Callable

import pytest

from core.answering.agent.turns import HELD_AFTER_RESULTS, HELD_CHARACTERS, HeldText, held_characters
from core.answering.run import Budget, Meter
from core.answering.strategies.tool_use import AgentLoop
from core.domain.chat import ChatMessage, ChatRequest, ChatRole, ToolChoice, ToolDefinition, ToolInvocation, ToolResult
from core.domain.replies import ChatResponse
from core.errors import ProviderBadRequest, ProviderConnectionError, ProviderError
from tests.fakes import ManualClock, RecordingProgress
from tests.scripted import ScriptedProvider, calls, says, text_of
from tests.unit.core.library_builder import Shelf

LONG = "The key hangs under the stairs, as everybody in the house has known for years. " * 3


def test_short_text_is_held_until_the_turn_is_an_answer() -> None:
    progress = RecordingProgress()
    held = HeldText(progress)
    held("Let me ")
    held("look.")

    assert progress.shown == ""
    held.release()
    assert progress.shown == "Let me look."


TOOL = ToolDefinition(name="search", description="Search.", parameters={})
ASKED = ChatMessage(role=ChatRole.USER, text="Where is the key?")
RESULT = ToolResult(invocation_id="t1", name="search", text="Under the stairs.")
FOUND = ChatMessage(role=ChatRole.USER, tool_results=(RESULT,))


@pytest.mark.parametrize(
    ("messages", "tools", "choice", "held"),
    [
        ((ASKED,), (TOOL,), ToolChoice.AUTO, HELD_CHARACTERS),
        ((ASKED, FOUND), (TOOL,), ToolChoice.AUTO, HELD_AFTER_RESULTS),
        ((ASKED, FOUND, ASKED), (TOOL,), ToolChoice.AUTO, HELD_CHARACTERS),
        ((ASKED, FOUND), (TOOL,), ToolChoice.NONE, 0),
        ((ASKED,), (), ToolChoice.AUTO, 0),
    ],
    ids=["first turn", "after results", "a follow-up", "must answer", "no tools"],
)
def test_less_is_held_where_an_answer_is_likelier(
    messages: tuple[ChatMessage, ...], tools: tuple[ToolDefinition, ...], choice: ToolChoice, held: int
) -> None:
    request = ChatRequest(system="", messages=messages, tools=tools, tool_choice=choice)
    assert held_characters(request) == held


def test_long_text_streams_on_and_is_taken_back_when_a_tool_call_follows() -> None:
    progress = RecordingProgress()
    held = HeldText(progress)
    held("x" * HELD_CHARACTERS)
    assert progress.shown == ""
    held("y")
    held("z")
    assert progress.shown == "x" * HELD_CHARACTERS + "yz"
    held.drop()
    assert (progress.shown, progress.resets) == ("", 1)


class Breaking(ScriptedProvider):
    """Shows some text, then breaks, the first `breaks` times."""

    def __init__(self, error: ProviderError, breaks: int, text: str) -> None:
        super().__init__([says(LONG)] * 3)
        self.left = breaks
        self._error = error
        self._text = text

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        if self.left:
            self.left -= 1
            if on_text is not None and self._text:
                on_text(self._text)
            raise self._error
        return await super().complete(request, on_text)


async def run(provider: ScriptedProvider, progress: RecordingProgress) -> str:
    clock = ManualClock()
    loop = AgentLoop(
        provider=provider,
        tools=Shelf().toolbox(),
        progress=progress,
        meter=Meter(Budget(), clock),
        system="s",
    )
    return text_of(await loop.run([ChatMessage(role=ChatRole.USER, text="Where is the key?")]))


async def test_a_stream_that_breaks_after_text_came_is_begun_again_once() -> None:
    progress = RecordingProgress()

    assert await run(Breaking(ProviderConnectionError("cut"), 1, LONG), progress) == LONG
    assert (progress.shown, progress.resets) == (LONG, 1)


@pytest.mark.parametrize(
    ("error", "breaks", "text"),
    [
        (ProviderConnectionError("cut"), 2, LONG),  # twice is enough
        (ProviderBadRequest("no"), 1, LONG),  # nothing to gain
        (ProviderConnectionError("cut"), 1, ""),  # the provider itself retried that already
    ],
)
async def test_other_breaks_are_errors(error: ProviderError, breaks: int, text: str) -> None:
    with pytest.raises(type(error)):
        await run(Breaking(error, breaks, text), RecordingProgress())


async def test_words_before_a_tool_call_are_never_shown() -> None:
    progress = RecordingProgress()
    ask = ToolInvocation(id="t1", name="nothing", arguments={})
    await run(ScriptedProvider([calls(ask, text="Let me look that up."), says("Here.")]), progress)

    assert progress.shown == "Here."
