"""What a question tells of how far somebody has read ("(I'm at chapter 9)", "Reader has finished the book: ..."). Pure.

It says what may be told, which the reading position sees to, and nothing about what is asked: left in a query, its
words lift what speaks of books, readers and chapters. Where the question points to it ("who dies in that chapter?"), it
says what is asked, too, and stays.
"""

import re
from functools import cache

from core.access.positions.named_places import MODE, SPEAKER, TARGET
from core.text.words import content_words, words

_WHO = rf"(?:(?:the |a )?readers?(?:\s++(?:is|are|has|have|had|was|were))?|{SPEAKER})"
_BOOK = r"(?:(?:all of|the|this|that|whole|entire)\s++)*(?:book|novel|story|it)"
_FAR = rf"{_WHO}\s++(?:{MODE}\s++)+(?:{TARGET}(?:\s++(?:of|in)\s++{_BOOK})?|{_BOOK})"
_WARNING = rf"no spoilers?(?:,?\s++(?:please|past|after|beyond|from)(?:\s++{TARGET})?)*"
# White space is never given back ("++"): runs of it that follow each other would be parted in every way.
_TOLD = rf"(?:{_FAR}(?:\s*+[,;.]\s*+{_WARNING})?|{_WARNING})"
_THAT_PLACE = re.compile(r"\b(?:this|that|the same)\s++(?:chapter|page|part|section)\b", re.IGNORECASE)
_POINTING = re.compile(r"\b(?:it|here|there(?!\s+\w))\b", re.IGNORECASE)  # not of "is there a boat?"
FEWEST_TELLING = 2  # words that carry meaning: beside fewer, a pointing word is what the question is about


def without_reading(question: str) -> str:
    """The question without them (in brackets, before it, as a sentence behind it); whole where nothing is left, or
    where what is left points to them.
    """
    rest = question
    for aside in _asides():
        rest = aside.sub("", rest)
    rest = rest.strip()
    return rest if words(rest) and not _points_back(rest) else question


@cache
def _asides() -> tuple[re.Pattern[str], ...]:
    """In brackets, before the question, behind it. Made with the first question: that takes a tenth of a second, which
    commands that ask nothing need not spend.
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
