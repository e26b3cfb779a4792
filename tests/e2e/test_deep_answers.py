"""Deep answers, whole way: app, plan, jobs, typed synthesis, proof, history; the real SDK over HTTP.

Each item of seed 4's lists on job orchestration and on the whole way is a test by its name.
"""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bot.cli.questions import question_message
from bot.config import Config
from bot.presentation.answer_text import job_line, job_tree
from bot.terminal.render import answer_view, job_trees
from bot.wiring.parts import Parts, open_parts
from bot.wiring.pipeline import build_pipeline
from core.answering.strategies.plan_and_synthesise import WITHOUT_FORM, WITHOUT_PLAN
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import Role
from core.domain.jobs import JobKind, JobStatus
from core.domain.response_data import response_schema
from core.serializers.objects import answer_json
from tests.anthropic_server import AnthropicServer, Call, Fault, Reply, Say
from tests.anthropic_server.server import KEY, MODEL
from tests.fakes import RecordingProgress

QUESTION = "deep: Compare how long to wait at the ticket gates and what the ramp at Little Tern may cost"
GATES = Call("search", {"query": "restart the gate controller wait a full minute"})
RAMP = Call("find_extracts", {"query": "ramp Little Tern", "type": "decision"})
RESPOND = Call("respond_as", {"response_type": "comparison", "question": "Gate waiting time and ramp cost?"})
PLAN = Reply.of(GATES, RAMP, RESPOND)
Json = dict[str, Any]


class Desk:
    """An app whose model is the test server."""

    def __init__(self, app: Parts, server: AnthropicServer) -> None:
        self.app = app
        self.server = server
        self.progress = RecordingProgress()

    async def ask(self, text: str = QUESTION, **fields: Any) -> Answer:
        return await build_pipeline(self.app).answer(replace(question_message("local", text), **fields), self.progress)


@pytest.fixture
def structured() -> bool:
    return True


both_forms = pytest.mark.parametrize("structured", [True, False], ids=["schema", "forced tool"])


@pytest.fixture
async def desk(data_dir: Path, monkeypatch: pytest.MonkeyPatch, structured: bool) -> AsyncIterator[Desk]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    async with AnthropicServer(structured=structured) as server:
        settings = {"name": "anthropic", "model": MODEL, "base_url": server.url, "stall_seconds": 60, "max_retries": 0}
        async with open_parts(Config.model_validate({"data_dir": data_dir, "provider": settings})) as app:
            yield Desk(app, server)


def prompt(body: Json) -> str:
    """All text of a request's messages."""
    return json.dumps(body["messages"], ensure_ascii=False)


def number_of(body: Json, words: str) -> int:
    """The number of the passage that holds some words, as the model is shown it."""
    text = body["messages"][-1]["content"][-1]["text"]
    before = text[: text.rindex(words)]
    return int(before.rpartition("\n[")[2].partition("]")[0])


def gives(data: Mapping[str, Any]) -> Any:
    """A step of the server that writes `data`; `{words}` in its strings becomes the number of their passage."""

    def fill(value: Any, body: Json) -> Any:
        if isinstance(value, str) and "{" in value:
            before, _, rest = value.partition("{")
            words, _, after = rest.partition("}")
            return fill(f"{before}[{number_of(body, words)}]{after}", body)
        if isinstance(value, dict):
            return {key: fill(item, body) for key, item in value.items()}
        return [fill(item, body) for item in value] if isinstance(value, list) else value

    def reply(body: Json) -> Reply:
        written = fill({"data_sources": [], "data_gaps": [], **data}, body)
        if "output_config" in body:
            return Reply.of(Say(json.dumps(written)))
        return Reply.of(Call("give_answer", written))

    return reply


COMPARISON = {
    "summary": "Wait a full minute {Wait a full minute}. The ramp costs 18,400 crowns {18,400 crowns}.",
    "subjects": ["Gates", "Ramp"],
    "aspects": [
        {"aspect": "Limit", "values": ["Wait a full minute {Wait a full minute}", "18,400 crowns {18,400 crowns}"]}
    ],
    "conclusion": "",
    "data_gaps": ["who pays"],
}


