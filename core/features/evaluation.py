"""How good search and answers are over a file of questions with gold answers (`footnote eval`)."""

import math
import re
import time
import unicodedata
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.domain.answer import Answer, AnswerStatus
from core.domain.features import Replayed, StoredCassette
from core.errors import BadInput
from core.text.words import collapse, tokens
from core.work.questions import QuestionLine, read_line

LOOKUP = "lookup"
FOLLOW_UP = "followup"
UNANSWERABLE = "unanswerable"
LIST = "extraction"
SUMMARY = "summary"
EVERYDAY = "everyday"

FIELDS = frozenset(
    """id question type set_kind document document2 quote answer answer_match followup_of must_not_contain
    reader_position position""".split()
)
CARRIED = 0.7  # share of an item's or a point's words that one line of the answer needs
UNKNOWN_SHOWN = 5  # names of fields in a sentence
_THOUSANDS = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldQuestion:
    """A line of a question file. `document` is the gold document, not a filter."""

    id: str
    question: str
    type: str = LOOKUP
    set_kind: str = ""
    document: str | None = None
    document2: str | None = None  # of a question that needs two
    quote: str | None = None
    answers: tuple[str, ...] = ()
    any_answer: bool = False  # one of `answers` is enough
    followup_of: str | None = None
    position: str | None = None  # how far the reader is in `document`
    forbidden: tuple[str, ...] = ()  # must not appear in the answer
    unknown: tuple[str, ...] = ()  # fields of the line that nothing reads

    @property
    def unmeasurable(self) -> str | None:
        """Return the reason why no figure can use this question, or None."""
        if self.forbidden:
            return None
        if self.type == LOOKUP and not (self.document or self.quote or self.answers):
            return (
                'it has nothing to compare an answer with: give it "document", "quote" or "answer", '
                f'or "type": "{UNANSWERABLE}"{self._unread()}'
            )
        if self.type == FOLLOW_UP and not self.document:
            return f'it is a follow-up without "document", where its answer stands{self._unread()}'
        return None

    def _unread(self) -> str:
        names = ", ".join(f'"{name}"' for name in self.unknown[:UNKNOWN_SHOWN])
        return f" ({names} is not read)" if len(self.unknown) == 1 else f" ({names} are not read)" if names else ""


# Latency of an answer as the person who asks sees it: median and 95th percentile.
PERCENTILES = (50, 95)


SEARCHED = 10  # pages; recall_at_10 needs as many


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one question. `rank` is the place of the first gold page from 1; None: not among SEARCHED."""

    question: GoldQuestion
    status: str
    rank: int | None
    footnote_document: bool
    footnote_page: bool
    holds_answer: bool
    footnote_both: bool = False  # in both documents of a question that needs two
    carried: float = 0.0  # share of the gold answers that the answer's lines carry
    in_table: bool = False  # the gold quote is in a row of a table
    footnotes: int = 0
    reveals: bool  # the answer contains forbidden text
    seconds: float

    @property
    def answered(self) -> bool:
        return self.status == AnswerStatus.ANSWERED

    @property
    def refused(self) -> bool:
        return self.status not in (AnswerStatus.ANSWERED, AnswerStatus.ERROR)

    @property
    def missed(self) -> list[str]:
        """The figures that this question lowers."""
        asked, holds = self.question, self.holds_answer and self.answered
        by_type = {
            LOOKUP: {
                "footnote_document": self.footnote_document or asked.document is None,
                "footnote_page": self.footnote_page or asked.quote is None,
                "answered": holds or not asked.answers,
                "refused_answerable": not self.refused,
            },
            FOLLOW_UP: {"followup": self.footnote_document},
            UNANSWERABLE: {"refused_unanswerable": self.refused},
            LIST: {"lists": self.carried == 1.0 or not asked.answers},
            SUMMARY: {"summaries": self.carried == 1.0 or not asked.answers},
            EVERYDAY: {"everyday": not self.footnotes and self.status != AnswerStatus.ERROR},
        }
        met = {
            **by_type.get(asked.type, {}),
            "two_documents": asked.document2 is None or (self.footnote_both and self.carried == 1.0 and self.answered),
            "reveals": not self.reveals,
        }
        return [figure for figure, is_met in met.items() if not is_met]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationReport:
    """The outcomes, in the order of the file, the questions left out with the reason, and the regression cases."""

    outcomes: tuple[Outcome, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    cases: Sequence[tuple[StoredCassette, Replayed]] = ()  # regression cases, played again

    def to_json(self) -> dict[str, object]:
        by_kind: dict[str, list[Outcome]] = defaultdict(list)
        for outcome in self.outcomes:
            by_kind[outcome.question.set_kind or "other"].append(outcome)
        return {
            **_rates(self.outcomes),
            "latency_ms": _latency(self.outcomes),
            "by_set_kind": {kind: _rates(outcomes) for kind, outcomes in sorted(by_kind.items())},
            "by_type": _by_type(self.outcomes),
            "reveals": sum(outcome.reveals for outcome in self.outcomes),
            "misses": [
                {"id": outcome.question.id, "question": outcome.question.question, "figures": outcome.missed}
                for outcome in self.outcomes
                if outcome.missed
            ],
            "left_out": dict(self.left_out),
            "cases": {
                "played": len(self.cases),
                "equal": sum(played.is_equal for _, played in self.cases),
                "different": [
                    {"id": case.message_id, "question": case.question, "difference": played.difference}
                    for case, played in self.cases
                    if not played.is_equal
                ],
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage:
    """A page that a search found: its document's path and its text."""

    document: str
    text: str


