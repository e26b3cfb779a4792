"""The right sentence is kept and the wrong one stopped, whatever way a model answers in, in three languages.

The ways: native citations, markers of a Chat Completions model, and the form of a planned answer; real SDKs over HTTP.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bot.cli.questions import question_message
from bot.config import Config
from bot.wiring.parts import build_parts
from bot.wiring.pipeline import build_pipeline
from core.domain.answer import Answer, AnswerStatus
from tests.anthropic_server import AnthropicServer, Call, Cite, Reply, Say
from tests.anthropic_server.server import KEY, MODEL
from tests.e2e.test_deep_answers import gives
from tests.fakes import RecordingProgress
from tests.openai_server import KEY as OPENAI_KEY
from tests.openai_server import MODEL as OPENAI_MODEL
from tests.openai_server import Call as OpenAICall
from tests.openai_server import Kind, OpenAIServer
from tests.openai_server import Reply as OpenAIReply
from tests.openai_server import Say as OpenAISay

BUTTON = "Hold the green button for eight seconds, until the fan stops."
QUERY = {"query": "restart the gate controller"}
QUESTION = "How do I restart the gate controller?"
Way = Callable[[str], Awaitable[Answer]]


async def _ask(stack: AsyncExitStack, data_dir: Path, provider: dict[str, object], text: str) -> Answer:
    app = await build_parts(Config.model_validate({"data_dir": data_dir, "provider": provider}), stack)
    return await build_pipeline(app).answer(question_message("local", text), RecordingProgress())


@pytest.fixture(params=["native", "markers", "planned"])
async def way(request: pytest.FixtureRequest, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Way]:
    """Ask a model that says one sentence, citing the button; asked to repair it, it says the same again."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI_KEY)
    async with AsyncExitStack() as stack:
        if request.param == "markers":
            openai = await stack.enter_async_context(OpenAIServer(Kind()))
            provider = {"name": "openai_compatible", "base_url": openai.url, "model": OPENAI_MODEL, "max_retries": 0}

            async def marked(said: str) -> Answer:
                cited = OpenAIReply.of(OpenAISay(f"{said} ", cites=(BUTTON,) * bool(said in CITED)))
                openai.script(OpenAIReply.of(OpenAICall("search", QUERY)), cited, OpenAIReply.of(f"{said} [1]"))
                return await _ask(stack, data_dir, provider, QUESTION)

            yield marked
            return
        server = await stack.enter_async_context(AnthropicServer())
        settings = {"name": "anthropic", "model": MODEL, "base_url": server.url, "max_retries": 0}

        async def native(said: str) -> Answer:
            cited = Reply.of(Say(said, cites=(Cite(BUTTON),) * bool(said in CITED)))
            server.script(Reply.of(Call("search", QUERY)), cited, Reply.of(f"{said} [1]"))
            return await _ask(stack, data_dir, settings, QUESTION)

        async def planned(said: str) -> Answer:
            form = gives({"summary": f"{said[:-1]} {{Hold the green button}}.", "points": []})
            server.script(Reply.of(Call("search", QUERY)), form, Reply.of(f"{said} [1]"))
            return await _ask(stack, data_dir, settings, f"deep: {QUESTION}")

        yield native if request.param == "native" else planned


RIGHT = (
    "Hold the green button for eight seconds, until the fan stops.",
    "The green button is held for 8 seconds.",
    "Halte den grünen Knopf acht Sekunden lang gedrückt, bis der Lüfter stoppt.",
    "Mantén pulsado el botón verde durante ocho segundos, hasta que el ventilador se detenga.",
)
WRONG = (
    "Hold the green button for 9 seconds, until the fan stops.",
    "Hold the green button for eight minutes, until the fan stops.",
    "Hold the red button for eight seconds, until the fan stops.",
    "Do not hold the green button for eight seconds.",
    "Queen Lolth, a drow priestess, holds the green button.",
    "Halte den grünen Knopf neun Sekunden lang gedrückt.",
    "Mantén pulsado el botón verde durante 18 segundos.",
    "No mantengas pulsado el botón verde.",
)
CITED = frozenset((*RIGHT, *WRONG))


@pytest.mark.parametrize("said", RIGHT)
async def test_a_right_sentence_is_kept(way: Way, said: str) -> None:
    answer = await way(said)

    assert (answer.status, answer.unsupported) == (AnswerStatus.ANSWERED, ())
    assert said[:-1] in answer.text
    assert len(answer.citations) == 1


@pytest.mark.parametrize("said", WRONG)
async def test_a_wrong_sentence_is_stopped(way: Way, said: str) -> None:
    answer = await way(said)

    assert said[:-1] not in answer.text or answer.unsupported
    assert said[:-1] not in answer.text or "[?]" in answer.text
