"""Tables without lines around their cells: rows whose pieces are aligned in columns of figures. Pure."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from core.text.delimited import is_data
from storage.documents.pdf.layout import Cell, FoundTable, Layout, Word, is_figure, to_lines, to_text

# Gaps between words that part two cells, in heights of a line; between two figures the smaller one is enough.
CELL_GAP = 0.9
FIGURE_GAP = 0.2
# Gaps between lines, in heights: beyond it a table ends.
LINE_GAP = 3.2
# Lines of one piece in a row that a table may hold: headings of its parts, labels of several lines.
MAX_SINGLE = 3


@dataclass(frozen=True)
class Piece:
    """Words of one line with no more than a space between them."""

    words: tuple[Word, ...]

    @cached_property
    def text(self) -> str:
        return to_text(self.words)

    @cached_property
    def left(self) -> float:
        return self.words[0].left

    @cached_property
    def right(self) -> float:
        return max(word.right for word in self.words)

    @cached_property
    def is_figure(self) -> bool:
        return is_figure(self.text)


@dataclass(frozen=True)
class PrintedLine:
    """The pieces of one line, from left to right."""

    pieces: tuple[Piece, ...]

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return tuple(word for piece in self.pieces for word in piece.words)

    @cached_property
    def middle(self) -> float:
        return median(word.middle for word in self.words)

    @cached_property
    def height(self) -> float:
        return median(word.height for word in self.words)

    @cached_property
    def figures(self) -> int:
        """Pieces that are figures, the first one left out: it may be a list's number or a year."""
        return sum(piece.is_figure for piece in self.pieces[1:])

    @property
    def holds_figures(self) -> bool:
        return self.figures > 0 and self.figures * 2 >= len(self.pieces) - 1


def to_line(words: Sequence[Word]) -> PrintedLine:
    pieces: list[list[Word]] = []
    for word in words:
        if pieces and not _parts(pieces[-1], word):
            pieces[-1].append(word)
        else:
            pieces.append([word])
    return PrintedLine(tuple(Piece(tuple(piece)) for piece in pieces))


def _parts(piece: Sequence[Word], word: Word) -> bool:
    """Return whether the word starts a new cell."""
    before = piece[-1]
    gap = (word.left - before.right) / max(before.height, word.height)
    if gap >= CELL_GAP:
        return True
    return gap >= FIGURE_GAP and is_number(before.text) and is_number(word.text) and len(piece) == 1


def is_number(text: str) -> bool:
    """Return whether it may be a figure in its own cell; a leading zero makes it part of a phone number."""
    if len(text) > 1 and text.isdecimal() and text.startswith("0"):
        return False
    return (is_data(text) and any(map(str.isdigit, text))) or text in ("—", "–", "-", "†", "‡", "(X)", "NA")


def find_groups(lines: Sequence[PrintedLine]) -> list[tuple[int, int]]:
    """Return runs of lines with several pieces as (first, end)."""
    groups = []
    start: int | None = None
    last = 0
    for place, line in enumerate(lines):
        near = start is not None and lines[last].middle - line.middle <= LINE_GAP * max(
            line.height, lines[last].height
        ) * (place - last)
        if len(line.pieces) < 2:
            continue
        if start is not None and (not near or place - last > MAX_SINGLE + 1):
            groups.append((start, last + 1))
            start = None
        start = place if start is None else start
        last = place
    if start is not None:
        groups.append((start, last + 1))
    return groups


# Rows with figures that make a table.
MIN_ROWS = 3
MAX_COLUMNS = 60
# Lines above the first row of figures that may name the columns.
MAX_HEADER = 7
# Share of the rows that may reach into the white between two columns.
_STRAY = 0.04
# Share of the cells outside of the first column that are figures in a table of figures.
_FIGURES = 0.55
# Share of the cells outside of the first column that are filled: fewer are the marks on a chart.
_FILLED = 0.3

_PERIOD = re.compile(r"(?:19|20)\d\d(?:[-–/]\d{2,4})?\w?")


def find_aligned_tables(layout: Layout, ruled: Sequence[FoundTable] = ()) -> list[FoundTable]:
    """Return the tables of a page outside of `ruled`, from top to bottom."""
    taken = {word.order for table in ruled for word in table.words}
    lines = [to_line(line) for line in to_lines(word for word in layout.words if word.order not in taken)]
    tables = []
    for group in find_groups(lines):
        table = _to_table(group, lines)
        if table is not None:
            tables.append(table)
    return tables


def _to_table(group: tuple[int, int], lines: Sequence[PrintedLine]) -> FoundTable | None:
    rows = [place for place in range(*group) if lines[place].holds_figures]
    if len(rows) < MIN_ROWS:
        return None
    first, last = rows[0], rows[-1] + 1
    edges = _edges([lines[place] for place in rows])
    if not 3 <= len(edges) <= MAX_COLUMNS + 1 or not _is_table([_to_cells(line, edges) for line in lines[first:last]]):
        return None
    top = _header_start(lines, first, edges)
    first = _first_row(lines, top, first, edges)
    body = _unwrapped([_to_cells(line, edges) for line in lines[first:last]])
    return FoundTable(
        header=_names(lines[top:first], edges),
        rows=tuple(body),
        texts=tuple(tuple(to_text(cell) for cell in row) for row in body),
        words=tuple(word for line in lines[top:last] for word in line.words),
        edges=edges,
        is_ruled=False,
    )