def read_questions(lines: Iterable[str]) -> list[GoldQuestion]:
    """The questions of a JSON-lines file, in order. Raises BadInput naming the line."""
    questions: list[GoldQuestion] = []
    known: dict[str, int] = {}  # lines of ids
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        question = _read_question(read_line(line, number))
        if question.id in known:
            raise BadInput(
                f"Lines {known[question.id]} and {number} have the same id {question.id!r}: give each its own."
            )
        if question.followup_of is not None and question.followup_of not in known:
            raise BadInput(
                f"Line {number}: {question.id!r} follows {question.followup_of!r}, but no line before it has that id."
            )
        known[question.id] = number
        questions.append(question)
    return questions


def holds_quote(text: str, quote: str) -> bool:
    """Whether a text holds a gold quote once white space is collapsed; compatibility forms of characters are one, and
    so are the signs between table cells (`|`, tab) and white space.
    """
    return as_compared(quote) in as_compared(text)


def holds_answer(text: str, question: GoldQuestion) -> bool:
    """Whether an answer's text holds the gold answers: all of them, or one where one is enough. Case does not count,
    nor does the sign between the thousands of a figure.
    """
    held = [_without_thousands(answer) in _without_thousands(text) for answer in question.answers]
    return bool(held) and (any(held) if question.any_answer else all(held))


def carries(text: str, point: str) -> bool:
    """Whether an answer holds an item of a list or a point of a summary: as it is written, or most of its words in one
    line.
    """
    if as_compared(point) in as_compared(text):
        return True
    said = set(tokens(point))
    needed = len(said) * CARRIED
    return bool(said) and any(len(said.intersection(tokens(line))) >= needed for line in text.splitlines())


def _without_thousands(text: str) -> str:
    return _THOUSANDS.sub("", as_compared(text))


def as_compared(text: str) -> str:
    return collapse(unicodedata.normalize("NFKC", text).replace("|", " ")).casefold()


def _read_question(line: QuestionLine) -> GoldQuestion:
    if not line.question.strip():
        raise BadInput(f"Line {line.number}: the question is empty: write what to ask.")
    return GoldQuestion(
        id=line.id,
        question=line.question,
        type=line.text("type") or LOOKUP,
        set_kind=line.text("set_kind") or "",
        document=line.text("document"),
        document2=line.text("document2"),
        quote=line.text("quote"),
        answers=line.texts("answer"),
        any_answer=line.fields.get("answer_match") == "any",
        followup_of=line.text("followup_of"),
        position=line.text("reader_position", "position"),
        forbidden=line.texts("must_not_contain"),
        unknown=tuple(sorted(set(line.fields) - FIELDS)),
    )


Search = Callable[[GoldQuestion], Awaitable[Sequence[FoundPage]]]
# The question, and the ID of the conversation it continues.
Ask = Callable[[GoldQuestion, str | None], Awaitable[Answer]]
# The text of a cited page, by its id.
PageText = Callable[[str], Awaitable[str]]
# Whether the gold quote is in a row of a table.
InTable = Callable[[GoldQuestion], Awaitable[bool]]


async def in_no_table(question: GoldQuestion) -> bool:
    return False


async def evaluate(
    questions: Sequence[GoldQuestion],
    *,
    search: Search,
    ask: Ask,
    page_text: PageText,
    documents: Collection[str],
    in_table: InTable = in_no_table,
    on_question: Callable[[GoldQuestion], None] = lambda _: None,
    clock: Callable[[], float] = time.perf_counter,
) -> EvaluationReport:
    """Search and ask, in order, every question that can be measured and has its document in the library.

    `documents` are the library's paths. An unmeasurable question is still asked if a follow-up needs it. A follow-up of
    an unasked question is left out. `on_question` is called after each question.
    """
    left_out: dict[str, str] = {}
    conversations: dict[str, str] = {}
    outcomes: list[Outcome] = []
    followed = {question.followup_of for question in questions}
    for question in questions:
        if reason := question.unmeasurable:
            left_out[question.id] = reason
        if missing := _missing(question, documents, conversations):
            left_out[question.id] = missing
        elif reason is None or question.id in followed:
            started = clock()
            try:
                answer = await ask(question, conversations.get(question.followup_of or ""))
            except BadInput as error:  # it is no question: empty, far too long, a command
                left_out[question.id] = str(error)
            else:
                seconds = clock() - started
                conversations[question.id] = answer.conversation_id
                if reason is None:
                    outcome = await _outcome(question, answer, await search(question), page_text, seconds)
                    outcomes.append(replace(outcome, in_table=await in_table(question)))
        on_question(question)
    return EvaluationReport(outcomes=tuple(outcomes), left_out=left_out)


