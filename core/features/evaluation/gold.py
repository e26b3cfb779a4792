"""Questions with gold answers: the lines of a question file, and what holds a gold quote or answer. Pure."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from core.errors import BadInput
from core.text.words import collapse
from core.work.question_lines import QuestionLine, read_line

LOOKUP = "lookup"
FOLLOW_UP = "followup"
UNANSWERABLE = "unanswerable"

ID, QUESTION, TYPE, SET_KIND, DOCUMENT, QUOTE = "id", "question", "type", "set_kind", "document", "quote"
ANSWER, ANSWER_MATCH, FOLLOWUP_OF, FORBIDDEN = "answer", "answer_match", "followup_of", "must_not_contain"
POSITIONS = ("reader_position", "position")
FIELDS = frozenset(
    {ID, QUESTION, TYPE, SET_KIND, DOCUMENT, QUOTE, ANSWER, ANSWER_MATCH, FOLLOWUP_OF, FORBIDDEN, *POSITIONS}
)
UNKNOWN_SHOWN = 5  # names of fields in a sentence


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
    unknown: tuple[str, ...] = ()  # fields of the line that nothing reads

    @property
    def unmeasurable(self) -> str | None:
        """Why no figure could say anything about it, in a sentence; None: one can."""
        if self.forbidden:
            return None
        if self.type == LOOKUP and not (self.document or self.quote or self.answers):
            return (
                f'it has nothing to compare an answer with: give it "{DOCUMENT}", "{QUOTE}" or "{ANSWER}", '
                f'or "{TYPE}": "{UNANSWERABLE}"{self._unread()}'
            )
        if self.type == FOLLOW_UP and not self.document:
            return f'it is a follow-up without "{DOCUMENT}", where its answer stands{self._unread()}'
        return None

    def _unread(self) -> str:
        names = ", ".join(f'"{name}"' for name in self.unknown[:UNKNOWN_SHOWN])
        return f" ({names} is not read)" if len(self.unknown) == 1 else f" ({names} are not read)" if names else ""


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
    """Whether an answer's text holds the gold answers: all of them, or one where one is enough. Case does not count."""
    held = [as_compared(answer) in as_compared(text) for answer in question.answers]
    return bool(held) and (any(held) if question.any_answer else all(held))


def as_compared(text: str) -> str:
    return collapse(unicodedata.normalize("NFKC", text).replace("|", " ")).casefold()


def _read_question(line: QuestionLine) -> GoldQuestion:
    if not line.question.strip():
        raise BadInput(f"Line {line.number}: the question is empty: write what to ask.")
    return GoldQuestion(
        id=line.id,
        question=line.question,
        type=line.text(TYPE) or LOOKUP,
        set_kind=line.text(SET_KIND) or "",
        document=line.text(DOCUMENT),
        quote=line.text(QUOTE),
        answers=line.texts(ANSWER),
        any_answer=line.fields.get(ANSWER_MATCH) == "any",
        followup_of=line.text(FOLLOWUP_OF),
        position=line.text(*POSITIONS),
        forbidden=line.texts(FORBIDDEN),
        unknown=tuple(sorted(set(line.fields) - FIELDS)),
    )
