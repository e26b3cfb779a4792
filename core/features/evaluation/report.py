"""The rates of an evaluation, all between 0 and 1, and None where no question could say anything about one:

- recall_at_5, recall_at_10, mrr: over lookups with a gold quote; a page is gold when it holds the quote (and is of the
  gold document, where one is named);
- footnote_document, footnote_page: lookups (with a gold document, a gold quote) that have a proved footnote there;
- answered: lookups with a gold answer whose text holds it;
- followup: follow-ups with a proved footnote on the gold document;
- refused_unanswerable, refused_answerable: unanswerable questions, and lookups, that got no answer with a footnote.
  An error is no refusal.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.domain.answer import AnswerStatus
from core.features.evaluation.gold import FOLLOW_UP, LOOKUP, UNANSWERABLE, GoldQuestion

# Latency of an answer as the person who asks sees it: median and 95th percentile.
PERCENTILES = (50, 95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one question. `rank` is the place of the first gold page from 1, None: not among SEARCHED."""

    question: GoldQuestion
    status: str
    rank: int | None
    footnote_document: bool
    footnote_page: bool
    holds_answer: bool
    reveals: bool  # it says what it must not
    seconds: float

    @property
    def answered(self) -> bool:
        return self.status == AnswerStatus.ANSWERED

    @property
    def refused(self) -> bool:
        return self.status not in (AnswerStatus.ANSWERED, AnswerStatus.ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedCase:
    """A regression case, made again from its recording; `difference` in a sentence, None: equal to the byte."""

    message_id: str
    question: str
    difference: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationReport:
    """The outcomes, in the order of the file, the questions left out with the reason, and the regression cases."""

    outcomes: tuple[Outcome, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    cases: tuple[PlayedCase, ...] = ()

    def to_json(self) -> dict[str, object]:
        by_kind: dict[str, list[Outcome]] = defaultdict(list)
        for outcome in self.outcomes:
            by_kind[outcome.question.set_kind or "other"].append(outcome)
        return {
            **_rates(self.outcomes),
            "latency_ms": _latency(self.outcomes),
            "by_set_kind": {kind: _rates(outcomes) for kind, outcomes in sorted(by_kind.items())},
            "reveals": sum(outcome.reveals for outcome in self.outcomes),
            "left_out": dict(self.left_out),
            "cases": {
                "played": len(self.cases),
                "equal": sum(case.difference is None for case in self.cases),
                "different": [
                    {"id": case.message_id, "question": case.question, "difference": case.difference}
                    for case in self.cases
                    if case.difference is not None
                ],
            },
        }


def _rates(outcomes: Sequence[Outcome]) -> dict[str, object]:
    lookups = [outcome for outcome in outcomes if outcome.question.type == LOOKUP]
    quoted = [outcome for outcome in lookups if outcome.question.quote]
    placed = [outcome for outcome in lookups if outcome.question.document]
    told = [outcome for outcome in lookups if outcome.question.answers]
    follow_ups = [outcome for outcome in outcomes if outcome.question.type == FOLLOW_UP and outcome.question.document]
    unanswerable = [outcome for outcome in outcomes if outcome.question.type == UNANSWERABLE]
    return {
        "questions": len(outcomes),
        "recall_at_5": _mean(float(outcome.rank is not None and outcome.rank <= 5) for outcome in quoted),
        "recall_at_10": _mean(float(outcome.rank is not None) for outcome in quoted),
        "mrr": _mean(1 / outcome.rank if outcome.rank else 0.0 for outcome in quoted),
        "footnote_document": _mean(float(outcome.footnote_document) for outcome in placed),
        "footnote_page": _mean(float(outcome.footnote_page) for outcome in quoted),
        "answered": _mean(float(outcome.holds_answer and outcome.answered) for outcome in told),
        "refused_unanswerable": _mean(float(outcome.refused) for outcome in unanswerable),
        "refused_answerable": _mean(float(outcome.refused) for outcome in lookups),
        "followup": _mean(float(outcome.footnote_document) for outcome in follow_ups),
    }


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return round(sum(found) / len(found), 4) if found else None


def _latency(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """By nearest rank, in milliseconds."""
    times = sorted(outcome.seconds * 1000 for outcome in outcomes)
    return {
        f"p{share}": round(times[max(math.ceil(len(times) * share / 100) - 1, 0)], 1) if times else None
        for share in PERCENTILES
    }
