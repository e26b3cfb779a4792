"""Asides of a question about reading positions, which say nothing about its subject. Pure."""

import re
from functools import cache

from core.access.positions.named_places import MODE, SPEAKER, TARGET
from core.text.words import content_words, words

_WHO = rf"(?:(?:the |a )?readers?(?:\s++(?:is|are|has|have|had|was|were))?|{SPEAKER})"
_BOOK = r"(?:(?:all of|the|this|that|whole|entire)\s++)*(?:book|novel|story|it)"
_FAR = rf"{_WHO}\s++(?:{MODE}\s++)+(?:{TARGET}(?:\s++(?:of|in)\s++{_BOOK})?|{_BOOK})"
_WARNING = rf"no spoilers?(?:,?\s++(?:please|past|after|beyond|from)(?:\s++{TARGET})?)*"
# White space is possessive ("++"): otherwise adjacent runs of it would be split in every possible way.
_TOLD = rf"(?:{_FAR}(?:\s*+[,;.]\s*+{_WARNING})?|{_WARNING})"
_THAT_PLACE = re.compile(r"\b(?:this|that|the same)\s++(?:chapter|page|part|section)\b", re.IGNORECASE)
_POINTING = re.compile(r"\b(?:it|here|there(?!\s+\w))\b", re.IGNORECASE)  # not of "is there a boat?"
FEWEST_TELLING = 2  # content words: with fewer, a pointing word is the question's subject


def without_reading(question: str) -> str:
    """Remove asides about a reading position: in brackets, before the question, or as a sentence after it.

    They say nothing about the question's subject; in a query, they would lift text about books, readers and chapters.
    The question stays whole if nothing is left, or if the rest refers to the aside ("in that chapter").
    """
    rest = question
    for aside in _asides():
        rest = aside.sub("", rest)
    rest = rest.strip()
    return rest if words(rest) and not _points_back(rest) else question


@cache
def _asides() -> tuple[re.Pattern[str], ...]:
    """Return the patterns in brackets, before and after the question.

    Compiled for the first question, because it takes a tenth of a second that other commands need not spend.
    """
    return (
        re.compile(rf"\s?[(\[]\s*+{_TOLD}\s*+(?:[.!]\s*+)?[)\]]", re.IGNORECASE),
        re.compile(rf"^\s*+{_TOLD}(?:\s*+[:;.!,]|\s++[-–—])\s*+(?:(?:and|so|but)\s++)?", re.IGNORECASE),
        re.compile(rf"(?<=[?.!])\s*+{_TOLD}\s*+[.!]*+\s*+$", re.IGNORECASE),
    )


def _points_back(rest: str) -> bool:
    if _THAT_PLACE.search(rest):
        return True
    return len(content_words(rest)) < FEWEST_TELLING and _POINTING.search(rest) is not None
