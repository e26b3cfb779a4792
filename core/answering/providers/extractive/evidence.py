"""Judgement of evidence: does it answer the question, or is it only near it? Pure; measured in docs/evaluation.md.

There are four reasons not to answer, the first three checked in this order:
- no passage is about the question (the cross-encoder's best score over passages and quotes);
- the question names a person or thing that no passage mentions, or a year that the document lacks;
- the question asks for a kind of thing (an amount, a date, a person) that the best quote doesn't hold. Asked about a
  fee, a cross-encoder finds the passage about opening hours relevant, but it names no amount of money;
- the thing that the question asks for is in no document (`unknown_thing`; the provider searches for just its word).

Cues are English.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from core.answering.providers.extractive.cues import (
    ASKED_THING,
    BEGINNERS,
    CALENDAR,
    CAPITAL,
    COUNTED,
    CUE_PATTERNS,
    DAY_SIGNS,
    DIGITS,
    FIRST_NAMES,
    LIST_MARK,
    MONTH,
    NAME,
    NUMBER_SIGNS,
    SIGN_PATTERNS,
    TITLE_WORD,
    UNSAID,
    WHICH_DAY,
    WHO_IS_NAMED,
    YEAR,
    AnswerKind,
)
from core.answering.providers.extractive.quotes import Found, Quote, figures_head, read_rows, text_of, with_units
from core.domain.corpus import SourcedPassage
from core.knowledge.facts.table_grids import Grid
from core.knowledge.facts.table_questions import may_answer
from core.knowledge.facts.table_words import TableQuestion, read_table_question
from core.text.markup import is_figures, is_row
from core.text.words import STOPWORDS, WORD, tokens

# Logits of the cross-encoder (docs/evaluation.md has the curve). Below the first are all of 40 questions that the
# library doesn't cover, and about 3 % of 201 that it answers. From the second on, a missing name counts as another
# spelling ("Americans" for "people in the US").
NOTHING_BELOW = -4.5
SURE_FROM = 7.0
# Logits by which a quote with the right kind of thing may be worse than the best quote, which lacks it.
ANSWER_WITHIN = 2.0
PROSE_WORDS = 8  # of a cell, at least
COUNT_WITHIN = 5  # words between a number and the things counted


_KINDS_OF_THINGS = (None, AnswerKind.NUMBER, AnswerKind.PERSON, AnswerKind.NAME)
_STAND_FOR_THINGS = frozenset({"them", "these", "those"})
_NO_NOUN = ("est", "ing", "ible", "able")


class Verdict(StrEnum):
    ANSWERS = "answers"
    NOTHING = "nothing"  # the library doesn't cover it
    UNKNOWN_NAME = "unknown_name"
    WRONG_KIND = "wrong_kind"


def answering(question: str, found: Found, near: Sequence[SourcedPassage]) -> Sequence[Quote]:
    """Return the quotes from the first that answers and is nearly as good as the best one; empty if none does."""
    of_table = read_table_question(question)
    for place, quote in enumerate(found.quotes):
        if of_table is not None and not of_table.is_loose and not _row_may_answer(of_table, quote):
            continue
        if quote.score < found.quotes[0].score - ANSWER_WITHIN:
            break
        if found.strength < SURE_FROM and not _is_of_table(quote) and not holds_count(with_units(quote), question):
            continue
        document = quote.source.document.id
        verdict = judge_evidence(question, with_units(quote), document, found.strength, near)
        if verdict is Verdict.ANSWERS:
            return found.quotes[place:]
    return ()


def _is_of_table(quote: Quote) -> bool:
    return read_rows(quote) is not None or is_row(quote.text) or is_figures(quote.text.split("\n", 1)[0])


def _row_may_answer(question: TableQuestion, quote: Quote) -> bool:
    """Return whether a quote is no row of a table, or a row that may answer: a sum of rows is not in them."""
    source, found = quote.source, read_rows(quote)
    if not _is_of_table(quote):
        return not (question.is_computed and figures_head(source, quote.span) is not None)
    titles = " ".join((source.document.title, source.document.path, source.page_title, *source.passage.titles))
    if found is None:  # without columns, the words around it have to account for the question
        whole = Grid(title=f"{titles} {source.passage.text}", columns=("",), rows=())
        return may_answer(question, whole, unsaid=0.0)
    is_prose = any(len(cell.split()) >= PROSE_WORDS for row in found.rows for cell in row)  # tells it in other words
    said = (text_of(source, span) for span in source.passage.sentences if not is_row(text_of(source, span)))
    title = " ".join((titles, *(line for line in said if "\t" not in line)))
    return may_answer(
        question, Grid(title=title, columns=found.columns, rows=found.rows), unsaid=1.0 if is_prose else 0.5
    )


def judge_evidence(
    question: str, quote: str, document_id: str, strength: float, passages: Sequence[SourcedPassage]
) -> Verdict:
    """Judge the best quote of a document.

    `question` is as the reader wrote it, `strength` the best logit over passages and quotes, `passages` all that were
    found. Titles above the quote aren't part of it: "Meeting 77" is no number and no name that answers.
    """
    if strength < NOTHING_BELOW:
        return Verdict.NOTHING
    if strength < SURE_FROM and (unknown_names(question, passages) or unknown_years(question, document_id, passages)):
        return Verdict.UNKNOWN_NAME
    kind = expected_kind(question)
    if kind is not None and not holds_kind(quote, kind, question):
        return Verdict.WRONG_KIND
    return Verdict.ANSWERS


def unknown_thing(question: str, passages: Sequence[SourcedPassage]) -> str | None:
    """Return the thing that is asked for ("how many ushers") if none of the passages has its word.

    Of amounts, dates and the like, the kind is checked instead: "40 crowns" is a price without the word.
    """
    found = ASKED_THING.match(question.strip())
    if found is None or expected_kind(question) not in _KINDS_OF_THINGS:
        return None
    thing = next(filter(None, found.groups())).split()[-1].lower()
    said = set(tokens(thing))
    if not said or thing in UNSAID or thing.endswith(_NO_NOUN):
        return None
    return None if any(said <= set(tokens(_all_words(passage))) for passage in passages) else thing


def unknown_names(question: str, passages: Sequence[SourcedPassage]) -> list[str]:
    """Return the names of the question that are in none of the passages or the titles above them."""
    known = " ".join(map(_all_words, passages)).lower()
    return [name for name in _names(question) if _stem(name.lower()) not in known]


def unknown_years(question: str, document_id: str, passages: Sequence[SourcedPassage]) -> list[str]:
    """Return the years of the question that no passage of this document has; other documents name many years.

    Names of columns are short: "incidents_85_99", "FY15".
    """
    known = " ".join(_all_words(found) for found in passages if found.document.id == document_id)
    return [year for year in YEAR.findall(question) if not re.search(rf"{year}|(?:[_'’]|FY){year[2:]}(?!\d)", known)]


def expected_kind(question: str) -> AnswerKind | None:
    """Return the kind of thing that the question asks for; None if it isn't clear ("Who is Ann?")."""
    if WHO_IS_NAMED.match(question):
        return None
    return next((kind for kind, cues in CUE_PATTERNS.items() if any(cue.search(question) for cue in cues)), None)


