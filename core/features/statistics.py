"""Usage statistics of a workspace's library: documents cited most and never, and unanswered questions."""

from collections import Counter
from collections.abc import Container, Sequence
from datetime import timedelta
from typing import Protocol

from core.domain.answer import AnswerStatus
from core.domain.corpus import Document, SearchScope
from core.domain.features import AskedQuestion, CitedDocument, CoverageGap, Statistics
from core.domain.replies import Usage
from core.domain.spending import MICRO, SpendingReport, Spent
from core.ports import Clock, CorpusRepository
from core.ports.spending import SpendingStore
from core.serializers.objects import Json

DAYS = 90
MOST_LISTED = 10  # documents and gaps
MOST_QUESTIONS = 3  # shown of a gap
# The newest unanswered questions that are compared with each other: some seconds of embedding.
MOST_COMPARED = 500


class AskedRepository(Protocol):
    async def asked(self, workspace: str, days: float) -> list[AskedQuestion]:
        """The questions of a workspace's last days that have an answer, newest first, at most 10,000."""
        ...


class MeaningGroups(Protocol):
    async def group(self, texts: Sequence[str]) -> list[list[int]]:
        """Places of texts that mean about the same, in order; every text in one group, groups by their first text."""
        ...


class UsageStatistics:
    def __init__(
        self,
        *,
        asked: AskedRepository,
        corpus: CorpusRepository,
        groups: MeaningGroups,
        spending: SpendingStore,
        clock: Clock,
    ) -> None:
        self._spending = spending
        self._asked = asked
        self._corpus = corpus
        self._groups = groups
        self._clock = clock

    async def of(self, scope: SearchScope, days: float = DAYS, platforms: Container[str] | None = None) -> Statistics:
        """Of a workspace's last days, with the documents that the scope may read.

        Questions are quoted that were asked on `platforms`; None: on all.
        """
        found = await self._asked.asked(scope.workspace, days)
        documents = [item for item in await self._corpus.list_readable(scope) if item.revision is not None]
        counted = Counter(question.status for question in found)
        cited = Counter(key for question in found for key in question.document_ids)
        ranked = sorted((item for item in documents if cited[item.id]), key=lambda item: -cited[item.id])
        never = [item for item in documents if not cited[item.id]]
        since = self._clock.now() - timedelta(days=days)
        unanswered = _unanswered(found)
        shown = [item for item in unanswered if platforms is None or item.address.platform in platforms]
        return Statistics(
            since=since,
            questions=len(found),
            by_status={status: counted[status] for status in AnswerStatus if counted[status]},
            helpful=sum(question.helpful for question in found),
            not_helpful=sum(question.not_helpful for question in found),
            reasons=dict(Counter(reason for question in found for reason in question.reasons).most_common()),
            usage=sum((question.usage for question in found), Usage()),
            spending=await self._spending.report(scope.workspace, since.date()),
            documents=len(documents),
            most_cited=tuple(CitedDocument(document=item, answers=cited[item.id]) for item in ranked[:MOST_LISTED]),
            never_cited=tuple(never[:MOST_LISTED]),
            never_cited_count=len(never),
            gaps=(await self.gaps(shown))[:MOST_LISTED],
            hidden=len(unanswered) - len(shown),
        )

    async def unanswered(self, workspace: str, days: float = DAYS) -> list[AskedQuestion]:
        """Return the public questions of a workspace's last days without an answer, newest first."""
        return _unanswered(await self._asked.asked(workspace, days))

    async def gaps(self, unanswered: Sequence[AskedQuestion]) -> tuple[CoverageGap, ...]:
        """Return questions by their meaning, most frequent first."""
        open_ones = unanswered[:MOST_COMPARED]
        groups = await self._groups.group([question.text for question in open_ones]) if open_ones else []
        gaps = [_to_gap([open_ones[place] for place in group]) for group in groups]
        return tuple(sorted(gaps, key=lambda gap: -gap.count))


def _unanswered(found: Sequence[AskedQuestion]) -> list[AskedQuestion]:
    return [question for question in found if question.status is AnswerStatus.NOT_FOUND and not question.is_private]


def _to_gap(questions: Sequence[AskedQuestion]) -> CoverageGap:
    texts = dict.fromkeys(question.text for question in questions)
    return CoverageGap(
        questions=tuple(texts)[:MOST_QUESTIONS],
        count=len(questions),
        last_asked_at=max(question.asked_at for question in questions),
    )


def statistics_json(found: Statistics) -> Json:
    """Lists are cut as they are in `found`; counts are of all."""
    return {
        "since": found.since.isoformat(),
        "questions": found.questions,
        "by_status": {status.value: count for status, count in found.by_status.items()},
        "helpful": found.helpful,
        "not_helpful": found.not_helpful,
        "not_helpful_reasons": {reason.value: count for reason, count in found.reasons.items()},
        "usage": {
            "input_tokens": found.usage.input_tokens,
            "output_tokens": found.usage.output_tokens,
            "cache_read_tokens": found.usage.cache_read_tokens,
            "cache_hit_rate": found.cache_hit_rate,
        },
        "spending": _spending(found.spending),
        "documents": found.documents,
        "most_cited": [{**_document(item.document), "answers": item.answers} for item in found.most_cited],
        "never_cited": [_document(item) for item in found.never_cited],
        "never_cited_count": found.never_cited_count,
        "gaps": [
            {"questions": list(gap.questions), "count": gap.count, "last_asked_at": gap.last_asked_at.isoformat()}
            for gap in found.gaps
        ],
    }


def _spending(report: SpendingReport) -> Json:
    micros = report.micros_per_answer
    return {
        **_spent(report.total),
        "answers": report.answers,
        "dollars_per_answer": None if micros is None else micros / MICRO,
        **{
            f"by_{name}": [{name: key, **_spent(spent)} for key, spent in report.by(name)]
            for name in ("day", "person", "purpose", "model")
        },
    }


def _spent(spent: Spent) -> Json:
    return {
        "calls": spent.calls,
        "tokens": spent.tokens,
        "dollars": spent.dollars,
        "calls_without_price": spent.unpriced,
    }


def _document(document: Document) -> Json:
    return {"document": document.path, "source": document.source, "title": document.title}
