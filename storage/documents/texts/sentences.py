"""Cuts a page into units: the sentences, list items, table rows, headings and code lines that passages are built of.

Together the units of a page cover every character of it that is not white space, in text order and without overlap; but
for lines that are left out.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from core.domain.corpus import Heading
from core.domain.passages import Span
from core.text.markup import is_figures
from core.text.words import placed_lines

# Tokens; a longer unit is cut at word boundaries, to keep a passage within the limit of small models (512).
MAX_UNIT_TOKENS = 128
# Characters; up to here a list item is one unit, beyond it its sentences are.
MAX_ITEM_CHARACTERS = 240
# Characters looked at when a piece is cut from a long unit: 128 tokens of plain prose are about 600.
_CUT_WINDOW = 800
# sentencex knows abbreviations by language; its English rules also end sentences at the full stops of other scripts.
_LANGUAGE = "en"

# A word piece is at most about 7 letters; a symbol is a piece of its own. Against bge-small's tokeniser on 130
# documents (prose, tables, code, YAML): 0.87 to 1.08 of the true count, median 0.99. Japanese 1.12, Hebrew 0.89.
_PIECE = re.compile(r"[^\W_]{1,7}|[^\w\s]|_")
_FENCE = re.compile(r"\s*(```|~~~)")
_ROW = re.compile(r"\s*\||.*?\S(?: \| |\t)")
_ITEM = re.compile(r"\s*(?:>\s*)*(?:[-*+•]|\d{1,4}[.)]|[a-zA-Z][.)])\s+\S")
_RULE = re.compile(r"\s*([=\-*_~])(?:\s*\1){2,}\s*$")
# A form field: "Due date: 3 May".
_LABELLED = re.compile(r"[^\W_][^.:!?\n]{0,40}:[ \t]+\S")
# The end of a line whose sentence goes on: a comma, an open bracket, a dash, a word that joins.
_OPEN_END = re.compile(
    r"(?:[,(\[{/&\u2013\u2014-]|\b(?:a|an|and|as|at|by|for|from|in|into|is|of|on|or|that|the|to|which|with|und|der|die|das"
    r"|von|mit|y|de|la|el|et|du|le))[ \t]*$",
    re.IGNORECASE,
)
_SHORT = 0.8  # share of the usual width: a line that ends below it, with its next word, ends on purpose
_WRAPPED = 0.75  # share of the widest line that all lines of wrapped text have, but the last
_NARROWEST = 40  # characters of a column of prose
_LOWER = 0.3  # share of lines of wrapped prose that begin with a small letter, at least
_LEADING_MARKUP = re.compile(r"(?:[#>]+\s+|[-*+•]\s+(?:\[[ xX]\]\s+)?)+")


class UnitKind(StrEnum):
    HEADING = "heading"
    PROSE = "prose"
    LINE = "line"  # a list item, a table row, a line of code, a rule


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a page that is not split further; white space neither begins nor ends it."""

    span: Span
    kind: UnitKind
    tokens: int
    sentence: Span | None  # its quotable part, without list or heading marks; None without a word
    opens_block: bool  # first unit of a paragraph, list item, row or heading


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of `text` in an English word-piece model; extra UTF-8 bytes count half a token."""
    extra = len(text.encode("utf-8", "replace")) - len(text) if not text.isascii() else 0
    return len(_PIECE.findall(text)) + extra // 2


def split_units(
    text: str, headings: Sequence[Heading] = (), left_out: Sequence[Span] = (), rows: Collection[int] = ()
) -> list[Unit]:
    """Return the units of a page in text order, without the lines `left_out`; `rows` are the starts of table rows."""
    units: list[Unit] = []
    places = _Places({heading.start for heading in headings}, rows, {span.start for span in left_out})
    width = _usual_width(text)
    for span, kind in _hard_lines(text, _blocks(text, places), width):
        pieces = _sentences(text, span) if kind is UnitKind.PROSE else [span]
        parts = [part for piece in pieces for part in _bounded(text, piece)]
        units += [
            Unit(part, kind, tokens, _quotable(text, part), opens_block=index == 0)
            for index, (part, tokens) in enumerate(parts)
        ]
    return units


def _quotable(text: str, span: Span) -> Span | None:
    markup = _LEADING_MARKUP.match(text, span.start, span.end)
    start = markup.end() if markup else span.start
    return Span(start, span.end) if any(map(str.isalnum, text[start : span.end])) else None


@dataclass(frozen=True, slots=True)
class _Places:
    """Beginnings of lines with another meaning than their first characters suggest."""

    headings: Collection[int]
    rows: Collection[int]  # of tables
    skipped: Collection[int]


def _blocks(text: str, places: _Places) -> Iterator[tuple[Span, UnitKind]]:
    """Yield paragraphs and long list items as PROSE, single units as LINE or HEADING."""
    open_start = open_end = -1  # the paragraph or list item that is being collected
    in_item = in_code = False
    for start, line in placed_lines(text):
        end = start + len(line)
        kind = _line_kind(text, start, end, places, in_code=in_code)
        if open_start >= 0 and kind != "text":
            yield _closed(text, open_start, open_end, in_item=in_item)
            open_start = -1
        if kind == "fence":
            in_code = not in_code
        if kind in ("fence", "line", "heading"):
            span = _stripped(text, start, end)
            if span:
                yield span, UnitKind.HEADING if kind == "heading" else UnitKind.LINE
        elif kind != "blank":
            if open_start < 0:
                open_start, in_item = start, kind == "item"
            open_end = end
    if open_start >= 0:
        yield _closed(text, open_start, open_end, in_item=in_item)


def _line_kind(text: str, start: int, end: int, places: _Places, *, in_code: bool) -> str:
    line = text[start : min(end, start + 400)]  # marks are at the start of a line
    if start in places.skipped or (not line.strip() and not text[start:end].strip()):
        return "blank"
    if _FENCE.match(line):
        return "fence"
    if in_code:
        return "line"
    if start in places.headings or (start + len(line) - len(line.lstrip())) in places.headings:
        return "heading"
    if _ROW.match(line) or _RULE.match(line) or start in places.rows:
        return "line"
    return "item" if _ITEM.match(line) else "text"


def _closed(text: str, start: int, end: int, *, in_item: bool) -> tuple[Span, UnitKind]:
    span = _stripped(text, start, end) or Span(start, end)
    short_item = in_item and span.end - span.start <= MAX_ITEM_CHARACTERS
    return span, UnitKind.LINE if short_item else UnitKind.PROSE


def _usual_width(text: str) -> int:
    """Return the width at which the lines of a page are wrapped, in characters."""
    widths = sorted(len(line.rstrip()) for line in text.splitlines() if line.strip())
    return max(widths[len(widths) * 3 // 4] if widths else 0, _NARROWEST)


def _hard_lines(text: str, blocks: Iterator[tuple[Span, UnitKind]], width: int) -> Iterator[tuple[Span, UnitKind]]:
    """Yield blocks, with paragraphs cut after lines that end on purpose: of lists, forms, addresses and titles."""
    for span, kind in blocks:
        if kind is not UnitKind.PROSE or "\n" not in span.of(text) or _ITEM.match(text, span.start, span.end):
            yield span, kind
            continue
        lines = [(span.start + start, line.rstrip()) for start, line in placed_lines(span.of(text))]
        start = span.start
        for place in _hard_ends([line.strip() for _, line in lines], width):
            end = lines[place][0] + len(lines[place][1])
            yield _stripped(text, start, end) or Span(start, end), kind
            start = lines[place + 1][0]
        yield _stripped(text, start, span.end) or Span(start, span.end), kind


def _hard_ends(lines: Sequence[str], width: int) -> Iterator[int]:
    """Yield the numbers of the lines of a paragraph that end on purpose, without the last."""
    small = sum(line[:1].islower() for line in lines[1:])
    widest = max(map(len, lines))
    full = widest >= _NARROWEST and all(len(line) >= widest * _WRAPPED for line in lines[:-1])
    is_wrapped = full and len(lines) > 2
    is_prose = is_wrapped or (len(lines) > 2 and small >= (len(lines) - 1) * _LOWER)
    for place, (line, following) in enumerate(pairwise(lines)):
        labelled = _LABELLED.match(line) is not None and _LABELLED.match(following) is not None
        if (labelled and not is_wrapped) or is_figures(line) or is_figures(following):
            yield place
        elif not (following[:1].islower() or _OPEN_END.search(line) or _is_label_of_one(lines, place)):
            first, room = following.split(" ", 1)[0], (widest if is_prose else max(width, widest)) * _SHORT
            if (len(lines) > 2 and not is_prose) or len(line) + 1 + len(first) <= room:
                yield place


def _is_label_of_one(lines: Sequence[str], place: int) -> bool:
    """Return whether a line is the label of the next one only: "Owner:", "Ann Hill", "Due date:"."""
    value, behind = lines[place + 1], lines[place + 2 : place + 3]
    is_label = lines[place].endswith(":") and len(lines[place]) <= _NARROWEST
    return is_label and not value.endswith(":") and all(line.endswith(":") for line in behind)


def _stripped(text: str, start: int, end: int) -> Span | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end) if start < end else None


def _sentences(text: str, span: Span) -> Iterator[Span]:
    from sentencex import get_sentence_boundaries

    block = span.of(text)
    position = 0
    for boundary in get_sentence_boundaries(_LANGUAGE, block):
        end = min(boundary["end_index"], len(block))
        sentence = _stripped(text, span.start + position, span.start + end)
        if sentence and any(map(str.isalnum, sentence.of(text))):  # a stray quote mark belongs to the next sentence
            yield sentence
            position = end
    rest = _stripped(text, span.start + position, span.end)
    if rest:
        yield rest


def _bounded(text: str, span: Span) -> Iterator[tuple[Span, int]]:
    """Return the span, or pieces of it within MAX_UNIT_TOKENS cut at white space if possible, with their tokens."""
    start = span.start
    while start < span.end:
        stop = min(span.end, start + _CUT_WINDOW)
        tokens = estimate_tokens(text[start:stop])
        while tokens > MAX_UNIT_TOKENS:
            stop = start + max(1, (stop - start) * MAX_UNIT_TOKENS // tokens)
            tokens = estimate_tokens(text[start:stop]) if stop - start > 1 else MAX_UNIT_TOKENS
        if stop < span.end:
            stop = _word_end(text, start, stop)
        piece = _stripped(text, start, stop)
        if piece:
            yield piece, tokens
        start = stop


def _word_end(text: str, start: int, stop: int) -> int:
    """Return the last white space before `stop`, if it keeps at least half of the piece."""
    if text[stop].isspace():
        return stop
    for place in range(stop - 1, start + (stop - start) // 2, -1):
        if text[place].isspace():
            return place
    return stop