def holds_kind(text: str, kind: AnswerKind, question: str) -> bool:
    """Return whether `text` holds something of the kind that the question itself didn't name."""
    if kind is AnswerKind.FIRST_NAME:
        return _holds_first_name(text, question)
    if kind in (AnswerKind.PERSON, AnswerKind.NAME):
        return _holds_name(text, question, anywhere=kind is AnswerKind.PERSON)
    rest = LIST_MARK.sub("", text)
    for number in set(DIGITS.findall(question)):
        rest = re.sub(rf"(?<![\d.,]){re.escape(number)}(?!\d|[.,]\d)", " ", rest)
    if kind is AnswerKind.DATE:
        for month in re.findall(rf"\b{MONTH}\b", question, re.IGNORECASE):
            rest = re.sub(rf"\b{month}\b", " ", rest, flags=re.IGNORECASE)
    signs = DAY_SIGNS if kind is AnswerKind.DATE and WHICH_DAY.search(question) else SIGN_PATTERNS[kind]
    return any(sign.search(rest) for sign in signs)


def holds_count(text: str, question: str) -> bool:
    """Return whether `text` counts the things of a question: "three boats" for "how many boats"; true of others."""
    counted = COUNTED.search(question)
    things = [thing for thing in counted["things"].lower().split() if thing.isalpha()] if counted is not None else []
    wanted = set(tokens(" ".join(things)))
    is_unsaid = bool(things) and not UNSAID.isdisjoint((things[0], things[0].removesuffix("s")))
    if not wanted or is_unsaid or expected_kind(question) is not AnswerKind.NUMBER:
        return True
    asked = set(tokens(question))
    said = [(word, set(tokens(word))) for word in WORD.findall(LIST_MARK.sub("", text))]
    places = [place for place, (word, stems) in enumerate(said) if wanted & stems or word.lower() in _STAND_FOR_THINGS]
    numbers = [
        place
        for place, (word, stems) in enumerate(said)
        if not (stems and stems <= asked) and any(sign.search(word) for sign in NUMBER_SIGNS)
    ]
    return any(abs(place - number) <= COUNT_WITHIN for place in places for number in numbers)


