"""The right sentence is kept and the wrong one stopped, whatever way a model answers in, in three languages.

The ways: native citations, markers of a Chat Completions model, and the form of a planned answer; real SDKs over HTTP.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What is asked, and the quote that the model cites; `document` is added to the library first."""

    question: str
    query: str
    quote: str
    document: str = ""


GATES = Topic(
    question="How do I restart the gate controller?",
    query="restart the gate controller",
    quote="Hold the green button for eight seconds, until the fan stops.",
)
RESULTS = Topic(
    question="What was the revenue of Norvik in 2025?",
    query="revenue of Norvik in 2025",
    quote="| Revenue | 51,262 | 47,018 |",
    document="# Results of Norvik\n\n| (in millions) | 2025 | 2024 |\n|---|---|---|\n"
    "| Revenue | 51,262 | 47,018 |\n| Net income | 7,513 | 6,990 |\n",
)
HEADING = Topic(
    question="Who guards the treasure of Cragmaw Castle?",
    query="treasure of Cragmaw Castle",
    quote="Cragmaw Castle",
    document="# Cragmaw Castle\n\n## Treasure\n",
)
Way = Callable[[str, Topic], Awaitable[Answer]]


async def _ask(stack: AsyncExitStack, data_dir: Path, provider: dict[str, object], topic: Topic, text: str) -> Answer:
    app = await build_parts(Config.model_validate({"data_dir": data_dir, "provider": provider}), stack)
    if topic.document:
        added = data_dir.parent / "added"
        added.mkdir()
        (added / "added.md").write_text(topic.document, encoding="utf-8")
        await app.ingests.add([added], "local")
    return await build_pipeline(app).answer(question_message("local", text), RecordingProgress())


@pytest.fixture(params=["native", "markers", "planned"])
async def way(request: pytest.FixtureRequest, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Way]:
    """Ask a model that says one sentence, citing the topic's quote; asked to repair it, it says the same again."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI_KEY)
    async with AsyncExitStack() as stack:
        if request.param == "markers":
            openai = await stack.enter_async_context(OpenAIServer(Kind()))
            provider = {"name": "openai_compatible", "base_url": openai.url, "model": OPENAI_MODEL, "max_retries": 0}

            async def marked(said: str, topic: Topic) -> Answer:
                cited = OpenAIReply.of(OpenAISay(f"{said} ", cites=(topic.quote,)))
                search = OpenAIReply.of(OpenAICall("search", {"query": topic.query}))
                openai.script(search, cited, OpenAIReply.of(f"{said} [1]"))
                return await _ask(stack, data_dir, provider, topic, topic.question)

            yield marked
            return
        server = await stack.enter_async_context(AnthropicServer())
        settings = {"name": "anthropic", "model": MODEL, "base_url": server.url, "max_retries": 0}

        async def native(said: str, topic: Topic) -> Answer:
            cited = Reply.of(Say(said, cites=(Cite(topic.quote),)))
            server.script(Reply.of(Call("search", {"query": topic.query})), cited, Reply.of(f"{said} [1]"))
            return await _ask(stack, data_dir, settings, topic, topic.question)

        async def planned(said: str, topic: Topic) -> Answer:
            form = gives({"summary": f"{said[:-1]} {{{topic.quote}}}.", "points": []})
            server.script(Reply.of(Call("search", {"query": topic.query})), form, Reply.of(f"{said} [1]"))
            return await _ask(stack, data_dir, settings, topic, f"deep: {topic.question}")

        yield native if request.param == "native" else planned


RIGHT = {
    "Hold the green button for eight seconds, until the fan stops.": GATES,
    "The green button is held for 8 seconds.": GATES,
    "Halte den grünen Knopf acht Sekunden lang gedrückt, bis der Lüfter stoppt.": GATES,
    "Mantén pulsado el botón verde durante ocho segundos, hasta que el ventilador se detenga.": GATES,
    "Revenue was US$51.3 billion in 2025.": RESULTS,
    "Der Umsatz betrug 2025 rund 51,3 Milliarden Dollar.": RESULTS,
    "Los ingresos fueron de unos 51.300 millones de dólares en 2025.": RESULTS,
}
WRONG = {
    "Hold the green button for 9 seconds, until the fan stops.": GATES,
    "Hold the green button for eight minutes, until the fan stops.": GATES,
    "Hold the red button for eight seconds, until the fan stops.": GATES,
    "Do not hold the green button for eight seconds.": GATES,
    "Queen Lolth, a drow priestess, holds the green button.": GATES,
    "Halte den grünen Knopf neun Sekunden lang gedrückt.": GATES,
    "Mantén pulsado el botón verde durante 18 segundos.": GATES,
    "No mantengas pulsado el botón verde.": GATES,
    "Revenue was US$51.3 million in 2025.": RESULTS,
    "Net income was US$51.3 billion in 2025.": RESULTS,
    "Der Umsatz betrug 2025 rund 53,1 Milliarden Dollar.": RESULTS,
    "Los ingresos fueron de unos 15.300 millones de dólares en 2025.": RESULTS,
    "The treasure of Cragmaw Castle is guarded by an owlbear.": HEADING,
    "Cragmaw Castle has a treasure.": HEADING,
    "Der Schatz von Cragmaw Castle wird bewacht.": HEADING,
    "El tesoro de Cragmaw Castle vale 500 monedas.": HEADING,
}


@pytest.mark.parametrize("said", RIGHT)
async def test_a_right_sentence_is_kept(way: Way, said: str) -> None:
    answer = await way(said, RIGHT[said])

    assert (answer.status, answer.unsupported) == (AnswerStatus.ANSWERED, ())
    assert said[:-1] in answer.text
    assert len(answer.citations) == 1


@pytest.mark.parametrize("said", WRONG)
async def test_a_wrong_sentence_is_stopped(way: Way, said: str) -> None:
    answer = await way(said, WRONG[said])

    assert said[:-1] not in answer.text or answer.unsupported
    assert said[:-1] not in answer.text or "[?]" in answer.text
