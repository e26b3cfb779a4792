"""Questions about the library itself, whole way: without a model, and with models behind real SDKs over HTTP."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import tests.anthropic_server as anthropic
import tests.openai_server as openai
from bot.cli.questions import question_message
from bot.config import Config
from bot.runtime.system import SystemClock
from bot.wiring.parts import Parts, build_parts
from bot.wiring.pipeline import build_pipeline
from core.answering.answers.sentences import say
from core.domain.answer import Answer, AnswerStatus
from core.ports import Clock
from tests.anthropic_server.server import KEY as ANTHROPIC_KEY
from tests.fakes import ManualClock, RecordingProgress

JUNE, MAY = "minutes/2026-06-09-harbour-council.md", "minutes/2026-05-12-harbour-council.md"
FROM_LISTS = say("from", sources=say("library_lists"))
TUESDAY = ManualClock(datetime(2026, 6, 16, 12, tzinfo=UTC))
NOTED = "The diver came on 27 May"
Json = dict[str, Any]


class Desk:
    """Apps over the sample library; `requests` are the bodies that the model's server got."""

    def __init__(self, data_dir: Path, stack: AsyncExitStack, kind: str) -> None:
        self._data_dir = data_dir
        self._stack = stack
        self._kind = kind
        self._app: Parts | None = None
        self.requests: list[Json] = []
        self.script: Callable[..., None] = lambda *steps: None

    async def start(self, clock: Clock) -> None:
        sections: Json = {}
        if self._kind == "anthropic":
            server = await self._stack.enter_async_context(anthropic.AnthropicServer())
            sections = {"provider": {"name": "anthropic", "base_url": server.url, "stall_seconds": 60}}
            self.requests, self.script = server.requests, server.script
        if self._kind == "openai":
            other = await self._stack.enter_async_context(openai.OpenAIServer(openai.Kind()))
            settings = {"base_url": other.url, "model": openai.MODEL, "stall_seconds": 60}
            sections = {"provider": {"name": "openai_compatible", **settings}}
            self.requests, self.script = other.requests, other.script
        made = await build_parts(Config.model_validate({"data_dir": self._data_dir, **sections}), self._stack)
        self._app = replace(made, clock=clock)

    async def ask(self, text: str, *steps: Any, clock: Clock = TUESDAY, **fields: Any) -> Answer:
        if self._app is None:
            await self.start(clock)
        assert self._app is not None
        if self._kind != "none":
            parts = anthropic if self._kind == "anthropic" else openai
            self.script(*(step(parts) for step in steps))
        message = replace(question_message("local", text), **fields)
        return await build_pipeline(self._app).answer(message, RecordingProgress())

    def told(self, place: int = -1) -> str:
        """All messages of a request, in its own form."""
        return json.dumps(self.requests[place]["messages"], ensure_ascii=False)


def calls(name: str, **arguments: Any) -> Callable[[Any], Any]:
    return lambda parts: parts.Reply.of(parts.Call(name, arguments))


def says(text: str) -> Callable[[Any], Any]:
    return lambda parts: parts.Reply.of(text)


def cites(text: str, quote: str) -> Callable[[Any], Any]:
    def reply(parts: Any) -> Any:
        made = (anthropic.Cite(quote),) if parts is anthropic else (quote,)
        return parts.Reply.of(parts.Say(text, cites=made))

    return reply


@pytest.fixture(params=["none", "anthropic", "openai"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


with_models = pytest.mark.parametrize("kind", ["anthropic", "openai"])
without_model = pytest.mark.parametrize("kind", ["none"])


@pytest.fixture
async def desk(data_dir: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> AsyncIterator[Desk]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", ANTHROPIC_KEY)
    monkeypatch.setenv("OPENAI_API_KEY", openai.KEY)
    async with AsyncExitStack() as stack:
        yield Desk(data_dir, stack, kind)


# --------------------------------------------------------------------------------------------------------- without


@without_model
async def test_which_documents_there_are_is_listed(desk: Desk) -> None:
    answer = await desk.ask("Which documents do you have?")
    assert (answer.status, answer.model) == (AnswerStatus.ANSWERED, "library")
    assert answer.text.startswith("I can read 12 documents here (7 markdown, 2 foundry, 1 html, 1 pdf, 1 text).")
    assert (
        f"- **Harbour council, 9 June 2026** (dated 2026-06-09, 6 pages, source sample library: {JUNE})" in answer.text
    )
    assert answer.text.count("\n- ") == 12


@without_model
async def test_what_is_new_is_told_by_date_and_by_arrival(desk: Desk) -> None:
    answer = await desk.ask("what is new since Monday?", clock=SystemClock())
    assert answer.status is AnswerStatus.ANSWERED
    assert "Added or changed here since Monday, " in answer.text and ", all 12 documents:" in answer.text


@without_model
async def test_what_is_dated_since_comes_first(desk: Desk) -> None:
    answer = await desk.ask("What is new since 1 June?")
    first = answer.text.split("\n\n")[0]
    assert first.startswith("Dated since Monday, 1 June 2026:\n- **Harbour council, 9 June 2026**")
    assert "12 May" not in first


@without_model
async def test_the_last_two_meetings_are_summed_up_by_quotes(desk: Desk) -> None:
    answer = await desk.ask("summarise the last two council meetings")
    assert (answer.status, answer.grounded) == (AnswerStatus.ANSWERED, True)
    assert {item.document for item in answer.citations} == {JUNE, MAY}
    assert answer.text.index("Harbour council, 9 June 2026") < answer.text.index("Harbour council, 12 May 2026")
    assert NOTED in answer.text


@without_model
async def test_the_last_meeting_alone_is_searched(desk: Desk) -> None:
    answer = await desk.ask("When did the diver come, by the last council meeting?")
    assert {item.document for item in answer.citations} == {JUNE}


@without_model
@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "is there a page 99?",
            "No. None of the 12 documents that I can read here has a page 99: the longest is "
            "“Postmortem: the night the gates stayed shut”, with 7 pages.",
        ),
        ("Is there a page 99 in the on-call guide?", "No. “On-call guide” has no page 99: it has pages 1 to 6."),
        ("Does Fleet have a page 2?", "Yes. “Fleet” has a page 2: it has pages 1 to 5."),
        ("How many pages does Fleet have?", "“Fleet” has pages 1 to 5."),
    ],
)
async def test_pages_are_counted(desk: Desk, question: str, text: str) -> None:
    answer = await desk.ask(question)
    assert (answer.status, answer.text) == (AnswerStatus.ANSWERED, text)


