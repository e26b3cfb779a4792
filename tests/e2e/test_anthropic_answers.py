"""Questions to a writing model, whole way: command-line app, agent loop, real SDK over HTTP, proof, history.

Every fault of the server ends in an answer or in one clear error, and both are stored.
"""

import itertools
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.cli.questions import question_message
from bot.config import Config
from bot.wiring.parts import Parts, open_parts
from bot.wiring.pipeline import build_pipeline
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import Role
from core.domain.replies import Usage
from core.errors import BadInput, UnsupportedFeature
from tests.anthropic_server import AnthropicServer, Call, Cite, Fault, Reply, Say
from tests.anthropic_server.script import Break
from tests.anthropic_server.server import KEY, MODEL
from tests.anthropic_server.validation import merged_turns, search_results
from tests.fakes import RecordingProgress

WAIT = "Wait a full minute."
SEARCH = Call("search", {"query": "restart the gate controller"})
ANSWER = Reply.of(Say("Wait one full minute first.", cites=(Cite(WAIT),)))


class Desk:
    """An app whose model is the test server."""

    def __init__(self, app: Parts, server: AnthropicServer) -> None:
        self.app = app
        self.server = server
        self.progress = RecordingProgress()

    async def ask(self, text: str = "How long before the gate controller starts again?", **fields: object) -> Answer:
        message = replace(question_message("local", text), **fields)
        return await build_pipeline(self.app).answer(message, self.progress)


Make = Callable[..., Config]
Body = dict[str, Any]


@pytest.fixture
def stall_seconds() -> float:
    """How long the model may be silent: longer than a busy machine is. Tests that stall it ask for less."""
    return 20


