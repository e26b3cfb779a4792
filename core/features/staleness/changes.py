"""The diff between a lost quote and the passage that replaced it. Pure."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from core.domain.passages import Span
from core.text.words import words

MOST_CHARACTERS = 2_000  # of a compared quote; people read far shorter ones
MOST_SEARCHED = 400_000  # characters of other pages that are looked through, the nearest first
MOST_SENTENCES = 6  # that a quote may have become
ALIKE = 0.4  # of 1: from here on, text counts as the quote's successor

_SENTENCE = re.compile(r"[^\n.!?。]+(?:[.!?。]+|$|(?=\n))", re.MULTILINE)
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


class Kept(StrEnum):
    BOTH = "both"
    THEN = "then"  # only in the quote
    NOW = "now"  # only in the page


@dataclass(frozen=True, slots=True)
class Piece:
    kept: Kept
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The pieces of both without NOW are the quote (cut to a bound), without THEN they are `span` of the page.

    `page_number` None: nothing on the pages is like the quote, which is all THEN.
    """

    pieces: tuple[Piece, ...]
    page_number: int | None = None
    span: Span | None = None


def change_of(quote: str, texts: Mapping[int, str], near: int) -> Change:
    """Find the successor of a quote on its document's pages (number -> text), nearest to page `near` first."""
    quote = quote[:MOST_CHARACTERS]
    left = MOST_SEARCHED
    for number in sorted(texts, key=lambda number: (abs(number - near), number)):
        span = _most_alike(quote, texts[number][: max(left, 0)])
        if span is not None:
            pieces = diff(quote, span.of(texts[number]))
            return Change(pieces=pieces, page_number=number, span=span)
        left -= len(texts[number])
    return Change(pieces=(Piece(Kept.THEN, quote),))


def diff(then: str, now: str) -> tuple[Piece, ...]:
    """Return a word-by-word diff; white space is ignored."""
    old, new = _TOKEN.findall(then), _TOKEN.findall(now)
    pieces: list[Piece] = []
    matcher = SequenceMatcher(None, _keys(old), _keys(new), autojunk=False)
    for kind, begin, end, first, last in matcher.get_opcodes():
        if kind == "equal":
            pieces.append(Piece(Kept.BOTH, "".join(new[first:last])))
            continue
        if end > begin:
            pieces.append(Piece(Kept.THEN, "".join(old[begin:end])))
        if last > first:
            pieces.append(Piece(Kept.NOW, "".join(new[first:last])))
    return tuple(pieces)


def _keys(tokens: Sequence[str]) -> list[str]:
    return [" " if token.isspace() else token for token in tokens]


def _most_alike(quote: str, text: str) -> Span | None:
    """Return the run of sentences that shares most words with the quote, or None."""
    wanted = Counter(words(quote))
    sentences = [Span(*match.span()) for match in _SENTENCE.finditer(text) if match[0].strip()]
    counts = [Counter(words(span.of(text))) for span in sentences]
    best, found = ALIKE, None
    for first in range(len(sentences)):
        if not counts[first] & wanted:
            continue
        held: Counter[str] = Counter()
        for last in range(first, min(first + MOST_SENTENCES, len(sentences))):
            held += counts[last]
            alike = 2 * (held & wanted).total() / (held.total() + wanted.total())
            if alike > best:
                best, found = alike, Span(sentences[first].start, sentences[last].end)
    return _trimmed(found, text) if found else None


def _trimmed(span: Span, text: str) -> Span:
    found = span.of(text)
    start = span.start + len(found) - len(found.lstrip())
    return Span(start, start + len(found.strip()))
