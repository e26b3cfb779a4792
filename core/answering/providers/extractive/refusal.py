"""Whether what was found answers the question, or is only near it. Pure; measured in docs/evaluation.md.

Three reasons not to answer, in the order they are asked:
- nothing found is about the question (the cross-encoder's best score over passages and quotes);
- the question names somebody or something that no passage found mentions, or a year that the document does not;
- the question asks for a kind of thing (an amount, a date, a person) that the best quote does not hold.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from core.answering.providers.extractive.answer_kinds import expected_kind, holds_kind
from core.domain.corpus import SourcedPassage
from core.text.words import STOPWORDS

# Logits of the cross-encoder (docs/evaluation.md has the curve). Below the first lie all of 40 questions that the
# library does not cover, and some 3 % of 201 that it answers. From the second on a missing name is taken for another
# spelling ("Americans" for "people in the US").
NOTHING_BELOW = -4.5
SURE_FROM = 7.0

_NAME = re.compile(r"(?<![\w'’@.+#-])[\w'’@.+#-]*\w")
_YEAR = re.compile(r"(?<!\d)(?:1[6-9]|20)\d\d(?!\d)")
_MONTHS = frozenset(
    """january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday""".split()
)


class Verdict(StrEnum):
    ANSWERS = "answers"
    NOTHING = "nothing"  # the library does not cover it
    UNKNOWN_NAME = "unknown_name"
    WRONG_KIND = "wrong_kind"


def judge_evidence(
    question: str, quote: str, document_id: str, strength: float, passages: Sequence[SourcedPassage]
) -> Verdict:
    """The verdict on the best quote, which stands in the document.

    `question` is as the reader wrote it, `strength` the best logit over passages and quotes, `passages` all that were
    found. Titles above the quote do not count as part of it: "Meeting 77" is no number and no name that answers.
    """
    if strength < NOTHING_BELOW:
        return Verdict.NOTHING
    if strength < SURE_FROM and (unknown_names(question, passages) or unknown_years(question, document_id, passages)):
        return Verdict.UNKNOWN_NAME
    kind = expected_kind(question)
    if kind is not None and not holds_kind(quote, kind, question):
        return Verdict.WRONG_KIND
    return Verdict.ANSWERS


def unknown_names(question: str, passages: Sequence[SourcedPassage]) -> list[str]:
    """Names of the question that stand in none of the passages, nor in what they stand under."""
    known = " ".join(map(_all_words, passages)).lower()
    return [name for name in _names(question) if _stem(name.lower()) not in known]


def unknown_years(question: str, document_id: str, passages: Sequence[SourcedPassage]) -> list[str]:
    """Years of the question that none of the passages of this document has: other documents speak of many years."""
    known = " ".join(_all_words(found) for found in passages if found.document.id == document_id)
    return [year for year in _YEAR.findall(question) if year not in known]


def _all_words(found: SourcedPassage) -> str:
    passage, document = found.passage, found.document
    above = " ".join((document.title, document.path, *document.aliases, *passage.heading_path, found.page_title))
    return f"{above} {passage.text}"


def _names(question: str) -> list[str]:
    """Capitalised words that do not begin the question; a question written in capitals throughout has none."""
    if question.isupper():
        return []
    return [
        word
        for word in _NAME.findall(question)[1:]
        if word[0].isupper() and word.lower() not in STOPWORDS and word.lower() not in _MONTHS and len(word) > 1
    ]


def _stem(name: str) -> str:
    """Without a possessive or plural ending, so that "Woods's" and "Americans" are found."""
    for ending in ("'s", "’s", "s", "n"):
        if name.endswith(ending) and len(name) - len(ending) > 3:
            return name.removesuffix(ending)
    return name
