"""What is counted, in Prometheus' own form."""

from datetime import date

from prometheus_client.parser import text_string_to_metric_families

from bot.runtime.metrics import MeteredRun, Metrics
from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.ingest_report import Failure, IngestReport
from core.domain.replies import Usage
from core.domain.service import InboxStatus
from core.domain.spending import CallPurpose, SpendingLine, Spent

ADDRESS = ThreadAddress(platform="web", workspace="local", channel="c", thread="t")
MESSAGE = IncomingMessage(address=ADDRESS, author="ada", text="Where?", event_key="e")


def values(metrics: Metrics, depth: dict[InboxStatus, int] | None = None) -> dict[tuple[str, ...], float]:
    """(name, label values ...) -> value, of what is not zero."""
    text = metrics.render(depth or {}).decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(s.name, *s.labels.values()): s.value for s in samples if s.value and not s.name.endswith("_created")}


def test_an_answer_counts_by_outcome_stage_and_token() -> None:
    metrics = Metrics()
    usage = Usage(input_tokens=100, output_tokens=20, cache_read_tokens=50)
    timings = {"total": 1500.0, "model": 1000.0}
    metrics.answered("web", Answer(status=AnswerStatus.NOT_FOUND, text="No.", usage=usage, timings_ms=timings))
    found = values(metrics)

    assert found["footnote_questions_total", "not_found", "web"] == 1
    assert found["footnote_answer_seconds_sum", "total"] == 1.5
    assert found["footnote_answer_seconds_sum", "model"] == 1.0
    assert [found["footnote_tokens_total", name] for name in ("input", "output", "cache_read")] == [100, 20, 50]


def test_the_cost_of_answers_and_of_today_is_shown() -> None:
    metrics = Metrics()
    metrics.spent(Spent(calls=2, micros=20_000))
    metrics.spent(Spent(calls=1, unpriced=1))  # unknown is not nothing
    lines = [
        SpendingLine(
            day=date(2026, 3, 1), workspace="local", person=person, purpose=CallPurpose.ANSWER, model="m",
            spent=Spent(calls=1, micros=500_000),
        )
        for person in ("ada", "ben")
    ]  # fmt: skip
    for _ in range(2):
        text = metrics.render({}, lines).decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    found = {(s.name, *s.labels.values()): s.value for s in samples}
    assert (found["footnote_answer_cost_dollars_sum",], found["footnote_answer_cost_dollars_count",]) == (0.02, 1)
    assert found["footnote_cost_dollars", "answer", "local"] == 1.0
    assert found["footnote_model_calls", "answer", "local"] == 2


def test_the_queue_is_as_deep_as_it_is_now() -> None:
    metrics = Metrics()
    metrics.render({InboxStatus.QUEUED: 7})
    found = values(metrics, {InboxStatus.RUNNING: 2})

    assert found == {("footnote_queue_depth", "running"): 2.0}


def test_an_ingest_counts_its_documents_and_passages() -> None:
    metrics = Metrics()
    metrics.ingested(IngestReport(added=3, failures=[Failure(path="x", reason="odd")], passages=40, seconds=2.0))
    found = values(metrics)

    assert found["footnote_ingest_documents_total", "added"] == 3
    assert found["footnote_ingest_documents_total", "failed"] == 1
    assert found["footnote_ingest_passages_total",] == 40
    assert found["footnote_ingest_seconds_sum",] == 2.0


def test_two_services_in_one_process_count_apart() -> None:
    first, second = Metrics(), Metrics()
    first.raised("web")

    assert values(second) == {}


async def test_a_run_counts_its_answer_or_that_it_raised() -> None:
    metrics = Metrics()
    run = MeteredRun(metrics, None)
    run.count_answer(MESSAGE, Answer(status=AnswerStatus.ANSWERED, text="Here."))
    run.count_answer(MESSAGE, Answer(status=AnswerStatus.STOPPED, text="Stopped."))
    run.count_failure(MESSAGE)

    found = values(metrics)
    assert [found["footnote_questions_total", outcome, "web"] for outcome in ("answered", "stopped", "raised")] == [
        1
    ] * 3
