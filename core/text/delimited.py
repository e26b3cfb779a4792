"""Tables in plain text, CSV and similar formats: the delimiter, and each record with its place. Pure."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.domain.passages import Span

DELIMITERS = (",", ";", "\t", "|", ":")
# Characters at the beginning of a text from which the delimiter is found.
_SAMPLE = 65_536
# Records at the beginning from which the header is found.
MAX_HEADER_RECORDS = 100
# Lines of one record: with more, a quote wasn't closed, and the lines are separate records.
MAX_RECORD_LINES = 200
# Columns of a table that are read: no spreadsheet has more, and a file may claim any number.
MAX_COLUMNS = 16_384
# Rows at the front that are looked at to tell which one is the header, and the index it has at most.
_HEADER_SAMPLE = 60
_LATEST_HEADER = 10

_NUMBER = re.compile(r"[-+−(]?\s?(?:[$€£¥]|[A-Z]{3}\s)?[-+−]?\d[\d.,' ]*(?:[eE][-+]?\d+)?\s?(?:%|[$€£¥]|[A-Z]{3})?\)?")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:[ T][\d:.]+Z?)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}:\d\d.*"
)
# Numbers that name columns: a year, a date, a quarter.
_PERIOD = re.compile(r"(?:FY\s?)?(?:19|20)\d\d(?:[-/]\d{2,4})?")
# Empty values in a column of numbers.
_NO_VALUE = frozenset({"n/a", "na", "nan", "none", "null", "nil", "-", "–", "—", "?", "tbd"})


@dataclass(frozen=True, slots=True)
class Record:
    """A record and its place in the text, without the line end."""

    span: Span
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delimited:
    """A table in plain text. `records` are all that aren't blank, the header and lines above it included."""

    delimiter: str  # "" where the text is a list of lines
    records: tuple[Record, ...]
    header: int | None  # the index of the record that names the columns

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; none without a header."""
        return () if self.header is None else tuple(cell.strip() for cell in self.records[self.header].cells)

    @property
    def rows(self) -> tuple[Record, ...]:
        """The records under the header; all of them without a header."""
        return self.records if self.header is None else self.records[self.header + 1 :]


def read_delimited(text: str, *, start: int = 0) -> Delimited:
    """The table that `text`, whose lines end with line feeds, holds; spans count from `start`."""
    delimiter = find_delimiter(text[:_SAMPLE])
    records = tuple(
        Record(Span(start + record.span.start, start + record.span.end), record.cells)
        for record in _records(text, delimiter)
        if any(cell.strip() for cell in record.cells)
    )
    header = find_header([record.cells for record in records[:MAX_HEADER_RECORDS]]) if delimiter else None
    return Delimited(delimiter=delimiter, records=records, header=header)


def find_delimiter(sample: str) -> str:
    """Return the sign that cuts the most records into the same number of cells, at least two; "" if none does."""
    fits = {delimiter: _fit(sample, delimiter) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: fits[delimiter])
    return best if fits[best][1] else ""


def _fit(sample: str, delimiter: str) -> tuple[float, int]:
    """(share of records with the most frequent width, that width); (0, 0) where most are not cut at all."""
    widths = Counter(len(record.cells) for record in _records(sample, delimiter) if any(record.cells))
    if not widths:
        return 0, 0
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
    return (count / widths.total(), width) if width > 1 else (0, 0)


def _records(text: str, delimiter: str) -> Iterator[Record]:
    """Yield records in text order. An unclosed record is given up: its lines become records."""
    lines = io.StringIO(text).readlines()
    place = index = 0
    while index < len(lines):
        taken, cells = _record(lines, index, delimiter)
        length = sum(map(len, lines[index : index + taken]))
        yield Record(Span(place, place + len(text[place : place + length].rstrip("\n"))), cells)
        place += length
        index += taken


def _record(lines: list[str], index: int, delimiter: str) -> tuple[int, tuple[str, ...]]:
    """How many lines the record at `index` takes, and its cells."""
    line = lines[index].rstrip("\n")
    if not delimiter:
        return 1, (line,)
    if '"' not in line:
        return 1, tuple(line.split(delimiter))
    try:
        reader = csv.reader(lines[index : index + MAX_RECORD_LINES], delimiter=delimiter, strict=True)
        cells = tuple(next(reader))
    except (csv.Error, StopIteration):
        return 1, tuple(line.split(delimiter))
    return reader.line_num, cells


def find_header(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the index of the row with the column names, or None.

    It is the last row of words above the columns of numbers and dates, or the first row if there is no such column.
    Periods (years, dates) count as names above other values.
    """
    sample: list[list[str]] = [[cell.strip() for cell in row] for row in rows[:_HEADER_SAMPLE]]
    if len(sample) < 2:
        return None
    columns = [place for place in range(width_of(sample)) if _is_data_column(sample, place)]
    first = next((place for place, row in enumerate(sample) if _holds_data(row, columns)), 0)
    above = list(range(min(first, _LATEST_HEADER + 1) - 1, -1, -1))
    named = [place for place in above if all(_is_name(sample[place], column) for column in columns)]
    for place in [*named, *above, first]:
        row = sample[place]
        if sum(map(bool, row)) * 2 >= width_of(sample) and (place < first or _names_all(row, sample[place + 1 :])):
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
    """Return whether a row of periods heads its columns, which hold no periods."""
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


def width_of(rows: Sequence[Sequence[str]]) -> int:
    return min(max((len(row) for row in rows), default=0), MAX_COLUMNS)
