"""Results over a column of a table: the highest, lowest, sum or average, with the rows and cells behind them. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from core.knowledge.facts.table_grids import DATE, NUMBER, Grid, is_one_unit
from core.knowledge.facts.table_words import Operation

MOST_ADDED = 6  # numbers that a sum spells out


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    text: str  # one line, shown above its rows
    rows: tuple[int, ...]  # that it rests on
    covered: int  # words of the question that the table itself has
    is_exact: bool = True  # not only a part of a row's label is in the question

    @property
    def figure(self) -> str:
        """The result without its formula."""
        return self.text.partition(" (")[0].strip("$€£ ()")


def calculate(
    operation: Operation, grid: Grid, column: int, chosen: Sequence[int], *, called: str = "", most: int = 1
) -> Computed | None:
    """Compute the highest, lowest, sum or average of a column over some rows; None if some cells can't be compared.

    `called` is the word for the highest or lowest, `most` how many of them are meant.
    """
    numbers = {row: number for row in chosen if (number := grid.numbers[row][column]) is not None}
    if not is_comparable(grid, column, chosen):
        return None
    charges = all(number.is_charge or number.value == 0 for number in numbers.values())
    values = {row: abs(number.value) if charges else number.value for row, number in numbers.items()}
    name, cells = grid.columns[column].strip(), [grid.rows[row][column].strip() for row in numbers]
    if operation in (Operation.SUM, Operation.AVERAGE):
        if next(iter(numbers.values())).unit == DATE:
            return None
        added = " + ".join(cells) if len(cells) <= MOST_ADDED else f"all {len(cells)} rows"
        total, digits = fsum(values.values()), count_digits(cells)
        if operation is Operation.SUM:
            said = f"{with_unit(f'{total:,.{digits}f}', cells[0])} ({name}, sum{title_phrase(grid)}: {added})"
        else:
            mean = with_unit(f"{total / len(cells):,.{digits + 2}f}", cells[0])
            said = f"{mean} ({name}, average{title_phrase(grid)}: {added}, divided by {len(cells)})"
        return Computed(text=said, rows=tuple(numbers), covered=0)
    if len(values) < 2 <= len(grid.rows):
        return None  # nothing to compare
    ordered = sorted(values, key=lambda row: values[row], reverse=operation is Operation.HIGHEST)
    limit = values[ordered[min(most, len(ordered)) - 1]]
    is_high = operation is Operation.HIGHEST
    rows = tuple(row for row in ordered if (values[row] >= limit if is_high else values[row] <= limit))
    if most > 1:
        said = f"{list_rows(grid, rows, column)}, in the order of {name}"
    else:
        labels = ", ".join(map(grid.label_of, rows))
        cell = grid.rows[rows[0]][column].strip()
        said = f"{labels} ({name} {cell}, the {called or operation.value} of {len(values)}{title_phrase(grid)})"
    return Computed(text=said, rows=rows if most > 1 else tuple(sorted(rows)), covered=0)


def list_rows(grid: Grid, rows: Sequence[int], column: int | None) -> str:
    """Return the labels of rows, with the cells that were compared."""
    cells = [f" ({grid.rows[row][column].strip()})" if column is not None else "" for row in rows]
    return ", ".join(f"{grid.label_of(row)}{cell}" for row, cell in zip(rows, cells, strict=True)) + title_phrase(grid)


def is_comparable(grid: Grid, column: int, rows: Sequence[int]) -> bool:
    """Return whether all filled cells of a column are numbers of one unit."""
    filled = [row for row in rows if grid.rows[row][column].strip(" -–—*")]
    numbers = [grid.numbers[row][column] for row in filled]
    return bool(numbers) and None not in numbers and is_one_unit(number.unit for number in numbers if number)


def grid_value(grid: Grid, row: int, column: int) -> float:
    number = grid.numbers[row][column]
    return number.value if number is not None else 0.0


def count_digits(cells: Sequence[str]) -> int:
    figures = [found["digits"] for cell in cells if (found := NUMBER.fullmatch(cell)) is not None]
    return max((len(figure.partition(".")[2]) for figure in figures), default=0)


def with_unit(value: str, like: str) -> str:
    """Return a value with the unit that a cell has around its figure."""
    found: Mapping[str, str] | re.Match[str] | None = NUMBER.fullmatch(like)
    if found is None:
        return value
    after = found["after"].strip(" )")
    return f"{found['before']}{value}{f' {after}' if after and after != '%' else after}"


def title_phrase(grid: Grid) -> str:
    return f" in “{grid.title}”" if grid.title else ""
