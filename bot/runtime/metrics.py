"""The service's Prometheus metrics: questions by outcome, latency by stage, queue depth, tokens, ingest.

Each `Metrics` has its own registry, so that two services in one process don't share counts.
"""

from collections.abc import Callable, Mapping, Sequence

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from core.domain.answer import Answer
from core.domain.features import Cassette
from core.domain.incoming import IncomingMessage
from core.domain.ingest_report import IngestReport
from core.domain.service import InboxStatus
from core.domain.spending import SpendingLine, Spent
from core.features.replay.recording import Recording

CONTENT_TYPE = CONTENT_TYPE_LATEST
# Seconds. An extractive answer takes tenths, a model's some seconds, the agent's budget ends it at two minutes.
LATENCY_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160)
COST_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
INGEST_BUCKETS = (0.1, 1, 10, 60, 300, 1800, 7200)
RAISED = "raised"  # outcome of an attempt that raised; the worker may retry


class Metrics:
    """Counters of the process, and the current queue."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._questions = Counter(
            "footnote_questions", "Questions answered, by outcome.", ["platform", "outcome"], registry=self.registry
        )
        self._latency = Histogram(
            "footnote_answer_seconds",
            "Time of an answer, by stage (total, retrieval, model).",
            ["stage"],
            buckets=LATENCY_BUCKETS,
            registry=self.registry,
        )
        self._tokens = Counter("footnote_tokens", "Tokens of the model.", ["direction"], registry=self.registry)
        self._queue = Gauge(
            "footnote_queue_depth", "Messages not ended, by status.", ["status"], registry=self.registry
        )
        self._documents = Counter(
            "footnote_ingest_documents", "Documents seen by ingests, by result.", ["result"], registry=self.registry
        )
        self._passages = Counter("footnote_ingest_passages", "Passages stored by ingests.", registry=self.registry)
        self._ingest = Histogram(
            "footnote_ingest_seconds", "Time of an ingest.", buckets=INGEST_BUCKETS, registry=self.registry
        )

        self._answer_cost = Histogram(
            "footnote_answer_cost_dollars",
            "Cost of an answer's model calls, as far as their prices are known.",
            buckets=COST_BUCKETS,
            registry=self.registry,
        )
        day = "of today (UTC), in all processes"
        by_purpose = ["workspace", "purpose"]
        self._cost = Gauge("footnote_cost_dollars", f"Cost of model calls {day}.", by_purpose, registry=self.registry)
        self._calls = Gauge("footnote_model_calls", f"Model calls {day}.", by_purpose, registry=self.registry)

    def spent(self, spent: Spent) -> None:
        """Count the model calls of an answer."""
        if spent.calls > spent.unpriced:
            self._answer_cost.observe(spent.dollars)

    def answered(self, platform: str, answer: Answer) -> None:
        self._questions.labels(platform, answer.status.value).inc()
        for stage, milliseconds in answer.timings_ms.items():
            self._latency.labels(stage).observe(milliseconds / 1000)
        self._tokens.labels("input").inc(answer.usage.input_tokens)
        self._tokens.labels("output").inc(answer.usage.output_tokens)
        self._tokens.labels("cache_read").inc(answer.usage.cache_read_tokens)

    def raised(self, platform: str) -> None:
        """Count an attempt without an answer."""
        self._questions.labels(platform, RAISED).inc()

    def ingested(self, report: IngestReport) -> None:
        for result in ("added", "updated", "unchanged", "removed"):
            self._documents.labels(result).inc(getattr(report, result))
        self._documents.labels("failed").inc(len(report.failures))
        self._passages.inc(report.passages)
        self._ingest.observe(report.seconds)

    def render(self, depth: Mapping[InboxStatus, int], today: Sequence[SpendingLine] = ()) -> bytes:
        """Return the exposition format, with the current depth of the queue and the model calls of today."""
        for gauge in (self._cost, self._calls):
            gauge.clear()
        for line in today:
            labels = (line.workspace, line.purpose.value)
            self._cost.labels(*labels).inc(line.spent.dollars)
            self._calls.labels(*labels).inc(line.spent.calls)
        for status in (InboxStatus.QUEUED, InboxStatus.RUNNING):
            self._queue.labels(status.value).set(depth.get(status, 0))
        return generate_latest(self.registry)


class MeteredRun(Recording):
    """Counts the outcome of a run in the metrics, and records it if `keep` is given."""

    def __init__(self, metrics: Metrics, keep: Callable[[str, Cassette], None] | None) -> None:
        super().__init__(keep or (lambda message_id, cassette: None))
        self._metrics = metrics

    def count_answer(self, message: IncomingMessage, answer: Answer) -> None:
        self._metrics.answered(message.address.platform, answer)

    def count_spending(self, spent: Spent) -> None:
        self._metrics.spent(spent)

    def count_failure(self, message: IncomingMessage) -> None:
        self._metrics.raised(message.address.platform)
