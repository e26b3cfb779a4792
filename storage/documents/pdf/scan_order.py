"""The text of a recognised page: its lines in reading order, columns one after the other, cells apart. Pure."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from storage.documents.pdf.rows import Line, rows_of

# Lines of each side that make it columns of prose, how long most are in heights of a line, and what share of the
# longest (but for a tenth): cells of a table are shorter, or not as even.
MIN_LINES = 4
MIN_LENGTH = 10.0
MIN_EVEN = 0.75
# Share of lines that may cross the white between two columns: titles and figures over both.
MAX_CROSSING = 0.3
# Share of the higher column's height over which two columns stand beside each other.
MIN_BESIDE = 0.4
# Columns within columns that are looked for.
_MAX_DEPTH = 3
# Gaps, in heights of a line: between pieces of a row that are two cells, and between rows of two paragraphs.
CELL_GAP = 0.9
PARAGRAPH_GAP = 0.9


def to_page_text(lines: Sequence[Line]) -> str:
    """Rows as lines, with tabs between cells; an empty line where the page leaves room."""
    return "\n\n".join(_to_rows(block) for block in _blocks(lines, _MAX_DEPTH))


def _blocks(lines: Sequence[Line], depth: int) -> list[list[Line]]:
    """What is read from top to bottom, in the order it is read."""
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
    """Lines over both columns that follow each other as one block."""
    joined: list[list[Line]] = []
    for block in blocks:
        if joined and len(block) == 1 and len(joined[-1]) == 1 and _gap(joined[-1][0], block[0]) < PARAGRAPH_GAP:
            joined[-1] = joined[-1] + block
        else:
            joined.append(block)
    return joined


def _gutter(lines: Sequence[Line]) -> float | None:
    """Where the white between two columns of prose is; None where the page has but one column."""
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


def _to_rows(lines: Sequence[Line]) -> str:
    rows, text = rows_of(lines), ""
    for number, row in enumerate(rows):
        if number:
            text += "\n\n" if _gap(rows[number - 1][0], row[0]) >= PARAGRAPH_GAP else "\n"
        text += _join(sorted(row, key=lambda line: line.left))
    return text


def _gap(upper: Line, lower: Line) -> float:
    """The white between two lines, in heights of the lower one."""
    return (upper.bottom - lower.top) / max(lower.top - lower.bottom, 1.0)


def _join(row: Sequence[Line]) -> str:
    text = row[0].text
    for before, line in pairwise(row):
        gap = (line.left - before.right) / max(line.top - line.bottom, 1.0)
        text += (" " if gap < CELL_GAP else "\t") + line.text
    return text
