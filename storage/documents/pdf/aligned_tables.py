"""Tables without lines around their cells: rows whose pieces are aligned in columns. Pure.

Unlike prose in columns, the columns of a table hold figures, or many short words that begin at one place.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from core.text.delimited import is_data
from storage.documents.pdf.layout import Cell, FoundTable, Layout, Rule, Word, is_figure, to_lines, to_text
from storage.documents.pdf.ruled_tables import join_rules

# Gaps between words that part two cells, in heights of a line; between two figures the smaller one is enough.
CELL_GAP = 0.9
FIGURE_GAP = 0.2
# Gaps between lines, in heights: beyond it a table ends.
LINE_GAP = 3.2
# The same between dates that name columns and their first figures.
DATES_GAP = 6.4
# Lines of one piece in a row that a table may hold: headings of its parts, labels of several lines.
MAX_SINGLE = 3
_PERIOD = re.compile(r"(?:19|20)\d\d(?:[-–/]\d{2,4})?\w?")


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
    if word.text == piece[0].text and _PERIOD.fullmatch(before.text):
        return True  # "May 1, 2024 May 1, 2023"
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
# Characters of a cell of words, at the median, in a table that has no figures, and how its columns look.
_SHORT = 22
_WORD_COLUMNS = 3


def find_aligned_tables(layout: Layout, ruled: Sequence[FoundTable] = ()) -> list[FoundTable]:
    """Return the tables of a page outside of `ruled`, from top to bottom."""
    taken = {word.order for table in ruled for word in table.words}
    lines = [to_line(line) for line in to_lines(word for word in layout.words if word.order not in taken)]
    tables = []
    for floor, group in _each_header(find_groups(lines), lines):
        table = _to_table(group, lines, layout.level, floor)
        if table is not None:
            tables.append(table)
    return tables


def _each_header(
    groups: Sequence[tuple[int, int]], lines: Sequence[PrintedLine]
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield groups, split where names of columns come again below figures, each with the first line it may take."""
    for start, end in groups:
        floor = rows = 0
        names = set[tuple[str, ...]]()
        last = start
        for place in range(start, end):
            line = lines[place]
            texts = tuple(piece.text for piece in line.pieces)
            if rows >= MIN_ROWS and (_is_of_dates(line) or texts in names):
                yield floor, (start, place)
                floor, start, rows, names = last + 1, place, 0, set()
            if not line.figures and len(texts) > _WORD_COLUMNS and not rows:
                names.add(texts)
            if line.holds_figures and not _is_of_dates(line):
                rows, last = rows + 1, place
        yield floor, (start, end)


def _is_of_dates(line: PrintedLine) -> bool:
    return len(line.pieces) > 1 and all(_PERIOD.fullmatch(piece.words[-1].text) for piece in line.pieces)


def _to_table(
    group: tuple[int, int], lines: Sequence[PrintedLine], rules: Sequence[Rule], floor: int
) -> FoundTable | None:
    places = range(*group)
    of_figures = [place for place in places if lines[place].holds_figures]
    table = _built(of_figures, lines, rules, floor)
    if table is not None:
        return table
    of_words = [place for place in places if len(lines[place].pieces) >= _WORD_COLUMNS]
    if len(of_figures) >= MIN_ROWS and len(of_words) < len(places):
        return None  # a chart with scattered words and numbers
    return _built(of_words, lines, rules, None)


