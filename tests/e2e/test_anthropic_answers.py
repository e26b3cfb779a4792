"""Questions to a writing model, whole way: command-line app, agent loop, real SDK over HTTP, proof, history.

Every fault of the server ends in an answer or in one clear error, and both are stored.
"""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot.cli.questions import question_message
from bot.config import Config
from bot.wiring.parts import Parts, open_parts
from bot.wiring.pipeline import build_pipeline
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import Role
from tests.anthropic_server import AnthropicServer, Call, Cite, Fault, Reply, Say
from tests.anthropic_server.script import Break
from tests.anthropic_server.server import KEY, MODEL
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
        from dataclasses import replace

        message = replace(question_message("local", text), **fields)
        return await build_pipeline(self.app).answer(message, self.progress)


Make = Callable[..., Config]


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