@pytest.fixture
async def desk(data_dir: Path, stall_seconds: float, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    async with AnthropicServer() as server:
        settings = {
            "name": "anthropic",
            "model": MODEL,
            "base_url": server.url,
            "timeout_seconds": 20,
            "stall_seconds": stall_seconds,
            "max_retries": 1,
        }
        async with open_parts(Config.model_validate({"data_dir": data_dir, "provider": settings})) as app:
            yield Desk(app, server)


async def test_a_cited_answer_goes_the_whole_way(desk: Desk) -> None:
    desk.server.script(Reply.of("Let me look.", SEARCH), ANSWER)
    answer = await desk.ask()

    assert (answer.status, answer.text, answer.grounded) == (
        AnswerStatus.ANSWERED,
        "Wait one full minute first.[1]",
        True,
    )
    citation = answer.citations[0]
    assert WAIT in citation.quote
    assert (citation.document, citation.proved) == ("operations/Runbook - ticket gates offline.md", True)
    assert desk.progress.shown == "Wait one full minute first."
    assert answer.usage.input_tokens > 0
    stored = (await desk.app.conversations.show(answer.conversation_id, "local"))[1]
    assert [message.role for message in stored] == [Role.USER, Role.TOOL_RESULT, Role.ASSISTANT]
    done = [job.name for job in answer.jobs]
    assert done == ["answer", "plan", "search", "answer", "sum up references"]


async def test_parallel_calls_are_answered_together_and_a_follow_up_reads_the_cache(desk: Desk) -> None:
    page = Call("get_page", {"document": "Fleet", "page_number": 1})
    desk.server.script(Reply.of(SEARCH, page), ANSWER, ANSWER)
    first = await desk.ask()
    second = await desk.ask("And why?", conversation_id=first.conversation_id)

    results = desk.server.requests[1]["messages"][-1]["content"]
    assert [block["type"] for block in results if block["type"] == "tool_result"] == ["tool_result"] * 2
    assert second.citations[0].quote.startswith(f"3. {WAIT}")
    assert second.usage.cache_read_tokens > 0


async def test_a_citation_the_server_made_up_is_no_footnote(desk: Desk) -> None:
    forged = Say(
        "Wait two minutes there, always.",
        cites=(Cite(WAIT, {"cited_text": "Wait two minutes.", "end_block_index": 1}),),
    )
    desk.server.script(Reply.of(SEARCH), Reply.of(forged))
    answer = await desk.ask()

    assert (answer.status, answer.citations) == (AnswerStatus.NOT_FOUND, ())
    assert "two minutes" not in answer.text


@pytest.mark.parametrize(
    "trouble",
    [
        Fault(429, headers={"retry-after": "0"}),
        Fault(529),
        Fault(500),
        Reply.of("The gate", breaks=Break.CUT),
        Reply.of("The gate", breaks=Break.DROP),
    ],
    ids=["429", "529", "500", "cut", "dropped"],
)
async def test_passing_trouble_still_ends_in_the_answer(desk: Desk, trouble: Reply | Fault) -> None:
    desk.server.script(Reply.of(SEARCH), trouble, ANSWER)

    answer = await desk.ask()
    assert answer.citations, answer.text
    assert answer.citations[0].quote.startswith(f"3. {WAIT}")


@pytest.mark.parametrize(
    ("stall_seconds", "steps", "status", "part"),
    [
        (20, [Fault(529)] * 4, AnswerStatus.ERROR, "its side"),
        (20, [Fault(429, headers={"retry-after": "3600"})], AnswerStatus.ERROR, "again"),
        (20, [Fault(401)], AnswerStatus.ERROR, "ANTHROPIC_API_KEY"),
        (1, [Reply.of("The gate", breaks=Break.STALL)] * 4, AnswerStatus.ERROR, "in time"),
        (20, [Reply.of("I can't.", stop_reason="refusal")], AnswerStatus.REFUSED, "declined"),
        (20, [Fault(400, message="prompt is too long: 300000 tokens > 200000 maximum")], AnswerStatus.ERROR, "window"),
    ],
    ids=["overloaded", "rate-limit", "key", "stall", "refusal", "overflow"],
)
async def test_lasting_trouble_is_one_clear_stored_error(
    desk: Desk, steps: list[Reply | Fault], status: AnswerStatus, part: str
) -> None:
    desk.server.script(*steps)
    answer = await desk.ask()

    assert answer.status is status
    assert part in answer.text
    assert "Traceback" not in answer.text
    stored = (await desk.app.conversations.show(answer.conversation_id, "local"))[1]
    assert stored[-1].status == status.value


async def test_an_answer_cut_at_its_longest_says_that_it_is_partial(desk: Desk) -> None:
    cut = Reply.of(Say("Wait one full minute first.", cites=(Cite(WAIT),)), stop_reason="max_tokens")
    desk.server.script(Reply.of(SEARCH), cut)
    answer = await desk.ask()

    assert answer.partial
    assert answer.citations[0].quote.startswith(f"3. {WAIT}")


LOG = "The Long Watch"
SECTIONS = 25


def write_log(folder: Path) -> Path:
    """A journal of so many sections that they are read one by one."""
    pages = [
        {
            "_id": f"watch{number:011}",
            "name": f"Watch {number}",
            "type": "text",
            "sort": number,
            "text": {
                "format": 1,
                "content": f"<p>{f'In watch {number} Orla counts the barrels at the weir. ' * 30}</p>",
            },
        }
        for number in range(1, SECTIONS + 1)
    ]
    path = folder / "log.json"
    path.write_text(json.dumps({"_id": "longWatch0000001", "name": LOG, "pages": pages}), encoding="utf-8")
    return path


def reader(call: Call) -> Callable[[Body], Reply]:
    """A model that calls once in a turn, then answers; without tools, it takes notes. Each reply has its own length."""
    lengths = itertools.count(3)

    def reply(body: Body) -> Reply:
        last = body["messages"][-1]["content"]
        if not body.get("tools"):
            return Reply.of("- Orla counts the barrels. [1]", output_tokens=next(lengths))
        if last[0]["type"] == "tool_result":
            return Reply.of(Say("Orla counts the barrels.", cites=()), output_tokens=next(lengths))
        return Reply.of("Let me look.", call, output_tokens=next(lengths))

    return reply


def billed(usages: Sequence[Body]) -> Usage:
    """The sum of the server's own counts."""
    read, written, plain, output = (
        sum(usage[name] for usage in usages)
        for name in ("cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens", "output_tokens")
    )
    return Usage(
        input_tokens=plain + read + written,
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


async def add_log(desk: Desk, folder: Path) -> None:
    path = write_log(folder)
    await desk.app.ingests.add([path], "local", source="log", kind="auto", force=False, progress=lambda _: None)


ALL = Call("query_journal", {"query": "all barrels", "query_type": "extraction", "journal_name": LOG})


async def test_reported_tokens_are_the_servers_count_of_every_request(desk: Desk, tmp_path: Path) -> None:
    await add_log(desk, tmp_path)
    vars(desk.app.config.agent)["context"] = "summary"  # adds requests about earlier questions
    conversation: str | None = None
    names: set[str] = set()
    for number, call in enumerate([ALL, *[SEARCH] * 9]):
        desk.server.otherwise = reader(call)
        before = len(desk.server.usages)
        answer = await desk.ask(f"List all barrels, {number}.", conversation_id=conversation)
        conversation, of_server = answer.conversation_id, billed(desk.server.usages[before:])
        assert answer.usage == of_server
        root, *steps = answer.jobs
        told = [job.output for job in steps if "input_tokens" in job.output]
        assert sum(int(str(output["input_tokens"])) for output in told) == of_server.input_tokens
        assert sum(int(str(output["output_tokens"])) for output in told) == of_server.output_tokens
        costs = sum(float(str(output["cost_dollars"])) for output in told)
        assert float(str(root.output["cost_dollars"])) == pytest.approx(costs)
        names |= {job.name for job in steps if "input_tokens" in job.output}
    assert names == {"plan", "answer", "read a section", "summarise earlier questions", "repair"}


async def test_an_answer_that_failed_reports_what_it_took(desk: Desk) -> None:
    desk.server.script(Reply.of("Let me look.", SEARCH), *[Fault(529)] * 4)
    answer = await desk.ask()
    assert (answer.status, answer.usage) == (AnswerStatus.ERROR, billed(desk.server.usages))
    assert answer.usage.input_tokens > 0


async def test_notes_on_sections_keep_to_the_budget_of_the_question(desk: Desk, tmp_path: Path) -> None:
    await add_log(desk, tmp_path)
    budget = 8_000
    vars(desk.app.config.agent)["max_tokens"] = budget
    desk.server.otherwise = reader(ALL)
    answer = await desk.ask("List all barrels.")
    sections = [job for job in answer.jobs if job.name == "read a section"]
    refused = [job for job in sections if job.error and f"{budget} tokens" in job.error]
    assert len(sections) == SECTIONS
    assert 0 < len(refused) < SECTIONS
    of_sections = [
        usage for body, usage in zip(desk.server.requests, desk.server.usages, strict=True) if "tools" not in body
    ]
    assert billed(of_sections).total <= budget
    assert "Not read: " in str(desk.server.requests[-1]["messages"])


async def test_a_bound_is_told_as_a_user_and_keeps_the_cache(desk: Desk) -> None:
    looks = [
        Reply.of("I look.", Call("search", {"query": query}))
        for query in ("gate", "ferry", "rota", "bell", "tern", "map")
    ]
    desk.server.script(*looks, ANSWER)
    answer = await desk.ask()
    last, before = desk.server.requests[-1], desk.server.requests[-2]
    assert answer.partial
    assert (last["system"], last["tool_choice"]) == (before["system"], before["tool_choice"])
    assert "The limit of 6 steps" in last["messages"][-1]["content"][-1]["text"]
    so_far = billed(desk.server.usages[-2:-1])
    assert desk.server.usages[-1]["cache_read_input_tokens"] == so_far.input_tokens


async def test_words_before_a_tool_call_stay_so_that_a_follow_up_reads_the_whole_cache(desk: Desk) -> None:
    desk.server.script(Reply.of("Let me look. ", SEARCH), ANSWER, ANSWER)
    first = await desk.ask()
    await desk.ask("And why?", conversation_id=first.conversation_id)
    sent = billed(desk.server.usages[1:2])
    assert desk.server.usages[2]["cache_read_input_tokens"] == sent.input_tokens


async def test_a_passage_is_sent_once_in_a_conversation_and_stays_citable(desk: Desk) -> None:
    again = Call("search", {"query": "How long before the gate controller starts again?"})
    desk.server.script(Reply.of(SEARCH, again), ANSWER, Reply.of(SEARCH), ANSWER)
    first = await desk.ask()
    second = await desk.ask("And the controller?", conversation_id=first.conversation_id)
    for body in desk.server.requests:
        sources = [result["source"] for result in search_results(merged_turns(body["messages"]))]
        assert len(sources) == len(set(sources))
    assert "shown above" in str(desk.server.requests[-1]["messages"][-1])
    assert first.citations[0].quote == second.citations[0].quote


async def test_a_model_that_there_is_not_is_told_before_the_question_is_asked(desk: Desk) -> None:
    asked = question_message("local", "How long?")
    check = desk.app.strategies.check
    await check(replace(asked, model=MODEL, strategy="deep"))
    with pytest.raises(BadInput, match="claude-nope"):
        await check(replace(asked, model="claude-nope"))
    with pytest.raises(UnsupportedFeature, match="guess"):
        await check(replace(asked, strategy="guess"))
    desk.server.models_fault = Fault(404)  # a gateway without a list of models
    await check(replace(asked, model="claude-nope"))
    assert desk.server.requests == []
