"""Which document a question names ("in Treasure Island, who ...", "according to Meeting 78"), and the rest of it. Pure.

Every passage of a document stands under its title, so the words of a title that a question names say where to look and
nothing about what to find there: left in the query, they lift what speaks of the title's words.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from core.domain.corpus import Document, Span
from core.text.words import STOPWORDS, content_words

# A name of this many words that carry meaning is meant whatever stands before it; a shorter one may be what the
# question is about ("how do daily notes work?") and needs a word that points to a place.
TELLING_WORDS = 3
# Names that so many documents share ("index", "minutes") point to none of them.
MOST_NAMED = 5
# Fewer words left than these, and the question is about the document itself.
FEWEST_LEFT = 2

_WORD = re.compile(r"[^\W_]+")
_ARTICLES = ("the", "a", "an")
_POINTER = re.compile(
    r"(?:\b(?:according(?: to)?|as told in|in|of|from|per|within|throughout)\s+)"
    r"(?:(?:the|a|an|this|our|my)\s+)?(?:(?:book|novel|story|document|notes?|report|file|paper|journal)\s+)?"
    r"[\"“‘'(]*(?:(?:the|an?)\s+)?$",
    re.IGNORECASE,
)
# What a name of one word needs: it is set apart, before or after the question.
_APART_BEFORE = re.compile(r"\b(?:in|according(?: to)?|from|per)\s+(?:the\s+)?[\"“‘'(]*$", re.IGNORECASE)
_APART_AFTER = re.compile(r"[\"”’')]*\s*(?:[,:;?]|$)")
_ARTICLE = re.compile(r"[\"“‘'(]*\b(?:the|an?)\s+$", re.IGNORECASE)
_LEFT_OVER = re.compile(r"^[\s,:;\"”’')]+|[\s,:;\"“‘'(]+$")


@dataclass(frozen=True, slots=True)
class Named:
    """The documents that a query names, and the query without their names."""

    document_ids: frozenset[str]
    rest: str


def find_named(query: str, documents: Iterable[Document]) -> Named | None:
    """What `query` names of `documents`, by title, alias or file name; None where it names nothing, or nothing else."""
    words = [(match.group().casefold(), match.start(), match.end()) for match in _WORD.finditer(query)]
    found: dict[str, Span] = {}
    for document in documents:
        if document.id not in found and (span := _longest(query, words, document)) is not None:
            found[document.id] = span
    spans = sorted({span for span in found.values() if not any(_holds(other, span) for other in found.values())})
    named = frozenset(document for document, span in found.items() if span in spans)
    rest = _without(query, spans)
    if not named or len(named) > MOST_NAMED or len(content_words(rest)) < FEWEST_LEFT:
        return None
    return Named(named, rest)


def _holds(whole: Span, part: Span) -> bool:
    return whole != part and whole.start <= part.start and part.end <= whole.end


def _longest(query: str, words: Sequence[tuple[str, int, int]], document: Document) -> Span | None:
    names = (document.title, *document.aliases, PurePosixPath(document.path).stem)
    places = [place for name in names if (place := _place(query, words, name)) is not None]
    return max(places, key=lambda span: span.end - span.start, default=None)


def _place(query: str, words: Sequence[tuple[str, int, int]], name: str) -> Span | None:
    """Where `name` stands in the query as a pointer to a document, with the words that point."""
    wanted = [match.group().casefold() for match in _WORD.finditer(name)]
    while wanted and wanted[0] in _ARTICLES:
        wanted = wanted[1:]
    telling = sum(word not in STOPWORDS for word in wanted)
    if not telling:
        return None
    for first in range(len(words) - len(wanted) + 1):
        if [word for word, _, _ in words[first : first + len(wanted)]] != wanted:
            continue
        start, end = words[first][1], words[first + len(wanted) - 1][2]
        before = _POINTER.search(query, 0, start)
        if telling >= TELLING_WORDS or (before and (telling > 1 or _is_apart(query, start, end))):
            before = before or _ARTICLE.search(query, 0, start)
            return Span(before.start() if before else start, end)
    return None


def _is_apart(query: str, start: int, end: int) -> bool:
    return _APART_BEFORE.search(query, 0, start) is not None and _APART_AFTER.match(query, end) is not None


def _without(query: str, cuts: Sequence[Span]) -> str:
    """The query without the ascending `cuts`, joined where something was cut."""
    rest = query
    for cut in reversed(cuts):
        before, after = rest[: cut.start].rstrip(" ,"), _LEFT_OVER.sub("", rest[cut.end :])
        rest = before + after if after[:1] in ("?", "!", ".") else f"{before} {after}".strip()
    return rest