# ------------------------------------------------------------------------------------------------------------ with


@with_models
async def test_a_model_is_told_the_day_and_the_library_before_the_conversation(desk: Desk) -> None:
    await desk.ask("How fast is the Gull?", says("Nine knots."))
    first = desk.told().partition("How fast is the Gull?")[0]
    assert "Today is Tuesday, 16 June 2026 (" in first and ", UTC" in first
    assert "The library holds 12 documents that can be read here (7 markdown, 2 foundry" in first
    assert f'Harbour council, 9 June 2026\\" ({JUNE}), dated 2026-06-09' in first
    assert "June 2026" not in json.dumps(desk.requests[0].get("system", desk.requests[0]["messages"][0]))


@with_models
async def test_a_model_lists_the_documents(desk: Desk) -> None:
    said = "The library has twelve documents."
    answer = await desk.ask("Which documents do you have?", calls("list_documents", order="title"), says(said))
    assert (answer.status, answer.text) == (
        AnswerStatus.ANSWERED,
        f"{said}\n\n{FROM_LISTS}",
    )
    told = desk.told(1)
    assert "12 documents, by title:" in told
    assert (
        f'- {JUNE}: \\"Harbour council, 9 June 2026\\", dated 2026-06-09, markdown, 6 pages, source sample library'
        in told
    )


@with_models
async def test_a_model_sees_what_is_new(desk: Desk) -> None:
    steps = calls("list_documents", since="monday"), says("All of it.")
    await desk.ask("what is new since Monday?", *steps, clock=SystemClock())
    assert "Added or changed here since Monday, " in desk.told(1)
    assert "with another date or none: 12 other documents." in desk.told(1)


@with_models
async def test_a_model_sums_up_the_last_two_meetings(desk: Desk) -> None:
    answer = await desk.ask(
        "summarise the last two council meetings",
        calls("list_documents", words="council meetings", limit=2),
        lambda parts: parts.Reply.of(
            parts.Call("search", {"query": "the diver and the ramp", "document": JUNE}),
            parts.Call("search", {"query": "book the diver", "document": MAY}),
        ),
        cites("The diver came on 27 May and gives the ramp one more summer. ", f"{NOTED} and gives the ramp one more"),
    )
    listed = desk.told(1)
    assert listed.index(f"- {JUNE}") < listed.index(f"- {MAY}")
    assert (answer.status, answer.citations[0].document) == (AnswerStatus.ANSWERED, JUNE)


@with_models
async def test_a_model_that_asks_for_page_99_is_told_which_there_are(desk: Desk) -> None:
    said = "No, Fleet has four pages."
    answer = await desk.ask("is there a page 99?", calls("get_page", document="Fleet", page_number=99), says(said))
    assert (answer.status, answer.text) == (
        AnswerStatus.ANSWERED,
        f"{said}\n\n{FROM_LISTS}",
    )
    assert "'Fleet' has no page 99 to read: its pages go from 1 to 5." in desk.told(1)


@pytest.mark.parametrize("kind", ["anthropic"])
async def test_a_new_day_and_another_place_read_the_cached_system_prompt(desk: Desk) -> None:
    first = await desk.ask("How fast is the Gull?", says("Nine knots."), clock=ManualClock(TUESDAY.now()))
    again = Desk(desk._data_dir, desk._stack, desk._kind)
    again._app = replace(desk._app, clock=ManualClock(datetime(2026, 6, 17, 12, tzinfo=UTC)))  # type: ignore[type-var]
    again.requests, again.script = desk.requests, desk.script
    second = await again.ask("And the Tern?", says("Ten knots."))
    assert "Wednesday, 17 June" in desk.told()
    assert desk.requests[0]["system"] == desk.requests[1]["system"]
    assert (first.usage.cache_read_tokens, second.usage.cache_read_tokens > 0) == (0, True)
