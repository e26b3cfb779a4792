"""How good search and answers are over a file of questions with gold answers (`footnote eval`). Pure but for the calls.

Each question is searched and asked; follow-ups are asked in the conversation of the question before them. What the
rates mean, all between 0 and 1 and None where no question of the kind was asked:

- recall_at_5, recall_at_10, mrr: over lookups; a page is gold when it holds the gold quote (see `holds_quote`);
- footnote_document, footnote_page: lookups with a proved footnote on the gold document, on a gold page of it;
- answered: lookups whose text holds the gold answer;
- followup: follow-ups with a proved footnote on the gold document;
- refused_unanswerable, refused_answerable: unanswerable questions, and lookups, that got no answer with a footnote.
"""

import json
import math
import time
import unicodedata
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.domain.answer import Answer, AnswerStatus
from core.errors import BadInput
from core.texts import collapse

LOOKUP = "lookup"
FOLLOW_UP = "followup"
UNANSWERABLE = "unanswerable"
SEARCHED = 10  # pages; recall_at_10 needs as many
# Latency of an answer as the person who asks sees it: median and 95th percentile.
PERCENTILES = (50, 95)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldQuestion:
    """A line of a question file. `document` is where the answer stands, not a filter."""

    id: str
    question: str
    type: str = LOOKUP
    set_kind: str = ""
    document: str | None = None
    quote: str | None = None
    answers: tuple[str, ...] = ()
    any_answer: bool = False  # one of `answers` is enough
    followup_of: str | None = None
    position: str | None = None  # how far the reader is in `document`
    forbidden: tuple[str, ...] = ()  # must not stand in the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage:
    """A page that a search found: its document's path and its text."""

    document: str
    text: str


Search = Callable[[GoldQuestion], Awaitable[Sequence[FoundPage]]]
# The question and the id of the conversation it goes on with.
Ask = Callable[[GoldQuestion, str | None], Awaitable[Answer]]
# The text of a cited page, by its id.
PageText = Callable[[str], Awaitable[str]]


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
    def refused(self) -> bool:
        return self.status != AnswerStatus.ANSWERED


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


def read_questions(lines: Iterable[str]) -> list[GoldQuestion]:
    """The questions of a JSON-lines file, in order. Raises BadInput naming the line."""
    questions: list[GoldQuestion] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            questions.append(_read_question(line, number))
    known: set[str] = set()
    for question in questions:
        if question.id in known:
            raise BadInput(f"Two questions have the id {question.id!r}: give each its own.")
        if question.followup_of is not None and question.followup_of not in known:
            raise BadInput(f"{question.id!r} follows {question.followup_of!r}, which does not stand before it.")
        known.add(question.id)
    return questions