def _missing(question: GoldQuestion, documents: Collection[str], asked: Collection[str]) -> str | None:
    """Return the missing requirement as a sentence, or None."""
    for document in (question.document, question.document2):
        if document is not None and document not in documents:
            return f"{document} is not in the library"
    if question.followup_of is not None and question.followup_of not in asked:
        return f"it follows {question.followup_of}, which was left out"
    return None


async def _outcome(
    question: GoldQuestion, answer: Answer, pages: Sequence[FoundPage], page_text: PageText, seconds: float
) -> Outcome:
    def is_gold(document: str) -> bool:
        """A question that names none is content with any."""
        return question.document in (None, document)

    cited = {citation.document for citation in answer.citations if citation.proved}
    there = [citation for citation in answer.citations if citation.proved and is_gold(citation.document)]
    on_page = False
    for page_id in dict.fromkeys(citation.page_id for citation in there):
        on_page = on_page or (question.quote is not None and holds_quote(await page_text(page_id), question.quote))
    held = (
        is_gold(page.document) and question.quote is not None and holds_quote(page.text, question.quote)
        for page in pages[:SEARCHED]
    )
    return Outcome(
        question=question,
        status=answer.status.value,
        rank=next((place for place, is_held in enumerate(held, start=1) if is_held), None),
        footnote_document=bool(there),
        footnote_page=on_page,
        holds_answer=holds_answer(answer.text, question),
        footnote_both=question.document2 in cited and question.document in cited,
        carried=_mean(carries(answer.text, point) for point in question.answers) or 0.0,
        footnotes=len(answer.citations),
        reveals=any(as_compared(words) in as_compared(answer.text) for words in question.forbidden),
        seconds=seconds,
    )


def _rates(outcomes: Sequence[Outcome]) -> dict[str, object]:
    lookups = [outcome for outcome in outcomes if outcome.question.type == LOOKUP]
    quoted = [outcome for outcome in lookups if outcome.question.quote]
    placed = [outcome for outcome in lookups if outcome.question.document]
    told = [outcome for outcome in lookups if outcome.question.answers]
    follow_ups = [outcome for outcome in outcomes if outcome.question.type == FOLLOW_UP and outcome.question.document]
    unanswerable = [outcome for outcome in outcomes if outcome.question.type == UNANSWERABLE]
    return {
        "questions": len(outcomes),
        "recall_at_5": _mean(outcome.rank is not None and outcome.rank <= 5 for outcome in quoted),
        "recall_at_10": _mean(outcome.rank is not None for outcome in quoted),
        "mrr": _mean(1 / outcome.rank if outcome.rank else 0.0 for outcome in quoted),
        "footnote_document": _mean(outcome.footnote_document for outcome in placed),
        "footnote_page": _mean(outcome.footnote_page for outcome in quoted),
        "answered": _mean(outcome.holds_answer and outcome.answered for outcome in told),
        "refused_unanswerable": _mean(outcome.refused for outcome in unanswerable),
        "refused_answerable": _mean(outcome.refused for outcome in lookups),
        "followup": _mean(outcome.footnote_document for outcome in follow_ups),
    }


def _by_type(outcomes: Sequence[Outcome]) -> dict[str, dict[str, object]]:
    """Return the figures of each kind of question that needs more than one place, or none."""
    lists = [outcome for outcome in outcomes if outcome.question.type == LIST and outcome.question.answers]
    summaries = [outcome for outcome in outcomes if outcome.question.type == SUMMARY and outcome.question.answers]
    pairs = [outcome for outcome in outcomes if outcome.question.document2]
    tables = [outcome for outcome in outcomes if outcome.question.type == LOOKUP and outcome.in_table]
    everyday = [outcome for outcome in outcomes if outcome.question.type == EVERYDAY]
    return {
        "lists": {
            "questions": len(lists),
            "items": _mean(outcome.carried for outcome in lists),
            "complete": _mean(outcome.carried == 1.0 for outcome in lists),
            **_cited(lists),
        },
        "two_documents": {
            "questions": len(pairs),
            "answered": _mean(outcome.carried == 1.0 and outcome.answered for outcome in pairs),
            "footnote_both": _mean(outcome.footnote_both for outcome in pairs),
            "refused": _mean(outcome.refused for outcome in pairs),
        },
        "tables": {
            "questions": len(tables),
            "answered": _mean(outcome.holds_answer and outcome.answered for outcome in tables),
            **_cited(tables),
        },
        "summaries": {
            "questions": len(summaries),
            "points": _mean(outcome.carried for outcome in summaries),
            **_cited(summaries),
        },
        "everyday": {
            "questions": len(everyday),
            "brief": _mean(not outcome.footnotes and outcome.status != AnswerStatus.ERROR for outcome in everyday),
        },
    }


def _cited(outcomes: Sequence[Outcome]) -> dict[str, object]:
    return {
        "footnote_document": _mean(outcome.footnote_document for outcome in outcomes),
        "refused": _mean(outcome.refused for outcome in outcomes),
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
