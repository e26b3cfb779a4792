"""Headings of a PDF without an outline: short lines in larger type than most of its text."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from core.text.words import placed_lines
from storage.documents.pdf.glyphs import DOUBLE, letter_index, without_doubles

# Of the size that most letters have. Captions and heads of tables are nearly as small as the text.
LARGER = 1.15
# Lines of one heading, and its characters: more is text in large type.
MOST_LINES = 3
LONGEST = 120
MIN_LETTERS = 3
# Pages that may have the same line: on more, it is a running head.
MOST_PAGES = 2
# Share of a file's letters: with more in large type, the size says nothing (slides, posters).
MOST_LARGE = 0.25
DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """A heading of a file: of its outline, or in its type."""

    level: int  # from 1
    title: str
    index: int  # of its page


@dataclass(frozen=True, slots=True)
class SizedLine:
    index: int  # of its page
    text: str
    size: float  # points, as drawn


def read_sizes(text_page: Any, raw: str, index: int) -> Iterator[SizedLine]:
    """Yield the lines of a page's text, as `glyphs` and `invisible` mark it, with the size of a middle letter."""
    for start, line in placed_lines(raw, "\r\n"):
        drawn = [place for place, letter in enumerate(line, start) if letter != DOUBLE and not letter.isspace()]
        if drawn:
            size = _size(text_page, drawn[len(drawn) // 2])
            yield SizedLine(index, " ".join(without_doubles(line).split()), round(2 * size) / 2)


def find_headings(lines: Sequence[SizedLine]) -> list[Entry]:
    """Return the headings of a file in order, all lines of which are given; the largest type is the first level."""
    letters = Counter[float]()
    for line in lines:
        letters[line.size] += _letters(line.text)
    if not letters.total():
        return []
    least = LARGER * letters.most_common(1)[0][0]
    if sum(count for size, count in letters.items() if size >= least) > MOST_LARGE * letters.total():
        return []
    pages = Counter(text for text, _ in {(line.text, line.index) for line in lines})
    once = (line for line in lines if pages[line.text] <= MOST_PAGES)
    found = list[SizedLine]()
    for (index, size), group in groupby(once, key=lambda line: (line.index, line.size)):
        run = [line.text for line in group]
        title = " ".join(run)
        if size >= least and len(run) <= MOST_LINES and _is_title(title):
            found.append(SizedLine(index, title, size))
    sizes = sorted({line.size for line in found}, reverse=True)
    return [Entry(min(sizes.index(line.size) + 1, DEEPEST), line.text, line.index) for line in found]


def _size(text_page: Any, place: int) -> float:
    from pypdfium2 import raw as pdfium

    index = letter_index(text_page, place)
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFText_GetMatrix(text_page.raw, index, matrix):
        return 0.0
    return float(pdfium.FPDFText_GetFontSize(text_page.raw, index) * math.hypot(matrix.c, matrix.d))


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _is_title(text: str) -> bool:
    letters = _letters(text)
    return letters >= MIN_LETTERS and 2 * letters > len(text.replace(" ", "")) and len(text) <= LONGEST
