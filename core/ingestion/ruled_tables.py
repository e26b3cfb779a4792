"""Tables by the lines drawn around their cells. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.ingestion.page_tables import Cell, FoundTable, to_lines, to_text
from core.ingestion.pdf_layout import Layout, Rule, Word
from core.ingestion.table_text import Merge, fill_merged, is_data

# Points: lines closer than the first are one; ends closer than the second touch.
SNAP = 2.5
REACH = 4.0
# Points by which lines go beyond the outermost line across them where a table is open at its sides.
_OPEN = 12.0
# Rows and columns of one grid: more are a map or hatching.
MAX_LINES = 400
MAX_CELLS = 20_000
# Share of a table's cells that hold text: fewer are a form's boxes or a drawing.
_FILLED = 0.25
# Words of one cell, and their share of a table's, from which that cell is a text in a frame.
_TEXT_WORDS = 60
_TEXT_SHARE = 0.6
# Gaps within a cell, in heights of a line, and the share of cells with such, from which it is several cells.
_APART_GAP = 1.2
_APART_SHARE = 0.25
# Rows at the front that may be its header.
_MAX_HEADER = 6


@dataclass(frozen=True, slots=True)
class _Grid:
    columns: tuple[float, ...]  # where upright lines stand, from left to right
    rows: tuple[float, ...]  # where level lines stand, from top to bottom
    level: tuple[Rule, ...]
    upright: tuple[Rule, ...]


def find_ruled_tables(layout: Layout) -> list[FoundTable]:
    """The ruled tables of a page from top to bottom: at least two columns and two rows, with words in them."""
    tables = []
    for grid in _grids(_joined(layout.level), _joined(layout.upright)):
        table = _to_table(grid, layout.words)
        if table is not None:
            tables.append(table)
    return sorted(tables, key=lambda table: (-table.top, table.edges[0]))


def _joined(rules: Iterable[Rule]) -> list[Rule]:
    """Lines in one place as one line, as far as their pieces touch."""
    groups: list[list[Rule]] = []
    for rule in sorted(rules, key=lambda rule: rule.at):
        if groups and rule.at - groups[-1][-1].at <= SNAP / 2 and rule.at - groups[-1][0].at <= SNAP:
            groups[-1].append(rule)
        else:
            groups.append([rule])
    joined = []
    for group in groups:
        at = sum(rule.at for rule in group) / len(group)
        runs: list[list[float]] = []
        for rule in sorted(group, key=lambda rule: rule.start):
            if runs and rule.start <= runs[-1][1] + REACH:
                runs[-1][1] = max(runs[-1][1], rule.end)
            else:
                runs.append([rule.start, rule.end])
        joined += [Rule(at, start, end) for start, end in runs]
    return joined


def _grids(level: Sequence[Rule], upright: Sequence[Rule]) -> list[_Grid]:
    """Lines that cross each other, directly or through others."""
    if len(level) > MAX_LINES or len(upright) > MAX_LINES:
        return []
    group = list(range(len(level) + len(upright)))

    def root(place: int) -> int:
        while group[place] != place:
            group[place] = group[group[place]]
            place = group[place]
        return place

    for row, one in enumerate(level):
        for column, other in enumerate(upright, len(level)):
            if _cross(one, other):
                group[root(row)] = root(column)
    members: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for place in range(len(group)):
        lines = members.setdefault(root(place), ([], []))
        lines[0 if place < len(level) else 1].append(
            level[place] if place < len(level) else upright[place - len(level)]
        )
    return [_to_grid(*lines) for lines in members.values() if len(lines[0]) > 1 and len(lines[1]) > 0]


def _cross(level: Rule, upright: Rule) -> bool:
    return (
        level.start - REACH <= upright.at <= level.end + REACH
        and upright.start - REACH <= level.at <= upright.end + REACH
    )


def _to_grid(level: list[Rule], upright: list[Rule]) -> _Grid:
    """With a line at each side that is open: as far as the lines across go."""
    bottom, top = min(rule.at for rule in level), max(rule.at for rule in level)
    for side in (min(rule.start for rule in level), max(rule.end for rule in level)):
        if all(abs(rule.at - side) > _OPEN for rule in upright):
            upright = [*upright, Rule(side, bottom, top)]
    left, right = min(rule.at for rule in upright), max(rule.at for rule in upright)
    for side in (min(rule.start for rule in upright), max(rule.end for rule in upright)):
        if all(abs(rule.at - side) > _OPEN for rule in level):
            level = [*level, Rule(side, left, right)]
    return _Grid(
        _places(rule.at for rule in upright), _places(rule.at for rule in level)[::-1], tuple(level), tuple(upright)
    )


def _places(values: Iterable[float]) -> tuple[float, ...]:
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > SNAP:
            places.append(value)
    return tuple(places)


def _to_table(grid: _Grid, words: Sequence[Word]) -> FoundTable | None:
    height, width = len(grid.rows) - 1, len(grid.columns) - 1
    if width < 2 or height < 1 or height * width > MAX_CELLS:
        return None
    cells: dict[tuple[int, int], list[Word]] = {}
    merges = {merge_place: merge for merge in _merges(grid) for merge_place in _covered(merge)}
    inside = []
    for word in words:
        row = next((row for row in range(height) if grid.rows[row] >= word.middle > grid.rows[row + 1]), None)
        column = next(
            (place for place in range(width) if grid.columns[place] <= word.centre < grid.columns[place + 1]), None
        )
        if row is None or column is None:
            continue
        merge = merges.get((row, column))
        cells.setdefault((merge.row, merge.column) if merge else (row, column), []).append(word)
        inside.append(word)
    rows = [[tuple(cells.get((row, column), ())) for column in range(width)] for row in range(height)]
    return _checked(*_split(rows, set(merges.values())), grid, inside)


def _covered(merge: Merge) -> list[tuple[int, int]]:
    return [
        (row, column)
        for row in range(merge.row, merge.row + merge.rows)
        for column in range(merge.column, merge.column + merge.columns)
    ]


def _merges(grid: _Grid) -> list[Merge]:
    """Cells of the grid with no line between them."""
    height, width = len(grid.rows) - 1, len(grid.columns) - 1
    taken: set[tuple[int, int]] = set()
    merges = []
    for row in range(height):
        for column in range(width):
            if (row, column) in taken:
                continue
            columns, rows = 1, 1
            while column + columns < width and not _is_parted(grid, row, column + columns):
                columns += 1
            while row + rows < height and all(
                not _is_underlined(grid, row + rows, place) for place in range(column, column + columns)
            ):
                rows += 1
            merge = Merge(row, column, rows, columns)
            covered = _covered(merge)
            if len(covered) > 1 and not taken.intersection(covered):
                merges.append(merge)
                taken.update(covered)
    return merges


def _is_parted(grid: _Grid, row: int, column: int) -> bool:
    middle = (grid.rows[row] + grid.rows[row + 1]) / 2
    return _is_drawn(grid.upright, grid.columns[column], middle)


def _is_underlined(grid: _Grid, row: int, column: int) -> bool:
    middle = (grid.columns[column] + grid.columns[column + 1]) / 2
    return _is_drawn(grid.level, grid.rows[row], middle)


def _is_drawn(rules: Sequence[Rule], at: float, place: float) -> bool:
    return any(abs(rule.at - at) <= SNAP and rule.start - 0.1 <= place <= rule.end + 0.1 for rule in rules)


_Rows = list[list[Cell]]


def _split(rows: _Rows, merges: set[Merge]) -> tuple[_Rows, list[Merge]]:
    """Rows without lines between them, which show as several figures in one cell, as rows of their own."""
    split: _Rows = []
    places: dict[int, int] = {}
    is_split = set()
    for number, row in enumerate(rows):
        places[number] = len(split)
        lines = to_lines(word for cell in row for word in cell)
        if _is_several(row, lines):
            is_split.add(number)
            for line in lines:
                members = set(line)
                split.append([tuple(word for word in cell if word in members) for cell in row])
        else:
            split.append(row)
    kept = [
        Merge(places[merge.row], merge.column, merge.rows, merge.columns)
        for merge in merges
        if not is_split.intersection(range(merge.row, merge.row + merge.rows))
    ]
    return split, kept


def _is_several(row: Sequence[Cell], lines: Sequence[Sequence[Word]]) -> bool:
    if len(lines) < 2:
        return False
    figures = 0
    for cell in row:
        texts = [to_text(line) for line in to_lines(cell)]
        figures += len(texts) > 1 and sum(map(is_data, texts)) * 5 >= len(lines) * 4
    return figures >= 2 or (figures == 1 and len([cell for cell in row if cell]) == 2)


def _checked(rows: _Rows, merges: Sequence[Merge], grid: _Grid, words: Sequence[Word]) -> FoundTable | None:
    texts = fill_merged([[to_text(cell) for cell in row] for row in rows], merges)
    kept = [place for place in range(len(grid.columns) - 1) if any(row[place] for row in texts)]
    filled = [place for place, row in enumerate(texts) if any(row)]
    if len(kept) < 2 or len(filled) < 2:
        return None
    if sum(bool(texts[row][column]) for row in filled for column in kept) < len(filled) * len(kept) * _FILLED:
        return None
    if sum(bool(rows[row][column]) for row in filled for column in kept) < max(len(filled), 4):
        return None
    if _is_prose(rows, words) or _hides_columns(rows):
        return None
    head = _header_rows([texts[place] for place in filled], [rows[place] for place in filled])
    names = tuple(" ".join(_distinct(texts[row][column] for row in filled[:head])) for column in kept)
    return FoundTable(
        header=names,
        rows=tuple(tuple(rows[row][column] for column in kept) for row in filled[head:]),
        texts=tuple(tuple(texts[row][column] for column in kept) for row in filled[head:]),
        words=tuple(words),
        edges=(*(grid.columns[place] for place in kept), grid.columns[kept[-1] + 1]),
        is_ruled=True,
    )


def _is_prose(rows: _Rows, words: Sequence[Word]) -> bool:
    """Whether most of what the lines frame is one text: a box on a page, no table."""
    longest = max(len(cell) for row in rows for cell in row)
    return longest > _TEXT_WORDS and longest > len(words) * _TEXT_SHARE


def _hides_columns(rows: _Rows) -> bool:
    """Whether cells hold several pieces far apart: lines part some columns only, the others are told by their places."""
    filled = apart = 0
    for row in rows:
        for cell in row:
            if cell:
                filled += 1
                apart += any(_is_apart(line) for line in to_lines(cell))
    return apart > filled * _APART_SHARE


def _is_apart(line: Sequence[Word]) -> bool:
    gaps = [(after.left - before.right) / before.height for before, after in pairwise(line)]
    figures = [is_data(word.text) for word in line]
    several = any(one and other for one, other in pairwise(figures))
    return bool(gaps) and (max(gaps) >= _APART_GAP or (several and max(gaps) >= _APART_GAP / 3))


def _distinct(texts: Iterable[str]) -> list[str]:
    found: list[str] = []
    for text in texts:
        if text and (not found or found[-1] != text):
            found.append(text)
    return found


def _header_rows(texts: Sequence[Sequence[str]], rows: _Rows) -> int:
    """How many rows at the front name the columns: those up to the first that names each, before data."""
    count = 0
    for row in texts[: min(_MAX_HEADER, len(texts) - 1)]:
        figures = [text for text in row[1:] if text and is_data(text)]
        if figures and not all(_is_year(text) for text in figures):
            break
        count += 1
        if all(row[1:]) and len(set(row)) > len(row) / 2:
            break
    return max(count, 1) if not texts or not any(is_data(text) and not _is_year(text) for text in texts[0]) else 0


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdigit() and text[:2] in ("19", "20")
