"""Lines of a PDF page whose file does not give them as printed: tables column by column, or letter by letter. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

# Lines of figures one after the other that make a column set apart from its labels.
MIN_COLUMN = 5
# Share of a page's lines that such columns hold on a page that is a table and not prose beside one.
MIN_SHARE = 0.25
# Lines of at most this many characters are splinters of words; a page that is mostly such was set letter by letter.
SPLINTER = 3
MIN_SPLINTERS = 50
MIN_SPLINTER_SHARE = 0.8
# Share of the lower line's height that two lines overlap by when they stand on one row.
MIN_OVERLAP = 0.5
# Gaps between pieces of a row, in heights of a line: below the first they are one word, from the second on two cells.
WORD_GAP = 0.15
CELL_GAP = 0.9

_FIGURE = re.compile(r"[\s$€£(]*[-–+]?[\s$€£(]*\d[\d.,\s]*\)?\s*%?\s*")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text with its box, in points; `bottom` and `top` grow upwards."""

    text: str
    left: float
    right: float
    bottom: float
    top: float


def needs_rows(lines: Sequence[str]) -> bool:
    """Whether the lines, in the file's order, are not those a reader sees."""
    return _are_columns_of_figures(lines) or _are_splinters(lines)


def _are_splinters(lines: Sequence[str]) -> bool:
    filled = [line for line in lines if line.strip()]
    splinters = sum(len(line.strip()) <= SPLINTER and not _FIGURE.fullmatch(line) for line in filled)
    figures = sum(len(line.strip()) == 1 for line in filled)
    return splinters >= MIN_SPLINTERS and splinters + figures >= len(filled) * MIN_SPLINTER_SHARE


def _are_columns_of_figures(lines: Sequence[str]) -> bool:
    filled = [line for line in lines if line.strip()]
    in_columns = run = 0
    for line in [*filled, ""]:
        if _FIGURE.fullmatch(line):
            run += 1
            continue
        in_columns += run if run >= MIN_COLUMN else 0
        run = 0
    return bool(filled) and in_columns >= len(filled) * MIN_SHARE


def to_rows(lines: Sequence[Line]) -> str:
    """The lines from top to bottom; those of one row from left to right, with tabs where the gap is one of cells."""
    return "\n".join(_join(sorted(row, key=lambda line: line.left)) for row in rows_of(lines))


def rows_of(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines that stand on one row together, the highest of it first; rows from top to bottom."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (-(line.top + line.bottom), line.left)):
        if rows and _on_one_row(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _on_one_row(first: Line, second: Line) -> bool:
    overlap = min(first.top, second.top) - max(first.bottom, second.bottom)
    return overlap >= min(first.top - first.bottom, second.top - second.bottom) * MIN_OVERLAP


def _join(row: Sequence[Line]) -> str:
    pieces = [row[0].text.strip()]
    for before, line in pairwise(row):
        gap = (line.left - before.right) / max(line.top - line.bottom, 1.0)
        pieces.append("" if gap < WORD_GAP else " " if gap < CELL_GAP else "\t")
        pieces.append(line.text.strip())
    return "".join(pieces)
