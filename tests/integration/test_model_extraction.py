"""Extractors that ask a model: the real SDK over HTTP, and stores in memory."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, cast

import pytest
from pydantic import SecretStr

from core.domain.corpus import Document
from core.domain.extracts import Extract, ExtractQuery, ExtractType, ModelLimits
from core.domain.ingest_report import ExtractionReport
from core.domain.jobs import JobStatus
from core.errors import BadInput
from core.ports.documents import ModelExtractor
from core.work.rate_limit import Rate, RateLimiter
from core.work.steps import Steps
from storage.database.repositories.jobs import SqlJobRepository
from storage.documents.extraction.by_model import TOOL, ModelExtractionRunner
from storage.documents.extractors.base import build_model_extractors
from storage.models.anthropic.provider import AnthropicProvider
from storage.models.vendor import Limits
from tests.anthropic_server import AnthropicServer, Call, Fault, Reply
from tests.anthropic_server.server import KEY, MODEL
from tests.builders import NOON
from tests.fakes import ManualClock
from tests.stores import Stores
from tests.unit.core.library_builder import Shelf

HELD = "The harbour board met in the old customs house on Monday."
DECIDED = "After a long talk everybody was for closing the pier in May."
TASK = "Carla said she would ask two firms for offers by 2026-04-01."
NOTES = f"{HELD} {DECIDED} {TASK}"
OTHER = "The night watch is kept by two people, and the lamp of the northern mole is lit at dusk."
LIMITS = ModelLimits(tokens_per_run=100_000, tokens_per_day=1_000_000)
MEETINGS = tuple(item for item in build_model_extractors() if item.name == "model_meetings")


@dataclass
class Bench:
    """A shelf, and runs of extractors over it that ask the test server."""

    server: AnthropicServer
    provider: AnthropicProvider
    shelf: Shelf = field(default_factory=Shelf)
    jobs: SqlJobRepository = field(default_factory=lambda: Stores().jobs)
    clock: ManualClock = field(default_factory=ManualClock)
    waits: list[float] = field(default_factory=list)
    limits: ModelLimits = LIMITS
    extractors: Sequence[ModelExtractor] = MEETINGS

    def __post_init__(self) -> None:
        self.readings = self.shelf.stores.readings
        self.gate = RateLimiter(Rate(per_second=0.5, burst=1), self.clock)

    async def run(self, **options: Any) -> ExtractionReport:
        runner = ModelExtractionRunner(
            corpus=self.shelf.corpus,
            extracts=self.shelf.extracts,
            readings=self.readings,
            extractors=self.extractors,
            provider=self.provider,
            limits=self.limits,
            model=None,
            gate=self.gate,
            clock=self.clock,
            pause=self._pause,
        )
        steps = Steps(self.jobs, self.clock, "local")
        return await runner.run("local", steps=steps, **options)

    async def _pause(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.clock.advance(seconds)

    async def extracts(self, kind: ExtractType | None = None) -> list[Extract]:
        return await self.shelf.extracts.list_extracts(ExtractQuery(type=kind), self.shelf.scope())


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with AnthropicServer() as server:
        limits = Limits(max_output_tokens=4_096, timeout_seconds=60, stall_seconds=30, max_retries=0)
        provider = AnthropicProvider(api_key=SecretStr(KEY), model=MODEL, limits=limits, base_url=server.url)
        yield Bench(server, provider)
        await provider.close()


def records(**said: Sequence[dict[str, Any]]) -> Reply:
    return Reply.of(Call(TOOL, said))


def rows(extract: Extract, name: str) -> list[dict[str, Any]]:
    """The items of an extract that is made of some."""
    return list(cast("Any", extract.data[name]))


def decision(quote: str = DECIDED) -> dict[str, Any]:
    return {"kind": "decision", "quote": quote}


def task(**fields: Any) -> dict[str, Any]:
    return {"kind": "action_item", "quote": TASK, "description": "ask two firms for offers", "owner": "Carla", **fields}


async def add(bench: Bench, *pages: str, **fields: Any) -> Document:
    return await bench.shelf.add(fields.pop("path", "board.md"), *pages, title="Harbour board", **fields)


async def test_what_a_model_says_of_prose_becomes_a_proved_extract(bench: Bench) -> None:
    await add(bench, NOTES)
    bench.server.script(records(model_meetings=[decision(), task(due_date="2026-04-01")]))
    report = await bench.run()
    [meeting] = await bench.extracts()
    assert (meeting.type, meeting.extractor, meeting.confidence) == (ExtractType.MEETING, "model_meetings", 0.5)
    assert meeting.span.of(NOTES) == DECIDED
    [said] = rows(meeting, "decisions")
    assert NOTES[slice(*said["span"])] == said["text"] == DECIDED
    [action] = rows(meeting, "action_items")
    told = action["description"], action["owner"], action["due_date"]
    assert told == ("ask two firms for offers", "Carla", "2026-04-01")
    assert (report.extracts, report.spent.requests, report.stopped, report.failures) == (1, 1, None, [])


async def test_the_model_is_shown_the_piece_as_data_and_has_to_call_the_one_tool(bench: Bench) -> None:
    await add(bench, NOTES)
    await bench.run()
    [request] = bench.server.requests
    assert request["tool_choice"]["type"] == "any"
    [tool] = request["tools"]
    assert (tool["name"], list(tool["input_schema"]["properties"])) == (TOOL, ["model_meetings"])
    shown = request["messages"][0]["content"]
    text = shown if isinstance(shown, str) else shown[0]["text"]
    mark = text.split("<", 1)[1].split(">", 1)[0]
    assert f"<{mark}>\n{NOTES}\n</{mark}>" in text and mark not in NOTES


async def test_all_extractors_share_one_request_for_a_piece(bench: Bench) -> None:
    bench.extractors = build_model_extractors()
    text = f"{NOTES} Repairs cost $1.2 million in 2025. Ask the gate by GET /gates/{{id}} of the harbour's API."
    await add(bench, text)
    bench.server.script(
        records(
            model_meetings=[decision()],
            model_api=[{"quote": "GET /gates/{id}", "method": "GET", "path": "/gates/{id}"}],
            model_financial=[
                {
                    "quote": "Repairs cost $1.2 million in 2025",
                    "metric": "Repairs",
                    "amount": "$1.2 million",
                    "period": "2025",
                }
            ],
            model_entities=[{"quote": "Carla said", "name": "Carla", "kind": "person"}],
            model_relations=[{"quote": TASK, "source": "Carla", "kind": "related to", "target": "firms"}],
            model_pages=[{"quote": HELD, "summary": "The harbour board closes the pier.", "topics": ["harbour board"]}],
        )
    )
    report = await bench.run()
    assert (report.spent.requests, report.failures) == (1, [])
    found = {item.type: item for item in await bench.extracts()}
    assert set(found) == {
        ExtractType.MEETING, ExtractType.API, ExtractType.FINANCIAL,
        ExtractType.ENTITY, ExtractType.RELATION, ExtractType.PAGE,
    }  # fmt: skip
    [figure] = rows(found[ExtractType.FINANCIAL], "rows")
    assert (figure["value"], figure["unit"], figure["period"]) == (1_200_000.0, "USD", "2025")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"kind": "decision", "quote": "The pier was sold."}, "its quote is not on page 1: 'The pier was sold.'"),
        ({"kind": "verdict", "quote": DECIDED}, "it does not match the schema: kind"),
        ({"kind": "decision", "quote": DECIDED, "sure": True}, "it does not match the schema: sure"),
        ({"kind": "attendee", "quote": HELD, "name": "Dora"}, "the attendee 'Dora' is not in the quote"),
    ],
)
async def test_what_is_not_on_the_page_is_refused_and_recorded(bench: Bench, said: dict[str, Any], reason: str) -> None:
    await add(bench, NOTES)
    bench.server.script(records(model_meetings=[said, decision()]))
    report = await bench.run()
    [(path, extractor, why)] = report.failures
    assert (path, extractor) == ("board.md", "model_meetings") and reason in why
    [run] = await bench.shelf.extracts.extractions("local")
    assert run.error == why
    [meeting] = await bench.extracts()
    assert len(rows(meeting, "decisions")) == 1


async def test_owners_and_days_that_the_text_does_not_give_are_left_out(bench: Bench) -> None:
    await add(bench, NOTES)
    made_up = task(owner="Ben", due_date="2027-01-01", description="buy a crane")
    bench.server.script(records(model_meetings=[made_up]))
    await bench.run()
    [meeting] = await bench.extracts()
    [action] = rows(meeting, "action_items")
    assert (action["description"], action["owner"], action["due_date"]) == (TASK, None, None)


async def test_what_rules_found_is_not_given_twice(bench: Bench) -> None:
    document = await add(bench, NOTES)
    start = NOTES.index(DECIDED)
    known = {"decisions": [{"page_number": 1, "span": (start, start + len(DECIDED)), "text": DECIDED}]}
    await bench.shelf.extract(document, ExtractType.MEETING, {"date": "2026-03-02", **known})
    bench.server.script(records(model_meetings=[decision(), task()]))
    await bench.run()
    meeting = next(item for item in await bench.extracts() if item.extractor == "model_meetings")
    assert (rows(meeting, "decisions"), meeting.data["date"]) == ([], "2026-03-02")
    assert len(rows(meeting, "action_items")) == 1


async def test_a_run_that_was_cut_off_goes_on_behind_the_pages_it_had_finished(bench: Bench) -> None:
    await add(bench, NOTES, OTHER, f"Third page. {OTHER}")
    bench.server.script(records(model_meetings=[decision()]), Fault(529))
    first = await bench.run()
    assert first.stopped is not None and first.waiting == 1 and await bench.extracts() == []
    assert first.job_id is not None
    root, step = await bench.jobs.list_tree(first.job_id)
    assert (root.status, step.status) == (JobStatus.FAILED, JobStatus.FAILED)
    bench.server.script(records(), records())
    second = await bench.run()
    assert (second.spent.requests, second.documents, second.waiting) == (2, 1, 0)
    assert len(await bench.extracts()) == 1
    assert (await bench.run()).job_id is None


async def test_only_pieces_that_changed_are_asked_about_again(bench: Bench) -> None:
    await add(bench, NOTES, OTHER)
    bench.server.script(records(model_meetings=[decision()]), records())
    await bench.run()
    await add(bench, f"A new front page. {OTHER}", NOTES, revision="r2")
    bench.server.script(records())
    report = await bench.run()
    assert report.spent.requests == 1
    [meeting] = await bench.extracts()
    assert (meeting.page_number, meeting.span.of(NOTES)) == (2, DECIDED)
    assert (await bench.run(force=True)).spent.requests == 2


async def test_when_rules_find_something_later_it_is_compared_without_asking(bench: Bench) -> None:
    bench.clock = ManualClock(NOON - timedelta(hours=1))
    document = await add(bench, NOTES)
    bench.server.script(records(model_meetings=[decision()]))
    await bench.run()
    start = NOTES.index(DECIDED)
    known = {"decisions": [{"page_number": 1, "span": (start, start + len(DECIDED)), "text": DECIDED}]}
    await bench.shelf.extract(document, ExtractType.MEETING, known)  # at noon
    report = await bench.run()
    assert (report.documents, report.spent.requests) == (1, 0)
    assert [item.extractor for item in await bench.extracts()] != ["model_meetings"]
    assert len(await bench.extracts()) == 1


async def test_requests_keep_to_the_rate(bench: Bench) -> None:
    await add(bench, NOTES, OTHER)
    bench.server.script(records(), records())
    await bench.run()
    assert bench.waits == [pytest.approx(2.0)]


async def test_a_budget_ends_the_run_before_it_is_overspent(bench: Bench) -> None:
    await add(bench, NOTES, OTHER)
    bench.limits = replace(LIMITS, tokens_per_run=5_200)
    bench.server.script(records())
    report = await bench.run()
    assert report.stopped is not None and "5,200 tokens is used up" in report.stopped
    assert (report.waiting, report.spent.requests) == (1, 1) and report.spent.tokens <= 5_200
    [root, *_] = await bench.jobs.list_tree(report.job_id or "")
    assert root.output["stopped"] == report.stopped


async def test_the_days_budget_is_that_of_all_runs_and_new_on_the_next_day(bench: Bench) -> None:
    await add(bench, NOTES, OTHER)
    bench.limits = replace(LIMITS, tokens_per_day=5_200)
    bench.server.script(records(), records())
    first, second = await bench.run(), await bench.run()
    assert (first.spent.requests, second.spent.requests) == (1, 0)
    assert second.resume_at is not None and second.resume_at.date() == bench.clock.now().date() + timedelta(days=1)
    bench.clock.advance(timedelta(days=1).total_seconds())
    third = await bench.run()
    assert (third.spent.requests, third.stopped, third.documents) == (1, None, 1)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply.of("I would rather not."), "the model returned no data"),
        (Reply.of(Call(TOOL, {"model_meetings": "none"})), "the model's reply is not a list of objects"),
        (Reply.of("Well", stop_reason="max_tokens"), "the model's answer was truncated"),
        (Reply.of("No", stop_reason="refusal"), "declined"),
    ],
)
async def test_a_piece_without_an_answer_is_a_warning_and_is_not_asked_about_for_ever(
    bench: Bench, reply: Reply, reason: str
) -> None:
    await add(bench, NOTES)
    bench.server.script(reply)
    report = await bench.run()
    [(_, _, warning)] = report.warnings
    assert reason in warning and report.documents == 1
    assert (await bench.run()).spent.requests == 0


async def test_an_answer_that_is_too_long_is_asked_for_in_halves(bench: Bench) -> None:
    bench.extractors = build_model_extractors()[3:5]
    await add(bench, NOTES)
    carla = {"quote": "Carla said", "name": "Carla", "kind": "person"}
    bench.server.script(Reply.of("So", stop_reason="max_tokens"), records(model_entities=[carla]), records())
    report = await bench.run()
    assert (report.spent.requests, report.warnings) == (3, [])
    assert [list(each["tools"][0]["input_schema"]["properties"]) for each in bench.server.requests[1:]] == [
        ["model_entities"],
        ["model_relations"],
    ]


async def test_requests_that_are_refused_by_their_form_are_given_up_after_a_few_documents(bench: Bench) -> None:
    for number in range(5):
        await add(bench, f"{NOTES} {number}", path=f"{number}.md")
    bench.server.script(*[Fault(400, "no such field")] * 5)
    report = await bench.run()
    assert len(bench.server.requests) == 3 and len(report.failures) == 3
    assert report.stopped is not None and report.waiting == 5


async def test_an_unknown_extractor_is_refused(bench: Bench) -> None:
    with pytest.raises(BadInput, match="'nothing' is not an extractor"):
        await bench.run(extractor="nothing")