def _built(
    rows: Sequence[int], lines: Sequence[PrintedLine], rules: Sequence[Rule], floor: int | None
) -> FoundTable | None:
    """Return the table of these rows, with names from the line `floor` on; without it, it is one of words."""
    is_words = floor is None
    if len(rows) < MIN_ROWS:
        return None
    first, last = rows[0], rows[-1] + 1
    edges = _edges([lines[place] for place in rows])
    if not 3 <= len(edges) <= MAX_COLUMNS + 1:
        return None
    top = first if floor is None else _header_start(lines, (floor, first), edges, rules)
    body = [_to_cells(line, edges) for line in lines[first:last]]
    if not _is_table(body, is_words=is_words):
        return None
    first = _first_row(lines, top, first, edges)
    body = [_to_cells(line, edges) for line in lines[first:last]]
    names = _names(lines[top:first], edges)
    body = _unwrapped(body)
    if is_words or (not any(names) and _names_columns(body)):
        names, body = tuple(to_text(cell) for cell in body[0]), body[1:]
    return FoundTable(
        header=names,
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


def _header_start(
    lines: Sequence[PrintedLine], within: tuple[int, int], edges: Sequence[float], rules: Sequence[Rule]
) -> int:
    """Return the first line above the figures that names columns, the end of `within` without one."""
    floor, first = within
    place = first
    ceiling = max((rule.at for rule in join_rules(rules) if _spans(rule, edges)), default=None)
    while place > floor and first - place < MAX_HEADER:
        line = lines[place - 1]
        below = lines[place]
        most = DATES_GAP if _names_periods(line) else LINE_GAP
        if line.middle - below.middle > most * max(line.height, below.height):
            break
        if ceiling is not None and line.middle > ceiling and place < first and not _names_periods(line):
            break  # the first line above figures may be one of names, parted from them
        # prose crosses the columns from the first on
        crossing = [
            piece for piece in line.pieces if _column(edges, piece.left) == 0 and piece.right > edges[1] + line.height
        ]
        outside = line.pieces[0].right < edges[0] or line.pieces[0].left > edges[-1]
        if outside or any(len(piece.words) > 2 for piece in crossing):
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


def _names_periods(line: PrintedLine) -> bool:
    return sum(_PERIOD.fullmatch(piece.words[-1].text) is not None for piece in line.pieces) > 1


def _spans(rule: Rule, edges: Sequence[float]) -> bool:
    return rule.end - rule.start >= (edges[-1] - edges[0]) * 0.8 and rule.start < edges[-1] and rule.end > edges[0]


def _names(lines: Sequence[PrintedLine], edges: Sequence[float]) -> tuple[str, ...]:
    """Return the names of the columns, joined from top to bottom; a name over several columns is part of each."""
    names: list[list[str]] = [[] for _ in edges[:-1]]
    own = _to_cells(lines[-1], edges) if lines else ()
    for number, line in enumerate(lines, 1):
        for piece in line.pieces:
            covered = _covered(piece, edges)
            if number < len(lines) and len(covered) == 1:
                both = _centred_over(piece, covered[0], line, edges, own)
                for column in both:
                    names[column].append(piece.text)
                if both:
                    continue
            for column in covered:
                if any(_overlap(other, column, edges) > _overlap(piece, column, edges) for other in line.pieces):
                    continue  # it only reaches into the column of another name
                names[column].append(
                    piece.text
                    if len(covered) > 1 and not _is_loose(piece, edges)
                    else to_text(word for word in piece.words if _column(edges, word.centre) == column)
                )
    return tuple(" ".join(filter(None, name)) for name in names)


def _overlap(piece: Piece, column: int, edges: Sequence[float]) -> float:
    return min(piece.right, edges[column + 1]) - max(piece.left, edges[column])


def _covered(piece: Piece, edges: Sequence[float]) -> range:
    first, last = _column(edges, piece.words[0].centre), _column(edges, piece.words[-1].centre)
    return range(first, max(first, last) + 1)


def _centred_over(piece: Piece, column: int, line: PrintedLine, edges: Sequence[float], own: Sequence[Cell]) -> range:
    """Return the two columns that a name is centred over, if the pair of names below it repeats."""
    centre = (piece.left + piece.right) / 2
    taken = {place for other in line.pieces if other is not piece for place in _covered(other, edges)}
    for first in (column, column - 1):
        beside = first + 1 if first == column else first
        if first < 1 or beside in taken or not _is_pair(first, own):
            continue
        middle = (own[first][0].left + own[first + 1][-1].right) / 2
        if abs(centre - middle) < abs(centre - (own[column][0].left + own[column][-1].right) / 2):
            return range(first, first + 2)
    return range(0)


def _is_pair(first: int, own: Sequence[Cell]) -> bool:
    names = [to_text(cell) for cell in own]
    pair = names[first : first + 2]
    others = [names[place : place + 2] for place in (first - 2, first + 2) if place >= 1]
    return len(pair) == 2 and all(pair) and pair[0] != pair[1] and pair in others


def _is_loose(piece: Piece, edges: Sequence[float]) -> bool:
    """Return whether each word of a piece heads a column."""
    columns = [_column(edges, word.centre) for word in piece.words]
    gaps: list[float] = []
    inner: list[float] = []
    for (before, one), (after, other) in itertools.pairwise(zip(piece.words, columns, strict=True)):
        (inner if one == other else gaps).append(after.left - before.right)
    return bool(gaps) and min(gaps) > max([*inner, piece.words[0].height * 0.3]) * 1.1


def _names_columns(body: Sequence[Sequence[Cell]]) -> bool:
    return len(body) > MIN_ROWS and all(body[0][1:]) and not any(map(str.isdigit, "".join(map(to_text, body[0]))))


def _unwrapped(body: Sequence[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """Join label lines that start with a lower-case letter to the row above."""
    rows: list[tuple[Cell, ...]] = []
    for row in body:
        if rows and row[0] and not any(row[1:]) and row[0][0].text[:1].islower():
            rows[-1] = (rows[-1][0] + row[0], *rows[-1][1:])
        else:
            rows.append(row)
    return rows


def _is_table(body: Sequence[Sequence[Cell]], *, is_words: bool) -> bool:
    cells = [to_text(cell) for row in body for cell in row[1:] if cell]
    labels = [to_text(row[0]) for row in body if row[0]]
    if len(cells) < sum(map(any, body)) * (len(body[0]) - 1) * _FILLED:
        return False
    if not is_words:
        figures = sum(map(is_figure, cells))
        return figures >= len(cells) * _FIGURES and not _is_contents(labels, cells, len(body[0]))
    filled = [row for row in body if sum(map(bool, row)) >= _WORD_COLUMNS]
    return len(filled) * 4 >= len(body) * 3 and median(map(len, [*cells, *labels])) <= _SHORT and _stand_apart(filled)


def _is_contents(labels: Sequence[str], cells: Sequence[str], width: int) -> bool:
    """Return whether it is a table of contents: titles with growing page numbers."""
    numbers = [int(cell) for cell in cells if cell.isascii() and cell.isdigit() and len(cell) < 5]
    dotted = sum(label.rstrip().endswith((". .", "..", "…", "·")) for label in labels)
    grows = sum(one <= other for one, other in itertools.pairwise(numbers))
    return width == 2 and len(numbers) * 4 >= len(cells) * 3 and (dotted * 2 > len(labels) or grows >= len(numbers) - 1)


def _stand_apart(rows: Sequence[Sequence[Cell]]) -> bool:
    """Return whether most columns are left-aligned and hold figures or words of different lengths."""
    apart = 0
    width = len(rows[0])
    for column in range(width):
        cells = [row[column] for row in rows if row[column]]
        if len(cells) < MIN_ROWS:
            continue
        lefts = [cell[0].left for cell in cells]
        widths = [max(word.right for word in cell) - cell[0].left for cell in cells]
        same = sum(abs(left - median(lefts)) <= 2.0 for left in lefts)
        of_figures = sum(is_figure(to_text(cell)) for cell in cells) * 4 >= len(cells) * 3
        apart += same * 4 >= len(cells) * 3 and (of_figures or median(widths) < max(widths) * 0.85)
    return apart * 2 >= width