# ------------------------------------------------------------------------------------------------ job orchestration


async def test_planning_call_returns_tool_use_blocks_never_text_answers(desk: Desk) -> None:
    lies = Reply.of("The gates take nine hours.")
    desk.server.script(lies, lies, gives({"summary": "A minute {Wait a full minute}.", "points": []}))
    answer = await desk.ask("deep: How long to wait at the gate controller?")

    first, second, _ = desk.server.requests
    assert (first["tool_choice"], second["tool_choice"]) == ({"type": "any"}, {"type": "any"})
    assert "could not be used" in second["system"][0]["text"]
    assert "nine hours" not in answer.text and WITHOUT_PLAN in answer.text
    assert [job.status for job in answer.jobs if job.name == "plan"] == [JobStatus.FAILED, JobStatus.FAILED]
    assert answer.citations[0].quote.startswith("3. Wait a full minute")
    assert "nine hours" not in desk.progress.shown


async def test_tool_jobs_appear_in_queue_with_correct_parent_linkage(desk: Desk) -> None:
    desk.server.script(PLAN, gives(COMPARISON))
    answer = await desk.ask()

    stored = (await desk.app.jobs.tree(answer.jobs[0].id, "local"))[1:]
    assert {job.parent_id for job in stored} == {answer.jobs[0].id}
    tools = [job for job in stored if job.kind is JobKind.TOOL]
    assert [(job.name, job.status) for job in tools] == [
        ("search", JobStatus.DONE),
        ("find_extracts", JobStatus.DONE),
    ]
    assert tools[1].input == {"query": "ramp Little Tern", "type": "decision"}
    seen = [(job.name, job.status) for job in desk.progress.steps if job.kind is JobKind.TOOL]
    assert seen[:2] == [("search", JobStatus.QUEUED), ("find_extracts", JobStatus.QUEUED)]
    assert {kind.value for kind in {job.kind for job in stored}} == {"planning", "tool", "synthesis"}


async def test_tool_execution_makes_no_llm_calls(desk: Desk) -> None:
    desk.server.script(PLAN, gives(COMPARISON))
    await desk.ask()

    planning, synthesis = desk.server.requests
    assert len(planning["tools"]) > 2 and "tool_result" not in prompt(planning)
    assert [tool["name"] for tool in synthesis.get("tools", [])] in ([], ["give_answer"])


@both_forms
async def test_synthesis_respects_schema_constraint(desk: Desk, structured: bool) -> None:
    wrong = {"summary": "A minute {Wait a full minute}.", "aspects": "none"}
    desk.server.script(PLAN, gives(wrong), gives(COMPARISON))
    answer = await desk.ask()

    _, first, second = desk.server.requests
    schema = dict(response_schema("comparison"))
    for body in (first, second):
        if structured:
            assert body["output_config"]["format"] == {"type": "json_schema", "schema": schema}
        else:
            assert body["tools"][0]["input_schema"] == schema and body["tool_choice"] == {"type": "any"}
    assert "aspects: Input should be" in second["system"][0]["text"]
    assert answer.response_type == "comparison" and set(answer.data) == {"summary", "subjects", "aspects", "conclusion"}


async def test_failed_tool_jobs_are_handled_gracefully(desk: Desk) -> None:
    missing = Call("get_page", {"page_id": "nowhere"})
    desk.server.script(Reply.of(missing, GATES), gives({"summary": "A minute {Wait a full minute}.", "points": []}))
    answer = await desk.ask("deep: How long to wait at the gate controller?")

    by_name = {job.name: job for job in answer.jobs if job.kind is JobKind.TOOL}
    assert (by_name["get_page"].status, by_name["search"].status) == (JobStatus.FAILED, JobStatus.DONE)
    assert "This failed: There is no page" in desk.server.requests[1]["messages"][0]["content"][0]["text"]
    assert answer.status is AnswerStatus.ANSWERED and len(answer.citations) == 1
    assert answer.data_gaps == ("I could not read “nowhere”.",)