def _edges(rows: Sequence[PrintedLine]) -> tuple[float, ...]:
    """Return the left ends of the columns and the right end of the last: almost no row has ink between them."""
    steps = sorted(
        [(piece.left, 1) for row in rows for piece in row.pieces]
        + [(piece.right, -1) for row in rows for piece in row.pieces]
    )
    allowed = int(len(rows) * _STRAY)
    edges: list[float] = []
    depth, is_inside, ended = 0, False, 0.0
    for place, step in steps:
        depth += step
        if depth > allowed and not is_inside:
            is_inside = True
            edges.append(place if not edges else (place + ended) / 2)
        elif depth <= allowed and is_inside:
            is_inside, ended = False, place
    return (*edges, max(piece.right for row in rows for piece in row.pieces)) if edges else ()


def _column(edges: Sequence[float], place: float) -> int:
    inner = edges[1:-1]
    return next((column for column, edge in enumerate(inner) if place < edge), len(inner))


def _to_cells(line: PrintedLine, edges: Sequence[float]) -> tuple[Cell, ...]:
    """Return the cells of a line by the positions of its words; a single piece at its start is in the first cell."""
    cells: list[list[Word]] = [[] for _ in edges[:-1]]
    for piece in line.pieces:
        columns = {_column(edges, word.centre) for word in piece.words}
        if len(columns) > 1 and not all(is_number(word.text) for word in piece.words):
            start = _column(edges, piece.words[0].centre)
            cells[start if len(line.pieces) == 1 or start == 0 else _column(edges, (piece.left + piece.right) / 2)] += (
                piece.words
            )
            continue
        for word in piece.words:
            cells[_column(edges, word.centre)].append(word)
    return tuple(map(tuple, cells))


def _header_start(lines: Sequence[PrintedLine], first: int, edges: Sequence[float]) -> int:
    """Return the first line above the figures that names columns, `first` without one."""
    place = first
    while place > 0 and first - place < MAX_HEADER:
        line = lines[place - 1]
        below = lines[place]
        if line.middle - below.middle > LINE_GAP * max(line.height, below.height):
            break
        if _is_prose(line, edges):
            break
        place -= 1
    while place < first and len(lines[place].pieces) == 1 and lines[place].pieces[0].left < edges[1]:
        place += 1  # a caption, above the header at its left
    return place


def _first_row(lines: Sequence[PrintedLine], top: int, first: int, edges: Sequence[float]) -> int:
    """Return the first row: a line of years above figures still names columns, a heading of rows doesn't."""
    while first + 2 < len(lines) and _is_of_periods(lines[first]) and not _is_of_periods(lines[first + 1]):
        if not lines[first + 1].holds_figures:
            break
        first += 1
    while first - 1 > top and len(lines[first - 1].pieces) == 1 and lines[first - 1].pieces[0].right < edges[1]:
        first -= 1
    return first


def _is_of_periods(line: PrintedLine) -> bool:
    return len(line.pieces) > 1 and all(_PERIOD.fullmatch(piece.text) for piece in line.pieces[1:])


def _is_prose(line: PrintedLine, edges: Sequence[float]) -> bool:
    """Return whether a line crosses the columns from the first on."""
    crossing = [
        piece for piece in line.pieces if _column(edges, piece.left) == 0 and piece.right > edges[1] + line.height
    ]
    outside = line.pieces[0].right < edges[0] or line.pieces[0].left > edges[-1]
    return outside or any(len(piece.words) > 2 for piece in crossing)


def _names(lines: Sequence[PrintedLine], edges: Sequence[float]) -> tuple[str, ...]:
    """Return the names of the columns, joined from top to bottom; a name over several columns is part of each."""
    names: list[list[str]] = [[] for _ in edges[:-1]]
    for piece in (piece for line in lines for piece in line.pieces):
        first, last = _column(edges, piece.words[0].centre), _column(edges, piece.words[-1].centre)
        for column in range(first, max(first, last) + 1):
            names[column].append(piece.text)
    return tuple(" ".join(name) for name in names)


def _unwrapped(body: Sequence[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """Join label lines that start with a lower-case letter to the row above."""
    rows: list[tuple[Cell, ...]] = []
    for row in body:
        if rows and row[0] and not any(row[1:]) and row[0][0].text[:1].islower():
            rows[-1] = (rows[-1][0] + row[0], *rows[-1][1:])
        else:
            rows.append(row)
    return rows


def _is_table(body: Sequence[Sequence[Cell]]) -> bool:
    cells = [to_text(cell) for row in body for cell in row[1:] if cell]
    labels = [to_text(row[0]) for row in body if row[0]]
    if len(cells) < sum(map(any, body)) * (len(body[0]) - 1) * _FILLED:
        return False
    return sum(map(is_figure, cells)) >= len(cells) * _FIGURES and not _is_contents(labels, cells, len(body[0]))


def _is_contents(labels: Sequence[str], cells: Sequence[str], width: int) -> bool:
    """Return whether it is a table of contents: titles with growing page numbers."""
    numbers = [int(cell) for cell in cells if cell.isascii() and cell.isdigit() and len(cell) < 5]
    dotted = sum(label.rstrip().endswith((". .", "..", "…", "·")) for label in labels)
    grows = sum(one <= other for one, other in itertools.pairwise(numbers))
    return width == 2 and len(numbers) * 4 >= len(cells) * 3 and (dotted * 2 > len(labels) or grows >= len(numbers) - 1)
