"""Questions to models behind the chat completions API, whole way: app, agent loop, SDK over HTTP, proof, history."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.cli.questions import question_message
from bot.config import Config
from bot.service.doctor import Check, examine
from bot.wiring.parts import Parts, build_parts
from bot.wiring.pipeline import build_pipeline
from core.answering.strategies.choosing import SPENT
from core.domain.answer import Answer, AnswerStatus
from tests.anthropic_server import AnthropicServer
from tests.anthropic_server import Fault as AnthropicFault
from tests.anthropic_server.server import KEY as ANTHROPIC_KEY
from tests.fakes import RecordingProgress
from tests.openai_server import KEY, MODEL, Call, Fault, Kind, OpenAIServer, Reply, Say
from tests.openai_server.server import passages

WAIT = "Wait a full minute."
SEARCH = Call("search", {"query": "restart the gate controller"})
ANSWER = Reply.of(Say("Wait one full minute first. ", cites=(WAIT,)))
SAID = "Wait one full minute first.[1]"


class Desk:
    """Apps over the sample library, whose models are servers of the test."""

    def __init__(self, data_dir: Path, stack: AsyncExitStack) -> None:
        self._data_dir = data_dir
        self._stack = stack
        self.progress = RecordingProgress()

    async def server(self, **kind: Any) -> OpenAIServer:
        return await self._stack.enter_async_context(OpenAIServer(Kind(**kind)))

    async def app(self, **sections: Any) -> Parts:
        return await build_parts(Config.model_validate({"data_dir": self._data_dir, **sections}), self._stack)

    async def ask(
        self, app: Parts, text: str = "How long before the gate controller starts again?", **of: Any
    ) -> Answer:
        self.progress = RecordingProgress()
        return await build_pipeline(app).answer(replace(question_message("local", text), **of), self.progress)


def at(server: OpenAIServer | AnthropicServer, kind: str = "openai_compatible", **more: Any) -> dict[str, Any]:
    model = {"model": MODEL} if isinstance(server, OpenAIServer) else {}
    return {"kind": kind, "base_url": server.url, "stall_seconds": 60, "max_retries": 0, **model, **more}


def first(server: OpenAIServer | AnthropicServer, kind: str = "openai_compatible", **more: Any) -> dict[str, Any]:
    settings = at(server, kind, **more)
    return {"name": settings.pop("kind"), **settings}


@pytest.fixture
async def desk(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", ANTHROPIC_KEY)
    async with AsyncExitStack() as stack:
        yield Desk(data_dir, stack)


async def test_a_model_with_tools_searches_and_its_markers_become_proved_footnotes(desk: Desk) -> None:
    server = await desk.server()
    server.script(Reply.of("Let me look.", SEARCH), ANSWER, ANSWER)
    app = await desk.app(provider=first(server))
    answer = await desk.ask(app)

    assert (answer.status, answer.text, answer.model) == (AnswerStatus.ANSWERED, SAID, f"{MODEL}-q4")
    (citation,) = answer.citations
    assert WAIT in citation.quote and citation.proved
    assert citation.document == "operations/Runbook - ticket gates offline.md"
    assert answer.usage.input_tokens > answer.usage.cache_read_tokens > 0
    done = [job.name for job in answer.jobs]
    assert done == ["answer", "plan", "search", "answer", "sum up references"]
    follow_up = await desk.ask(app, "And why?", conversation_id=answer.conversation_id)
    assert follow_up.citations[0].quote == citation.quote
    assert len(server.probes) == 3


async def test_each_call_is_in_the_statistics_with_its_price(desk: Desk) -> None:
    server = await desk.server()
    server.script(Reply.of(SEARCH), ANSWER)
    prices = {MODEL: {"input": 2, "output": 8, "cache_read": 0.5}}
    app = await desk.app(provider=first(server), prices=prices, limits={"workspace": {"dollars_per_day": 1}})
    answer = await desk.ask(app)
    report = (await app.statistics.of(await app.access.scope("local", reader="local"))).spending
    [line] = report.lines

    assert (answer.text, report.answers, line.model, line.spent.calls) == (SAID, 1, MODEL, 2)
    usage = answer.usage
    read, cached = usage.input_tokens - usage.cache_read_tokens, usage.cache_read_tokens
    assert line.spent.micros == pytest.approx(2 * read + 0.5 * cached + 8 * usage.output_tokens, abs=2)
    assert answer.jobs[0].output["cost_dollars"] == report.total.dollars


async def test_beyond_the_days_budget_a_question_is_refused(desk: Desk) -> None:
    server = await desk.server()
    app = await desk.app(provider=first(server), limits={"workspace": {"tokens_per_day": 5_000}})
    answer = await desk.ask(app)

    assert (answer.status, server.requests) == (AnswerStatus.REFUSED, [])
    assert answer.text.startswith("This workspace's budget for the language model is spent for today. Ask again after")


async def test_beyond_the_days_budget_the_documents_are_quoted_if_that_is_configured(desk: Desk) -> None:
    server = await desk.server()
    limits = {"workspace": {"tokens_per_day": 5_000}, "when_spent": "extractive"}
    asked = "How long must we wait before starting the gate controller again?"
    answer = await desk.ask(await desk.app(provider=first(server), limits=limits), asked)

    assert (answer.status, server.requests) == (AnswerStatus.ANSWERED, [])
    assert answer.citations[0].proved and WAIT in answer.citations[0].quote
    assert answer.text.endswith(SPENT)


async def test_a_model_without_tools_is_searched_for_and_answers_with_footnotes(desk: Desk) -> None:
    server = await desk.server(tools=False, key=None, window=8_192)
    server.script(ANSWER)
    answer = await desk.ask(await desk.app(providers={"mill": at(server)}, workspaces={"local": {"provider": "mill"}}))

    assert (answer.status, answer.text) == (AnswerStatus.ANSWERED, SAID)
    assert answer.citations[0].proved and WAIT in answer.citations[0].quote
    assert all("tools" not in request for request in server.requests) and passages(server.requests[0])


async def test_arguments_that_are_no_json_are_told_to_the_model_which_mends_them(desk: Desk) -> None:
    server = await desk.server()
    server.script(Reply.of(Call("search", raw='{"query": "restart')), Reply.of(SEARCH), ANSWER)
    answer = await desk.ask(await desk.app(provider=first(server)))

    assert answer.text == SAID
    told = server.requests[1]["messages"][-1]["content"]
    assert "'query' is missing" in told and "arguments_that_were_no_json_object" in told


async def test_after_a_503_the_next_provider_answers_and_the_tree_says_so(desk: Desk) -> None:
    down, up = await desk.server(), await desk.server(key=None)
    down.down = Fault(503, "Loading model")
    up.script(Reply.of(SEARCH), ANSWER)
    app = await desk.app(provider=first(down, fallback=["mill"]), providers={"mill": at(up)})
    answer = await desk.ask(app)

    assert (answer.text, answer.model) == (SAID, f"{MODEL}-q4")
    before = len(down.seen)
    up.script(Reply.of(SEARCH), ANSWER)
    assert (await desk.ask(app)).text == SAID
    assert len(down.seen) == before  # it is left alone for a while


async def test_a_provider_that_goes_down_in_the_middle_is_followed_by_one_of_another_kind(desk: Desk) -> None:
    """The question is put anew: other tools, other citations, and nothing of the first draft is shown."""
    one, two = await desk._stack.enter_async_context(AnthropicServer()), await desk.server(tools=False, key=None)
    one.script(lambda _: AnthropicFault(529), lambda _: AnthropicFault(529))
    two.script(ANSWER)
    app = await desk.app(provider=first(one, "anthropic", fallback=["mill"]), providers={"mill": at(two)})
    answer = await desk.ask(app)

    assert (answer.text, answer.model) == (SAID, f"{MODEL}-q4")
    (told,) = [job for job in answer.jobs if job.name == "another provider"]
    assert told.input["to"] == f"mill: openai_compatible ({MODEL})" and "its side" in str(told.output["reason"])
    assert desk.progress.shown.startswith("Wait one full minute first.")


async def test_without_any_model_the_library_is_quoted(desk: Desk) -> None:
    server = await desk.server()
    server.down = Fault(503)
    answer = await desk.ask(await desk.app(provider=first(server, fallback=["extractive"])))
    assert (answer.status, answer.model) == (AnswerStatus.ANSWERED, "extractive")


async def test_a_refusal_is_nobody_elses_to_answer(desk: Desk) -> None:
    one, two = await desk.server(), await desk.server(key=None)
    one.script(Reply.of("", refusal="I can't help with that."))
    answer = await desk.ask(
        await desk.app(provider=first(one, fallback=["mill"]), providers={"mill": at(two, tools=True)})
    )
    assert answer.status is AnswerStatus.REFUSED and two.seen == []


async def test_all_being_down_is_one_clear_error(desk: Desk) -> None:
    one, two = await desk.server(), await desk.server(key=None)
    one.down = two.down = Fault(503)
    app = await desk.app(provider=first(one, fallback=["mill"]), providers={"mill": at(two)})
    answer = await desk.ask(app)
    assert answer.status is AnswerStatus.ERROR and "failed on its side" in answer.text


async def test_the_doctor_tries_every_provider_and_says_what_each_can_do_or_what_to_do(desk: Desk) -> None:
    one, two = await desk.server(images=False), await desk.server(tools=False, window=None)
    sections: dict[str, Any] = {"provider": first(one, fallback=["mill"]), "providers": {"mill": at(two)}}

    async def examined() -> Check:
        checks = await examine(await desk.app(**sections))
        return next(check for check in checks if check.name == "provider")

    sick = await examined()
    assert not sick.ok
    assert "Name its variable by api_key_variable, or put one into the file that api_key_file" in sick.detail
    assert "under [providers.mill] names" in sick.detail
    assert f"openai_compatible ({MODEL}) is ready" in sick.detail
    sections["providers"]["mill"]["api_key_variable"] = "OPENAI_API_KEY"
    well = await examined()
    assert well.ok
    assert "is ready (with tools, replies by a schema; without pictures; a window of 16,384 tokens)" in well.detail
    assert f"mill: openai_compatible ({MODEL}) is ready (with replies by a schema, pictures; without" in well.detail