def _holds_first_name(text: str, question: str) -> bool:
    """Look for a name before the surname, or behind it and a comma: "Ann Hill", "Hill, Ann". Titles don't count."""
    found = next((match for pattern in FIRST_NAMES if (match := pattern.search(question))), None)
    if found is None:
        return False
    surname = re.escape(found["of"])
    given = re.findall(rf"\b([A-Z][\w'’-]+) (?:[A-Z]\. )?{surname}\b", text)
    titled = re.compile(TITLE_WORD, re.IGNORECASE)
    if any(not titled.fullmatch(name) and name.lower() not in BEGINNERS for name in given):
        return True
    return re.search(rf"\b{surname}, [A-Z]\w+", text) is not None


def _holds_name(text: str, question: str, *, anywhere: bool) -> bool:
    """Look for a capitalised word that the question doesn't have.

    Unless `anywhere`, one capital at the beginning of a sentence doesn't count, and code does (`names` of options and
    commands).
    """
    asked = {word.rstrip("s").rstrip("'’") for word in re.findall(r"[\w'’-]+", question.lower())}
    for match in CAPITAL.finditer(text):
        word = match.group().lower().rstrip(".'’").removesuffix("'s").removesuffix("’s")
        if len(word) < 2 or word in BEGINNERS or word in asked or word.rstrip("s") in asked:
            continue
        before = text[: match.start()].rstrip(" \n\t*\"“-#>(|'")
        begins = not before or before[-1] in ".!?:"
        if anywhere or not begins or re.match(r"\s[A-Z]", text[match.end() : match.end() + 3]):
            return True
    return not anywhere and re.search(r"`[^`\n]+`", text) is not None


def _all_words(found: SourcedPassage) -> str:
    passage, document = found.passage, found.document
    above = " ".join((document.title, document.path, *document.aliases, *passage.heading_path, found.page_title))
    return f"{above} {passage.text}"


def _names(question: str) -> list[str]:
    """Return the capitalised words, except the first. A question in capitals throughout has none."""
    if question.isupper():
        return []
    return [
        word
        for word in NAME.findall(question)[1:]
        if word[0].isupper() and word.lower() not in STOPWORDS | CALENDAR and len(word) > 1
    ]


def _stem(name: str) -> str:
    """Cut a possessive or plural ending, so that "Woods's" and "Americans" are found."""
    for ending in ("'s", "’s", "s", "n"):
        if name.endswith(ending) and len(name) - len(ending) > 3:
            return name.removesuffix(ending)
    return name
