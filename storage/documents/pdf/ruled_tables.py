"""Tables with lines around their cells. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from storage.documents.pdf.layout import Cell, FoundTable, Layout, Rule, Word, is_figure, to_lines, to_text
from storage.documents.tables.text import Merge, fill_merged

# Points: lines closer than the first are one; ends closer than the second touch.
SNAP = 2.5
REACH = 4.0
# Points by which lines go beyond the outermost line across them where a table is open at its sides.
_OPEN = 12.0
# Rows and columns of one grid: more are a map or hatching.
MAX_LINES = 400
MAX_CELLS = 8_000
# Share of a table's height over which lines part columns.
_PARTING = 0.3


@dataclass(frozen=True, slots=True)
class Grid:
    """Level and upright lines that hang together."""

    columns: tuple[float, ...]  # positions of vertical lines, from left to right
    rows: tuple[float, ...]  # positions of horizontal lines, from top to bottom
    level: tuple[Rule, ...]
    upright: tuple[Rule, ...]


def join_rules(rules: Iterable[Rule]) -> list[Rule]:
    """Join touching lines at one place."""
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


def find_grids(level: Sequence[Rule], upright: Sequence[Rule]) -> list[Grid]:
    """Return groups of lines that cross each other, directly or through others."""
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
            if one.start - REACH <= other.at <= one.end + REACH and other.start - REACH <= one.at <= other.end + REACH:
                group[root(row)] = root(column)
    members: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for place in range(len(group)):
        lines = members.setdefault(root(place), ([], []))
        lines[0 if place < len(level) else 1].append(
            level[place] if place < len(level) else upright[place - len(level)]
        )
    return [_to_grid(*lines) for lines in members.values() if len(lines[0]) > 1 and len(lines[1]) > 0]


def _to_grid(level: list[Rule], upright: list[Rule]) -> Grid:
    """Add a line at each open side, at the ends of the lines across."""
    bottom, top = min(rule.at for rule in level), max(rule.at for rule in level)
    for side in (min(rule.start for rule in level), max(rule.end for rule in level)):
        if all(abs(rule.at - side) > _OPEN for rule in upright):
            upright = [*upright, Rule(side, bottom, top)]
    upright = [rule for rule in upright if _reaches(rule, upright, top - bottom)]
    left, right = min(rule.at for rule in upright), max(rule.at for rule in upright)
    for side in (min(rule.start for rule in upright), max(rule.end for rule in upright)):
        if all(abs(rule.at - side) > _OPEN for rule in level):
            level = [*level, Rule(side, left, right)]
    return Grid(
        _places(rule.at for rule in upright), _places(rule.at for rule in level)[::-1], tuple(level), tuple(upright)
    )


def _reaches(rule: Rule, rules: Sequence[Rule], height: float) -> bool:
    """Return whether lines at this place are long enough to separate columns, not only to shade cells."""
    return sum(other.end - other.start for other in rules if abs(other.at - rule.at) <= SNAP) >= height * _PARTING


def _places(values: Iterable[float]) -> tuple[float, ...]:
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > SNAP:
            places.append(value)
    return tuple(places)


def covered(merge: Merge) -> list[tuple[int, int]]:
    return [
        (row, column)
        for row in range(merge.row, merge.row + merge.rows)
        for column in range(merge.column, merge.column + merge.columns)
    ]


def find_merges(grid: Grid) -> list[Merge]:
    """Return cells of the grid without a line between them."""
    height, width = len(grid.rows) - 1, len(grid.columns) - 1
    taken: set[tuple[int, int]] = set()
    merges = []
    centres = [(left + right) / 2 for left, right in pairwise(grid.columns)]
    for row in range(height):
        middle = (grid.rows[row] + grid.rows[row + 1]) / 2
        for column in range(width):
            if (row, column) in taken:
                continue
            columns, rows = 1, 1
            while column + columns < width and not _is_drawn(grid.upright, grid.columns[column + columns], middle):
                columns += 1
            while row + rows < height and all(
                not _is_drawn(grid.level, grid.rows[row + rows], centre)
                for centre in centres[column : column + columns]
            ):
                rows += 1
            merge = Merge(row, column, rows, columns)
            places = covered(merge)
            if len(places) > 1 and not taken.intersection(places):
                merges.append(merge)
                taken.update(places)
    return merges


def _is_drawn(rules: Sequence[Rule], at: float, place: float) -> bool:
    return any(abs(rule.at - at) <= SNAP and rule.start - 0.1 <= place <= rule.end + 0.1 for rule in rules)


# Share of a table's cells that hold text: fewer are a form's boxes or a drawing.
_FILLED = 0.25
# Share of them that hold text of their own, not of a merged cell.
_OWN = 0.2
# Words of one cell, and their share of a table's, from which that cell is a text in a frame.
_TEXT_WORDS = 60
_TEXT_SHARE = 0.6
# Gaps within a cell, in heights of a line, and the share of cells with such, from which it is several cells.
_APART_GAP = 1.2
_APART_SHARE = 0.25
# Share of a table's rows that share their label's cell with others, or lack one, from which lines don't part its rows.
_HIDDEN = 0.2
# Rows at the front that may be its header.
_MAX_HEADER = 6


def find_ruled_tables(layout: Layout) -> list[FoundTable]:
    """Return the ruled tables of a page from top to bottom: two columns and two rows at least, with words in them."""
    tables = []
    for grid in find_grids(join_rules(layout.level), join_rules(layout.upright)):
        table = _to_table(grid, layout.words)
        if table is not None:
            tables.append(table)
    return sorted(tables, key=lambda table: (-table.top, table.edges[0]))


def _to_table(grid: Grid, words: Sequence[Word]) -> FoundTable | None:
    height, width = len(grid.rows) - 1, len(grid.columns) - 1
    if width < 2 or height < 1 or height * width > MAX_CELLS:
        return None
    cells: dict[tuple[int, int], list[Word]] = {}
    kept = [merge for merge in find_merges(grid) if not _is_row(merge, grid, words)]
    merges = {place: merge for merge in kept for place in covered(merge)}
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
    hides_rows = _hides_rows(rows, kept)
    table = _checked(*_split(rows, set(merges.values())), grid, inside)
    return replace(table, is_doubtful=table.is_doubtful or hides_rows) if table is not None else None


_YEAR = re.compile(r"(?:FY ?|CY ?)?(?:19|20)\d\d(?:[-–/]\d{2,4})?")
_Rows = list[list[Cell]]


def _is_row(merge: Merge, grid: Grid, words: Sequence[Word]) -> bool:
    """Return whether a cell as wide as its table is a row without lines: its words have gaps at the columns."""
    if merge.rows > 1 or merge.columns < max(len(grid.columns) - 1, 3):
        return False
    top, bottom = grid.rows[merge.row], grid.rows[merge.row + 1]
    inside = [
        word for word in words if top >= word.middle > bottom and grid.columns[0] <= word.centre < grid.columns[-1]
    ]
    breaks = 0
    for line in to_lines(inside):
        for one, other in pairwise(line):
            parted = any(one.centre < column <= other.centre for column in grid.columns[1:-1])
            breaks += parted and other.left - one.right >= _APART_GAP * one.height / 2
    return breaks >= 2


def _split(rows: _Rows, merges: set[Merge]) -> tuple[_Rows, list[Merge]]:
    """Split rows without lines between them, which show as several figures in one cell."""
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
        figures += len(texts) > 1 and sum(map(is_figure, texts)) * 2 >= len(lines)
    return figures >= 2 or (figures == 1 and len([cell for cell in row if cell]) == 2)


def _checked(rows: _Rows, merges: Sequence[Merge], grid: Grid, words: Sequence[Word]) -> FoundTable | None:
    texts = fill_merged([[to_text(cell) for cell in row] for row in rows], merges)
    kept = [place for place in range(len(grid.columns) - 1) if any(row[place] for row in texts)]
    filled = [place for place, row in enumerate(texts) if any(row)]
    if len(kept) < 2 or len(filled) < 2:
        return None
    if sum(bool(texts[row][column]) for row in filled for column in kept) < len(filled) * len(kept) * _FILLED:
        return None
    if sum(bool(rows[row][column]) for row in filled for column in kept) < max(
        len(filled), 4, len(filled) * len(kept) * _OWN
    ):
        return None
    longest = max(len(cell) for row in rows for cell in row)
    if longest > _TEXT_WORDS and longest > len(words) * _TEXT_SHARE:  # prose
        return None
    head = _header_rows([texts[place] for place in filled])
    names = tuple(" ".join(_distinct(texts[row][column] for row in filled[:head])) for column in kept)
    return FoundTable(
        header=names,
        rows=tuple(tuple(rows[row][column] for column in kept) for row in filled[head:]),
        texts=tuple(tuple(texts[row][column] for column in kept) for row in filled[head:]),
        words=tuple(words),
        edges=(*(grid.columns[place] for place in kept), grid.columns[kept[-1] + 1]),
        is_ruled=True,
        is_doubtful=_hides_columns(rows) or _shades_columns(grid) or _has_loose_figures(rows),
    )


def _has_loose_figures(rows: _Rows) -> bool:
    """Return whether figures are in rows without labels: lines part them from the rows that they belong to."""
    filled = [[place for place, cell in enumerate(row) if cell] for row in rows]
    loose = sum(
        len(places) == 1 and places[0] > 0 and is_figure(to_text(row[places[0]]))
        for row, places in zip(rows, filled, strict=True)
    )
    return loose > sum(map(bool, filled)) * _HIDDEN


def _hides_rows(rows: _Rows, merges: Sequence[Merge]) -> bool:
    """Return whether cells over several rows hold a label for each: only the figures have lines."""
    hidden = 0
    for merge in merges:
        beside = rows[merge.row : merge.row + merge.rows]
        figures = sum(any(cell and is_figure(to_text(cell)) for cell in row[merge.column + 1 :]) for row in beside)
        lines = len(to_lines(rows[merge.row][merge.column]))
        if figures > 1 and figures * 3 >= merge.rows * 2 and lines >= merge.rows:  # some are headings
            hidden += merge.rows
    return hidden > len(rows) * _HIDDEN


def _shades_columns(grid: Grid) -> bool:
    """Return whether the lines between rows cross less than half of the columns: sides of boxes that shade them."""
    centres = [(left + right) / 2 for left, right in pairwise(grid.columns)]
    inner = grid.rows[1:-1]
    drawn = sum(_is_drawn(grid.level, row, centre) for row in inner for centre in centres)
    return len(inner) > 1 and drawn * 2 < len(inner) * len(centres)


def _hides_columns(rows: _Rows) -> bool:
    """Return whether cells hold distant pieces: lines separate only some of the columns."""
    filled = apart = 0
    for row in rows:
        for cell in row:
            if cell:
                filled += 1
                apart += any(_is_apart(line) for line in to_lines(cell))
    return apart > filled * _APART_SHARE


def _is_apart(line: Sequence[Word]) -> bool:
    gaps = [(after.left - before.right) / before.height for before, after in pairwise(line)]
    figures = [is_figure(word.text) for word in line]
    several = any(one and other for one, other in pairwise(figures))
    return bool(gaps) and (max(gaps) >= _APART_GAP or (several and max(gaps) >= _APART_GAP / 3))


def _distinct(texts: Iterable[str]) -> list[str]:
    found: list[str] = []
    for text in texts:
        if text and (not found or found[-1] != text):
            found.append(text)
    return found


def _header_rows(texts: Sequence[Sequence[str]]) -> int:
    """Count the rows at the front that name the columns: up to the first that names each, before data."""
    count = 0
    for row in texts[: min(_MAX_HEADER, len(texts) - 1)]:
        figures = [text for text in row[1:] if text and is_figure(text)]
        if figures and not all(_is_year(text) for text in figures):
            break
        count += 1
        if all(row[1:]) and all(one != other for one, other in pairwise(row)):
            break
    return max(count, 1) if not texts or not any(is_figure(text) and not _is_year(text) for text in texts[0]) else 0


def _is_year(text: str) -> bool:
    return bool(_YEAR.fullmatch(text))
