"""Markdown tables in the text of a page, cell by cell, each row with its place. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.domain.passages import Span
from core.text.words import placed_lines

# Characters of a line that may be a row: a longer one is no row that anybody wrote.
MAX_LINE = 200_000

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_QUOTED = re.compile(r"(?:[ \t]*>)*[ \t]*")
_RULE_CELL = re.compile(r":?-+:?")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table in a text; all rows have as many cells as there are columns."""

    span: Span  # from the header's first character to the last row's last
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    row_spans: tuple[Span, ...]
    caption: str = ""  # the line right above it, if known


@dataclass(frozen=True, slots=True)
class _Line:
    text: str  # without quote marks and white space at its ends
    start: int
    is_code: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_row(self) -> bool:
        return "|" in self.text and not self.is_code and len(self.text) <= MAX_LINE


def read_pipe_tables(text: str) -> list[TextTable]:
    """The tables in text order; none inside of fenced code."""
    lines = list(_lines(text))
    tables = []
    place = 0
    while place + 1 < len(lines):
        columns = _columns(lines[place], lines[place + 1])
        if not columns:
            place += 1
            continue
        end = place + 2
        while end < len(lines) and lines[end].is_row:
            end += 1
        tables.append(_to_table(columns, lines[place], lines[place + 1], lines[place + 2 : end]))
        place = end
    return tables


def to_cells(row: str) -> list[str]:
    """The cells of a table's line as they are meant: pipes without their backslash, no white space at the ends."""
    row = row.strip()
    cells = [""]
    place = 1 if row.startswith("|") else 0
    while place < len(row):
        if row.startswith("\\|", place):
            cells[-1] += "|"
            place += 2
        elif row[place] == "|":
            cells.append("")
            place += 1
        else:
            following = min((at for at in (row.find("|", place), row.find("\\|", place)) if at >= 0), default=len(row))
            cells[-1] += row[place:following]
            place = following
    if row.endswith("|") and not row.endswith("\\|") and len(cells) > 1:
        cells.pop()
    return [cell.strip() for cell in cells]


def fit(cells: Sequence[str], width: int) -> tuple[str, ...]:
    """The cells, filled up to a width."""
    return (*cells, *[""] * (width - len(cells)))


def _lines(text: str) -> Iterator[_Line]:
    fence = ""
    for start, line in placed_lines(text):
        mark = _FENCE.match(line)
        is_code = bool(fence)
        if mark and not fence:
            fence, is_code = mark.group(1), True
        elif mark and mark.group(1).startswith(fence) and not line.strip(" `~"):
            fence = ""
        quoted = _QUOTED.match(line)
        lead = quoted.end() if quoted else 0
        yield _Line(line[lead:].rstrip(), start + lead, is_code)


def _columns(header: _Line, rule: _Line) -> list[str]:
    """The names of the columns where a table begins at these two lines, else none."""
    if not header.is_row or not rule.is_row or not rule.text.startswith(("|", ":", "-")):
        return []
    rules = to_cells(rule.text)
    if not all(map(_RULE_CELL.fullmatch, rules)):
        return []
    columns = to_cells(header.text)
    return columns if len(columns) == len(rules) else []


def _to_table(columns: list[str], header: _Line, rule: _Line, lines: Sequence[_Line]) -> TextTable:
    rows = [to_cells(line.text) for line in lines]
    width = max([len(columns), *map(len, rows)])  # a cell too many in a row is one all the same
    return TextTable(
        span=Span(header.start, (lines[-1] if lines else rule).end),
        columns=fit(columns, width),
        rows=tuple(fit(row, width) for row in rows),
        row_spans=tuple(Span(line.start, line.end) for line in lines),
    )
