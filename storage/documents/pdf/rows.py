"""Lines of a PDF page in rows and in reading order. Pure."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

# Lines of figures one after the other that make a column set apart from its labels.
MIN_COLUMN = 5
# Minimum share of such columns in the lines of a page that is a table.
MIN_SHARE = 0.25
# Lines of at most this many characters are splinters of words; a page that is mostly such was set letter by letter.
SPLINTER = 3
MIN_SPLINTERS = 50
MIN_SPLINTER_SHARE = 0.8
# Minimum overlap of two lines of one row, as a share of the lower line's height.
MIN_OVERLAP = 0.5
# Gaps between pieces of a row, in heights of a line: below the first they are one word, from the second on two cells.
WORD_GAP = 0.15
CELL_GAP = 0.9

_FIGURE = re.compile(r"[\s$€£(]*+(?:[-–+][\s$€£(]*+)?\d[\d.,\s]*+\)?\s*+%?\s*")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text with its box, in points; `bottom` and `top` grow upwards."""

    text: str
    left: float
    right: float
    bottom: float
    top: float


def needs_rows(lines: Sequence[str]) -> bool:
    """Return whether the lines in the file's order differ from those a reader sees."""
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
    """Return the lines from top to bottom, each row from left to right with tabs at the gaps of cells."""
    return "\n".join(_join(sorted(row, key=lambda line: line.left)) for row in rows_of(lines))


def rows_of(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines of each row, the highest first; rows from top to bottom."""
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


def _join(row: Sequence[Line], word_gap: float = WORD_GAP) -> str:
    pieces = [row[0].text.strip()]
    for before, line in pairwise(row):
        gap = (line.left - before.right) / max(line.top - line.bottom, 1.0)
        pieces.append("" if gap < word_gap else " " if gap < CELL_GAP else "\t")
        pieces.append(line.text.strip())
    return "".join(pieces)


# Minimum lines of each side of two columns of prose, their length in heights of a line, and as a share of the
# longest (but for a tenth): cells of a table are shorter, or not as even.
MIN_LINES = 4
MIN_LENGTH = 10.0
MIN_EVEN = 0.75
# Share of lines that may cross the white between two columns: titles and figures over both.
MAX_CROSSING = 0.3
# Minimum overlap of two columns, as a share of the higher one's height.
MIN_BESIDE = 0.4
# Columns within columns that are looked for.
_MAX_DEPTH = 3
# Gaps, in heights of a line: between pieces of a row that are two cells, and between rows of two paragraphs.
PARAGRAPH_GAP = 0.9


def to_page_text(lines: Sequence[Line]) -> str:
    """Return rows as lines with tabs between cells, and empty lines at the gaps of the page."""
    return "\n\n".join(_to_paragraphs(block) for block in _blocks(lines, _MAX_DEPTH))


def _blocks(lines: Sequence[Line], depth: int) -> list[list[Line]]:
    """Return blocks of lines in reading order."""
    gutter = _gutter(lines) if depth else None
    if gutter is None:
        return [list(lines)] if lines else []
    blocks = []
    beside: list[Line] = []
    for line in [*sorted(lines, key=lambda line: -line.top), None]:
        if line is not None and not line.left < gutter < line.right:
            beside.append(line)
            continue
        for side in ([one for one in beside if one.right <= gutter], [one for one in beside if one.left >= gutter]):
            blocks += _blocks(side, depth - 1)
        beside = []
        if line is not None:
            blocks.append([line])
    return _joined(blocks)


def _joined(blocks: Sequence[list[Line]]) -> list[list[Line]]:
    joined: list[list[Line]] = []
    for block in blocks:
        if joined and len(block) == 1 and len(joined[-1]) == 1 and _gap(joined[-1][0], block[0]) < PARAGRAPH_GAP:
            joined[-1] = joined[-1] + block
        else:
            joined.append(block)
    return joined


def _gutter(lines: Sequence[Line]) -> float | None:
    """Return the centre of the gap between two columns of prose, None for a single column."""
    best: tuple[int, float] | None = None
    height = median([line.top - line.bottom for line in lines]) if lines else 0.0
    for place in sorted({line.right + height / 4 for line in lines}):
        left = [line for line in lines if line.right <= place]
        right = [line for line in lines if line.left >= place]
        crossing = len(lines) - len(left) - len(right)
        if crossing > len(lines) * MAX_CROSSING or (best is not None and crossing >= best[0]):
            continue
        if _is_column(left, height) and _is_column(right, height) and _are_beside(left, right):
            best = (crossing, place)
    return None if best is None else best[1]


def _is_column(lines: Sequence[Line], height: float) -> bool:
    if len(lines) < MIN_LINES:
        return False
    widths = sorted(line.right - line.left for line in lines)
    return median(widths) >= max(height * MIN_LENGTH, widths[len(widths) * 9 // 10] * MIN_EVEN)


def _are_beside(left: Sequence[Line], right: Sequence[Line]) -> bool:
    tops = [max(line.top for line in side) for side in (left, right)]
    bottoms = [min(line.bottom for line in side) for side in (left, right)]
    higher = max(top - bottom for top, bottom in zip(tops, bottoms, strict=True))
    return min(tops) - max(bottoms) >= higher * MIN_BESIDE


def _to_paragraphs(lines: Sequence[Line]) -> str:
    rows, text = rows_of(lines), ""
    for number, row in enumerate(rows):
        if number:
            text += "\n\n" if _gap(rows[number - 1][0], row[0]) >= PARAGRAPH_GAP else "\n"
        text += _join(sorted(row, key=lambda line: line.left), word_gap=-math.inf)
    return text


def _gap(upper: Line, lower: Line) -> float:
    return (upper.bottom - lower.top) / max(lower.top - lower.bottom, 1.0)
