"""Grids that level and upright lines make on a page, and the cells in them that are merged. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from storage.documents.pdf.layout import Rule
from storage.documents.tables.text import Merge

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

    columns: tuple[float, ...]  # where upright lines stand, from left to right
    rows: tuple[float, ...]  # where level lines stand, from top to bottom
    level: tuple[Rule, ...]
    upright: tuple[Rule, ...]


def join_rules(rules: Iterable[Rule]) -> list[Rule]:
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


def find_grids(level: Sequence[Rule], upright: Sequence[Rule]) -> list[Grid]:
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


def _to_grid(level: list[Rule], upright: list[Rule]) -> Grid:
    """With a line at each side that is open: as far as the lines across go."""
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
    """Whether lines at this place go over enough of the table to part columns, rather than shade some cells."""
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
            places = covered(merge)
            if len(places) > 1 and not taken.intersection(places):
                merges.append(merge)
                taken.update(places)
    return merges


def _is_parted(grid: Grid, row: int, column: int) -> bool:
    middle = (grid.rows[row] + grid.rows[row + 1]) / 2
    return _is_drawn(grid.upright, grid.columns[column], middle)


def _is_underlined(grid: Grid, row: int, column: int) -> bool:
    middle = (grid.columns[column] + grid.columns[column + 1]) / 2
    return _is_drawn(grid.level, grid.rows[row], middle)


def _is_drawn(rules: Sequence[Rule], at: float, place: float) -> bool:
    return any(abs(rule.at - at) <= SNAP and rule.start - 0.1 <= place <= rule.end + 0.1 for rule in rules)
