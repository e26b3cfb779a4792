"""Rows of cells to Markdown tables, the one form in which tables stand in the text of a page. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.ingestion.texts.encodings import clean
from core.texts import collapse

# Columns of a table that are read: no spreadsheet has more, and a file may claim any number.
MAX_COLUMNS = 16_384
# Rows at the front that are looked at to tell which one is the header, and the index it has at most.
_SAMPLE = 60
_LATEST_HEADER = 10

_NUMBER = re.compile(r"[-+−(]?\s?(?:[$€£¥]|[A-Z]{3}\s)?[-+−]?\d[\d.,' ]*(?:[eE][-+]?\d+)?\s?(?:%|[$€£¥]|[A-Z]{3})?\)?")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:[ T][\d:.]+Z?)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}:\d\d.*"
)
# What heads a column although it is a number: a year, a date, a quarter.
_PERIOD = re.compile(r"(?:FY\s?)?(?:19|20)\d\d(?:[-/]\d{2,4})?")
# What stands in a column of numbers where there is none.
_NO_VALUE = frozenset({"n/a", "na", "nan", "none", "null", "nil", "-", "–", "—", "?", "tbd"})


@dataclass(frozen=True, slots=True)
class Merge:
    """Cells shown as one: its first row and column in the table, both from 0, and how many it covers."""

    row: int
    column: int
    rows: int = 1
    columns: int = 1


def to_table(rows: Sequence[Sequence[str]], *, columns: Sequence[str] | None = None) -> str:
    """A Markdown table, a line a row; "" where no cell holds text. The first row is the header.

    `columns` is a header for rows that have none. White space in a cell is one space, a pipe is escaped; short rows
    are filled up; rows and columns without any text are left out.
    """
    grid = [[to_cell(cell) for cell in row[:MAX_COLUMNS]] for row in rows]
    kept = [place for place in range(_width(grid)) if any(place < len(row) and row[place] for row in grid)]
    if not kept:
        return ""
    lines = [[row[place] if place < len(row) else "" for place in kept] for row in grid if any(row)]
    if columns is not None:
        lines.insert(0, [to_cell(columns[place]) if place < len(columns) else "" for place in kept])
    rule = "| " + " | ".join(["---"] * len(kept)) + " |"
    written = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([written[0], rule, *written[1:]])


def to_cell(text: str) -> str:
    """The text of a cell as it stands in a table's line."""
    return collapse(clean(text)).replace("|", "\\|")


def fill_merged(rows: Sequence[Sequence[str]], merges: Sequence[Merge]) -> list[list[str]]:
    """The rows with what merged cells say in each place they cover, so that every row can be read alone.

    A cell over the whole width of one row, a title between rows, stays once.
    """
    grid = [list(row) for row in rows]
    width = _width(grid)
    for merge in merges:
        if not 0 <= merge.row < len(grid) or not 0 <= merge.column < len(grid[merge.row]):
            continue
        text = grid[merge.row][merge.column]
        if not text or (merge.rows == 1 and merge.columns >= width):
            continue
        for row in grid[merge.row : merge.row + merge.rows]:
            end = min(merge.column + merge.columns, width)
            row.extend([""] * (end - len(row)))
            row[merge.column : end] = [text] * (end - merge.column)
    return grid


def find_header(rows: Sequence[Sequence[str]]) -> int | None:
    """The index of the row that names the columns, None where there is none.

    It is the last row of words above the columns of numbers and dates, or the first row where no column is of those;
    periods (years, dates) count as names over what are none.
    """
    sample: list[list[str]] = [[cell.strip() for cell in row] for row in rows[:_SAMPLE]]
    if len(sample) < 2:
        return None
    columns = [place for place in range(_width(sample)) if _is_data_column(sample, place)]
    first = next((place for place, row in enumerate(sample) if _holds_data(row, columns)), 0)
    above = list(range(min(first, _LATEST_HEADER + 1) - 1, -1, -1))
    named = [place for place in above if all(_is_name(sample[place], column) for column in columns)]
    for place in [*named, *above, first]:
        row = sample[place]
        if sum(map(bool, row)) * 2 >= _width(sample) and (place < first or _names_all(row, sample[place + 1 :])):
            return place
    return None


def _is_name(row: Sequence[str], column: int) -> bool:
    return column < len(row) and bool(row[column]) and row[column].lower() not in _NO_VALUE


def _is_data_column(rows: Sequence[Sequence[str]], column: int) -> bool:
    filled = [row[column] for row in rows if column < len(row) and row[column]]
    return bool(filled) and sum(map(is_data, filled)) * 2 >= len(filled)


def _holds_data(row: Sequence[str], columns: Sequence[int]) -> bool:
    return any(column < len(row) and is_data(row[column]) for column in columns)


def _names_all(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row heads its columns although numbers may stand in it: they are periods, over what are none."""
    data = [column for column, cell in enumerate(row) if is_data(cell)]
    if not below or 0 in data or not all(_is_period(row[column]) for column in data):
        return False
    return not any(
        _is_period(other[column]) for column in data for other in below if column < len(other) and other[column]
    )


def _is_period(text: str) -> bool:
    return bool(_PERIOD.fullmatch(text) or _DATE.fullmatch(text))


def is_data(text: str) -> bool:
    """Whether a cell holds a number, an amount, a date or a time, rather than words."""
    return bool(_NUMBER.fullmatch(text) or _DATE.fullmatch(text))


def _width(rows: Sequence[Sequence[str]]) -> int:
    return min(max((len(row) for row in rows), default=0), MAX_COLUMNS)