async def evaluate(
    questions: Sequence[GoldQuestion],
    *,
    search: Search,
    ask: Ask,
    page_text: PageText,
    documents: Collection[str],
    on_question: Callable[[Outcome], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> EvaluationReport:
    """Search and ask every question whose document is in the library (`documents`: paths), in order.

    A follow-up of a question that is left out is left out, too. `on_question` is told of each outcome.
    """
    left_out: dict[str, str] = {}
    conversations: dict[str, str] = {}
    outcomes: list[Outcome] = []
    for question in questions:
        if question.document is not None and question.document not in documents:
            left_out[question.id] = f"{question.document} is not in the library"
        elif question.followup_of is not None and question.followup_of not in conversations:
            left_out[question.id] = f"it follows {question.followup_of}, which was left out"
        else:
            conversation = conversations.get(question.followup_of or "")
            started = clock()
            answer = await ask(question, conversation)
            seconds = clock() - started
            conversations[question.id] = answer.conversation_id
            outcomes.append(await _outcome(question, answer, await search(question), page_text, seconds))
            if on_question is not None:
                on_question(outcomes[-1])
    return EvaluationReport(outcomes=tuple(outcomes), left_out=left_out)


def holds_quote(text: str, quote: str) -> bool:
    """Whether a text holds a gold quote once white space is collapsed; compatibility forms of characters are one, and
    so are the signs between table cells (`|`, tab) and white space.
    """
    return _normal(quote) in _normal(text)


def holds_answer(text: str, question: GoldQuestion) -> bool:
    """Whether an answer's text holds the gold answers: all of them, or one where one is enough. Case does not count."""
    held = [_normal(answer) in _normal(text) for answer in question.answers]
    return bool(held) and (any(held) if question.any_answer else all(held))


async def _outcome(
    question: GoldQuestion, answer: Answer, pages: Sequence[FoundPage], page_text: PageText, seconds: float
) -> Outcome:
    proved = [citation for citation in answer.citations if citation.proved]
    on_document = [citation for citation in proved if citation.document == question.document]
    on_page = False
    for page_id in dict.fromkeys(citation.page_id for citation in on_document):
        on_page = on_page or (question.quote is not None and holds_quote(await page_text(page_id), question.quote))
    return Outcome(
        question=question,
        status=answer.status.value,
        rank=_rank(question, pages),
        footnote_document=bool(on_document),
        footnote_page=on_page,
        holds_answer=holds_answer(answer.text, question),
        reveals=any(_normal(words) in _normal(answer.text) for words in question.forbidden),
        seconds=seconds,
    )


def _rank(question: GoldQuestion, pages: Sequence[FoundPage]) -> int | None:
    if question.quote is None:
        return None
    places = (
        place
        for place, page in enumerate(pages[:SEARCHED], start=1)
        if page.document == question.document and holds_quote(page.text, question.quote)
    )
    return next(places, None)


def _rates(outcomes: Sequence[Outcome]) -> dict[str, object]:
    lookups = [outcome for outcome in outcomes if outcome.question.type == LOOKUP]
    follow_ups = [outcome for outcome in outcomes if outcome.question.type == FOLLOW_UP]
    unanswerable = [outcome for outcome in outcomes if outcome.question.type == UNANSWERABLE]
    return {
        "questions": len(outcomes),
        "recall_at_5": _mean(float(outcome.rank is not None and outcome.rank <= 5) for outcome in lookups),
        "recall_at_10": _mean(float(outcome.rank is not None) for outcome in lookups),
        "mrr": _mean(1 / outcome.rank if outcome.rank else 0.0 for outcome in lookups),
        "footnote_document": _mean(float(outcome.footnote_document) for outcome in lookups),
        "footnote_page": _mean(float(outcome.footnote_page) for outcome in lookups),
        "answered": _mean(float(outcome.holds_answer and not outcome.refused) for outcome in lookups),
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


def _normal(text: str) -> str:
    return collapse(unicodedata.normalize("NFKC", text).replace("|", " ")).casefold()


def _read_question(line: str, number: int) -> GoldQuestion:
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(f"Line {number} is not JSON: {error}.") from error
    if not isinstance(fields, dict) or not isinstance(fields.get("question"), str) or not fields["question"].strip():
        raise BadInput(f'Line {number} has no question: write {{"id": "...", "question": "..."}}.')
    return GoldQuestion(
        id=str(fields.get("id", f"line {number}")),
        question=fields["question"],
        type=str(fields.get("type") or LOOKUP),
        set_kind=str(fields.get("set_kind") or ""),
        document=_text(fields, "document"),
        quote=_text(fields, "quote"),
        answers=_texts(fields, "answer", number),
        any_answer=fields.get("answer_match") == "any",
        followup_of=_text(fields, "followup_of"),
        position=_text(fields, "reader_position"),
        forbidden=_texts(fields, "must_not_contain", number),
    )


def _text(fields: Mapping[str, object], name: str) -> str | None:
    value = fields.get(name)
    return None if value is None or value == "" else str(value)


def _texts(fields: Mapping[str, object], name: str, number: int) -> tuple[str, ...]:
    value = fields.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list):
        raise BadInput(f"Line {number}: {name!r} has to be a text or a list of texts.")
    return tuple(str(item) for item in value)