async def test_all_tool_jobs_failed_is_said_and_nothing_is_written(desk: Desk) -> None:
    desk.server.script(Reply.of(Call("get_page", {"page_id": "nowhere"})))
    answer = await desk.ask()

    assert len(desk.server.requests) == 1
    assert (answer.status, answer.data) == (AnswerStatus.NOT_FOUND, None)
    assert answer.data_gaps and answer.jobs[-1].kind is JobKind.SYNTHESIS


async def test_ui_displays_the_job_hierarchy_correctly(desk: Desk) -> None:
    desk.server.script(PLAN, gives(COMPARISON))
    answer = await desk.ask()

    shown = [f"{'  ' * depth}{job_line(job)}".partition(" (")[0] for depth, job in job_tree(answer.jobs)]
    assert shown[0].startswith("✓ answer “deep: Compare how long")
    assert [line for line in shown[1:] if "documents" not in line] == [
        "  ✓ Choosing what to read",
        "  ✓ Searching for “restart the gate controller wait a full minute”",
        "  ✓ Looking up “ramp Little Tern”",
        "  ✓ Writing the answer",
    ]
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(job_trees([answer.jobs]))
    console.print(answer_view(answer))
    text = console.export_text()
    assert "find_extracts" in text and "who pays" in text


async def test_parallel_tool_execution_works(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    running = most = 0
    search = desk.app.library.search

    async def slow(*arguments: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        found = await search(*arguments)
        running -= 1
        return found

    monkeypatch.setattr(desk.app.library, "search", slow)
    calls = [Call("search", {"query": words}) for words in ("gate controller minute", "bell buoy", "solar panels")]
    desk.server.script(Reply.of(*calls), gives({"summary": "A minute {Wait a full minute}.", "points": []}))
    answer = await desk.ask("deep: What about the gates, the buoy and the panels?")

    assert most == 3
    assert [job.input["query"] for job in answer.jobs if job.kind is JobKind.TOOL] == [
        call.arguments["query"] for call in calls
    ]


async def test_original_query_context_is_preserved_through_the_chain(desk: Desk) -> None:
    desk.server.script(PLAN, gives(COMPARISON), PLAN, gives(COMPARISON))
    first = await desk.ask()
    await desk.ask("deep: And which of the two is stricter?", conversation_id=first.conversation_id)

    asked = QUESTION.removeprefix("deep: ")
    planning, synthesis, again, _ = desk.server.requests
    assert asked in prompt(planning) and "deep:" not in prompt(planning)
    assert asked in prompt(synthesis) and "Gate waiting time and ramp cost?" in prompt(synthesis)
    assert "which of the two is stricter" in prompt(again) and "tool_result" in prompt(again)
    stored = (await desk.app.conversations.show(first.conversation_id, "local"))[1]
    assert stored[0].content == QUESTION
    assert [message.role for message in stored] == [Role.USER, Role.TOOL_RESULT, Role.ASSISTANT] * 2


async def test_a_call_that_follows_another_gets_its_page(desk: Desk) -> None:
    page = Call("get_page", {"page_id": "$1", "after": 1})
    desk.server.script(Reply.of(GATES, page), gives({"summary": "A minute {Wait a full minute}.", "points": []}))
    answer = await desk.ask("deep: How long to wait at the gate controller?")

    tools = [job for job in answer.jobs if job.kind is JobKind.TOOL]
    assert [job.name for job in tools] == ["search", "get_page"]
    assert tools[1].input["page_id"] == tools[0].output["page_ids"][0]
    assert tools[1].started_at >= tools[0].completed_at


# ------------------------------------------------------------------------------------------------ end to end


@both_forms
async def test_query_planning_tool_that_returns_extracts_synthesis_structured_output(desk: Desk) -> None:
    desk.server.script(PLAN, gives(COMPARISON))
    answer = await desk.ask()

    assert (answer.status, answer.response_type, answer.grounded) == (AnswerStatus.ANSWERED, "comparison", True)
    assert "18,400 crowns" in prompt(desk.server.requests[1])  # rows of extracts are what the model is shown
    assert answer.data["aspects"] == [{"aspect": "Limit", "values": ["Wait a full minute[1]", "18,400 crowns[2]"]}]
    assert "**Limit**:\n- Gates: Wait a full minute[1]\n- Ramp: 18,400 crowns[2]" in answer.text
    written = answer_json(answer)
    assert (written["response_type"], written["data"]) == ("comparison", answer.data)
    stored = (await desk.app.conversations.show(answer.conversation_id, "local"))[1][-1]
    assert (stored.outcome.data, stored.outcome.data_gaps) == (answer.data, answer.data_gaps)


async def test_ai_cannot_fabricate_data_not_in_tool_results(desk: Desk) -> None:
    made_up = {
        **COMPARISON,
        "aspects": [
            {"aspect": "Limit", "values": ["Wait a full minute {Wait a full minute}", "99,000 crowns {18,400 crowns}"]},
            {"aspect": "Owner", "values": ["The ministry of gates", ""]},
        ],
    }
    desk.server.script(PLAN, gives(made_up))
    answer = await desk.ask()

    assert "99,000" not in json.dumps(answer_json(answer)["data"]) and "99,000" not in answer.text
    assert "ministry" not in answer.text
    assert answer.data["aspects"] == [{"aspect": "Limit", "values": ["Wait a full minute[1]", ""]}]
    assert "2 statements were left out, because no passage backs them." in answer.data_gaps
    assert all(citation.proved for citation in answer.citations)


async def test_missing_data_is_reported_honestly_in_output(desk: Desk) -> None:
    desk.server.script(PLAN, gives(COMPARISON), Reply.of(Call("no_tool_can_help", {"reason": "It asks for a poem."})))
    answer = await desk.ask()
    refused = await desk.ask("deep: Write me a poem about gates")

    assert answer.data_gaps == ("who pays",)
    assert (refused.status, refused.data_gaps, refused.citations) == (
        AnswerStatus.NOT_FOUND,
        ("It asks for a poem.",),
        (),
    )
    assert refused.text == "None of the tools can look this up: It asks for a poem."


async def test_source_document_references_are_preserved(desk: Desk) -> None:
    desk.server.script(PLAN, gives(COMPARISON))
    answer = await desk.ask()

    runbook, minutes = "operations/Runbook - ticket gates offline.md", "minutes/2026-05-12-harbour-council.md"
    assert answer.data_sources == (runbook, minutes)
    assert [citation.document for citation in answer.citations] == [runbook, minutes]
    assert all(citation.quote and citation.revision for citation in answer.citations)


# ------------------------------------------------------------------------------------------------ trouble


async def test_a_model_that_keeps_to_no_form_is_quoted_as_plain_text(desk: Desk) -> None:
    def prose(body: Json) -> Reply:
        return Reply.of(Say(f"Wait a full minute [{number_of(body, 'Wait a full minute')}]."))

    desk.server.script(Reply.of(GATES, RESPOND), prose, prose)
    answer = await desk.ask()

    assert (answer.status, answer.response_type, answer.data) == (AnswerStatus.ANSWERED, "general", None)
    assert answer.text.startswith("Wait a full minute[1].") and WITHOUT_FORM in answer.text


@pytest.mark.parametrize("place", [0, 1], ids=["planning", "synthesis"])
async def test_a_refusal_of_the_server_is_one_clear_stored_error(desk: Desk, place: int) -> None:
    desk.server.script(*[PLAN] * place, Fault(401))
    answer = await desk.ask()

    assert answer.status is AnswerStatus.ERROR and "ANTHROPIC_API_KEY" in answer.text
    tools = [job.status for job in answer.jobs if job.kind is JobKind.TOOL]
    assert tools == [JobStatus.DONE] * 2 * place


# ------------------------------------------------------------------------------------------------ the terminal's door


def test_without_a_model_a_deep_question_is_answered_as_usual_and_says_so(footnote: Any) -> None:
    asked = footnote("ask", "deep: How long to wait before the gate controller starts again?")
    assert asked.code == 0
    assert "[1]" in asked.out and "A deep answer needs a language model" in " ".join(asked.out.split())


def test_a_strategy_that_there_is_not_is_one_sentence(footnote: Any) -> None:
    refused = footnote("ask", "--strategy", "guess", "How long to wait?", "--json")
    assert refused.code == 1
    assert refused.json["answer"].startswith("There is no strategy 'guess': use tool_use, always_retrieve,")
