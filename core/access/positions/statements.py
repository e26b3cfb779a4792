"""Statements of a reading position: "I've finished chapter 5 of Emma". Pure.

The whole message has to be such a statement: a speaker, a chapter or page (named_places.py), perhaps the book, and
nothing else.
"""

import re
from dataclasses import dataclass

from core.access.positions.named_places import MODE, SPEAKER, TARGET
from core.access.positions.places import KINDS
from core.text.words import collapse

LONGEST = 200  # characters: more is more than a statement

_OPENING = r"(?:(?:hi|hello|hey|ok(?:ay)?|so|well|fyi|note|great|by the way|btw|just so you know)[,!.:]?\s+)*"
_BOOK = r"(?:\s*,?\s*(?:of|in|from)\s+(?:the (?:book|novel)\s+)?(?P<book>[^?]+?))?"
_SPOKEN = rf"(?:{SPEAKER}\s+(?:{MODE}\s++)+|(?:just\s+)?(?:finished|done with)\s+)"
_SO_FAR = re.compile(rf"{_OPENING}(?P<place>{_SPOKEN}{TARGET}){_BOOK}\s*[.!]*", re.IGNORECASE)
_ALL_OF_IT = re.compile(
    rf"{_OPENING}{SPEAKER}\s+(?:just\s+|now\s+|finally\s+)*"
    r"(?:finished(?: reading)?|completed|read all of|reached the end of)"
    r"\s+(?:the (?:book|novel)\s+)?(?P<book>[^?0-9][^?]*?)\s*[.!]*",
    re.IGNORECASE,
)
# "I've finished 5" may be of anything: a number has to be that of a chapter or a page.
_LAST_TWO = re.compile(r".*?(\S+)\s+[0-9]+")
_COUNTED = re.compile(rf"(?:{KINDS}|pages?|pgs?|p|no|number)\.?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement of a reading position in a question."""

    place: str
    book: str | None  # as they call it; None: the one that is talked about
    is_whole: bool = False  # all of it: so only where a position is kept in it, as other things are finished, too


def read_statement(text: str) -> Statement | None:
    """None for anything else. Pure."""
    said = collapse(text)
    if len(said) > LONGEST or "\n" in text.strip():
        return None
    if (found := _SO_FAR.fullmatch(said)) is not None and _is_counted(found["place"]):
        return Statement(place=found["place"], book=_name(found["book"]))
    if (found := _ALL_OF_IT.fullmatch(said)) is not None:
        return Statement(place="the end", book=_name(found["book"]), is_whole=True)
    return None


def _is_counted(place: str) -> bool:
    last = _LAST_TWO.fullmatch(place)
    return last is None or _COUNTED.fullmatch(last[1]) is not None


def _name(text: str | None) -> str | None:
    name = (text or "").strip(" \"'“”‘’«»")
    return name or None
