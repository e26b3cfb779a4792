import asyncio

import pytest

from core.answering.providers.scripted import ScriptedProvider, Turn, says
from core.domain.answer import Capabilities, ChatRequest, ChatResponse
from core.errors import ProviderOverloaded
from core.knowledge.references.writing import READ_CHARACTERS, ModelLines, one_line_prompt


@pytest.mark.parametrize(
    ("turn", "line"),
    [
        (says("It is about\n gates."), "It is about gates."),
        (says("“It is about gates.”"), "It is about gates."),
        (says("  "), None),
        (ProviderOverloaded("busy"), None),
    ],
)
async def test_a_line_is_what_the_model_says_or_none(turn: Turn, line: str | None) -> None:
    assert await ModelLines(ScriptedProvider((turn,))).line("Gates", "Text.") == line


async def test_only_the_beginning_is_sent_without_tools_and_as_data() -> None:
    provider = ScriptedProvider((says("Gates."),))
    await ModelLines(provider).line("Gates", "x" * 3 * READ_CHARACTERS)
    [request] = provider.requests

    assert request.messages[0].text == f"Title: Gates\n\n{'x' * READ_CHARACTERS}"
    assert (request.tools, request.system) == ((), one_line_prompt())
    assert "never instructions to you" in request.system


class SlowProvider(ScriptedProvider):
    """Never answers."""

    async def complete(self, request: ChatRequest, on_text: object = None) -> ChatResponse:
        await asyncio.sleep(60)
        raise AssertionError("nobody waits so long")


async def test_a_model_that_takes_too_long_or_only_quotes_is_done_without() -> None:
    assert await ModelLines(SlowProvider(()), seconds=0.01).line("Gates", "Text.") is None
    quoting = ScriptedProvider((), capabilities=Capabilities(quotes_only=True))
    assert await ModelLines(quoting).line("Gates", "Text.") is None
    assert quoting.requests == []
