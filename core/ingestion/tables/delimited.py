"""Tables in plain text, CSV and its relatives: what stands between cells, and each record with its place. Pure."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from core.domain.corpus import Span
from core.ingestion.tables.text import find_header

DELIMITERS = (",", ";", "\t", "|", ":")
# Characters at the front of a text from which its delimiter is told.
_SAMPLE = 65_536
# Records at the front from which the header is told.
MAX_HEADER_RECORDS = 100
# Lines one record may run over: more is a quote that nobody closed, and the lines are records of their own.
MAX_RECORD_LINES = 200


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it stands: `span` is its place in the text, without the line end."""

    span: Span
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delimited:
    """A table in plain text. `records` holds all that are not blank, the header and what stands above it included."""

    delimiter: str  # "" where the text is a list of lines
    records: tuple[Record, ...]
    header: int | None  # the index of the record that names the columns

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; none without a header."""
        return () if self.header is None else tuple(cell.strip() for cell in self.records[self.header].cells)

    @property
    def rows(self) -> tuple[Record, ...]:
        """The records under the header; all where there is none."""
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
    """What stands between the cells: what cuts the most records into the same number of two or more; "" if nothing."""
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
    """Records in text order. One that never ends is given up: its lines are records as they stand."""
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
