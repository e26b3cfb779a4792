"""Tables in plain text: drawn with signs, parted by tabs, or in columns of blanks; each row with its place. Pure."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from core.domain.passages import Span
from core.text.delimited import find_header, is_data
from core.text.pipe_tables import MAX_LINE, TextTable, fit, to_cells
from core.text.words import placed_lines

# Number of rules from which every row has one below it, so that cells may have several lines.
_RULED_ROWS = 4

_GRID_RULE = re.compile(r"\+(?=[+:]*+[-=])[-=+:]*(?<=\+)")


@dataclass(frozen=True, slots=True)
class _GridLine:
    text: str
    span: Span

    @property
    def is_rule(self) -> bool:
        return bool(_GRID_RULE.fullmatch(self.text))


def read_grid_tables(text: str) -> list[TextTable]:
    """Return the tables in text order, also those in code: people put the output of programs there."""
    if "+-" not in text and "+=" not in text:
        return []
    return [table for run in _grid_runs(text) if (table := _to_grid_table(run)) is not None]


def _grid_runs(text: str) -> Iterator[list[_GridLine]]:
    """Yield each rule with the rules and rows that follow it."""
    run: list[_GridLine] = []
    for start, raw in placed_lines(f"{text}\n"):
        line = raw.strip()
        first = start + len(raw) - len(raw.lstrip())
        item = _GridLine(line, Span(first, first + len(line)))
        is_row = len(line) <= MAX_LINE and len(line) > 1 and line.startswith("|") and line.endswith("|")
        if (run and is_row) or (len(line) <= MAX_LINE and item.is_rule):
            run.append(item)
        else:
            yield run
            run = []


def _to_grid_table(run: Sequence[_GridLine]) -> TextTable | None:
    groups: list[list[_GridLine]] = []  # of rows, between the rules
    rules = [line for line in run if line.is_rule]
    for line in run:
        if line.is_rule:
            groups.append([])
        else:
            groups[-1].append(line)
    groups = [group for group in groups if group]
    if not groups or len(rules) < 2:
        return None
    has_header = len(groups) > 1
    if len(rules) >= _RULED_ROWS:
        rows = groups
    else:
        rows = [*([groups[0]] if has_header else []), *([line] for group in groups[has_header:] for line in group)]
    cells = [_grid_cells(row) for row in rows]
    width = max(map(len, cells))
    if width < 2 or len(rows) - has_header < 1:
        return None
    return TextTable(
        span=Span(run[0].span.start, run[-1].span.end),
        columns=fit(cells[0] if has_header else (), width),
        rows=tuple(fit(row, width) for row in cells[has_header:]),
        row_spans=tuple(Span(row[0].span.start, row[-1].span.end) for row in rows[has_header:]),
    )


def _grid_cells(lines: Sequence[_GridLine]) -> list[str]:
    """Return the cells of one row, which may have several lines."""
    parts = [to_cells(line.text) for line in lines]
    width = max(map(len, parts))
    return [" ".join(filter(None, (part[place] for part in parts if place < len(part)))) for place in range(width)]


# Lines in a row without a tab that still belong to the table: rows with only a first cell.
MAX_BARE = 2
# Rows with the same number of cells that make a table, and cells with text that each of them has at least.
_MIN_TAB_ROWS = 2
_MIN_FILLED = 2


@dataclass(frozen=True, slots=True)
class _TabLine:
    cells: tuple[str, ...]
    span: Span  # without white space at its ends

    @property
    def is_row(self) -> bool:
        return len(self.cells) > 1


def read_tab_tables(text: str) -> list[TextTable]:
    """Return the tables in text order; the line above a table in its block is its caption."""
    return [table for block in _blocks(text) for table in _tab_tables(block)]


def _blocks(text: str) -> Iterator[list[_TabLine]]:
    block: list[_TabLine] = []
    for start, line in placed_lines(text):
        inner = line.strip()
        if inner and len(line) <= MAX_LINE:
            first = start + len(line) - len(line.lstrip())
            cells = tuple(cell.strip() for cell in line.rstrip().split("\t"))
            block.append(_TabLine(cells, Span(first, first + len(inner))))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _tab_tables(block: Sequence[_TabLine]) -> Iterator[TextTable]:
    places = [place for place, line in enumerate(block) if line.is_row]
    first = 0
    for at, place in enumerate(places):
        following = places[at + 1] if at + 1 < len(places) else len(block) + MAX_BARE + 1
        if following - place - 1 <= MAX_BARE:
            continue
        lines = block[places[first] : place + 1]
        caption = block[places[first] - 1].cells[0] if places[first] else ""
        first = at + 1
        if _is_tab_table(lines):
            yield _to_tab_table(lines, caption)


def _is_tab_table(lines: Sequence[_TabLine]) -> bool:
    widths = Counter(len(line.cells) for line in lines if sum(map(bool, line.cells)) >= _MIN_FILLED)
    return max(widths.values(), default=0) >= _MIN_TAB_ROWS


def _to_tab_table(lines: Sequence[_TabLine], caption: str) -> TextTable:
    width = max(len(line.cells) for line in lines)
    has_header = find_header([line.cells for line in lines]) is not None and not lines[0].cells[0].endswith(":")
    rows = lines[1:] if has_header else lines
    return TextTable(
        span=Span(lines[0].span.start, lines[-1].span.end),
        columns=fit(lines[0].cells if has_header else (), width),
        rows=tuple(fit(line.cells, width) for line in rows),
        row_spans=tuple(line.span for line in rows),
        caption=caption,
    )


# Lines that make a table, its header among them, and characters of one.
MIN_ROWS = 3
_MAX_SPACE_LINE = 400
# Share of the lines that have two blanks where a column ends, and that fill two cells.
MIN_PARTED = 0.6
MIN_FILLED = 0.75
# Characters of a cell of words, at the median.
SHORT = 30
# Share of a column's cells that are figures in a column of them.
MIN_FIGURES = 0.6

_FOREIGN = re.compile("[\t|\u2500-\u257f]")  # tabs and pipes, and signs of trees and boxes
_GAP = re.compile(r"\S {2,}\S")
_SPACE_RULE = re.compile(r"[-=_+ ]+")
_MARK = re.compile(r"[-*•+·>#]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)]")
# Lines of code, which align assignments and comments.
_CODE = re.compile(r"[;{}]\s*$|\S\s*(?::=|[^<>=]=)\s|\s(?://|#)\s|^\s*(?://|#)")


@dataclass(frozen=True, slots=True)
class _SpaceLine:
    text: str
    start: int

    @property
    def is_rule(self) -> bool:
        return bool(_SPACE_RULE.fullmatch(self.text)) and any(mark in self.text for mark in ("--", "==", "__"))


def read_space_tables(text: str) -> list[TextTable]:
    """Return the tables in text order."""
    if not _GAP.search(text):
        return []
    return [table for run in _space_runs(text) if (table := _to_space_table(run)) is not None]


def row_starts(text: str) -> set[int]:
    """Return the starts of the lines of such tables and their headers: each is a unit of its own."""
    spans = [table.span for table in read_space_tables(text)]
    starts = set()
    for span in spans:
        start = text.rfind("\n", 0, span.start) + 1
        while 0 <= start < span.end:
            starts.add(start)
            start = text.find("\n", start) + 1 or span.end
    return starts


def _space_runs(text: str) -> Iterator[list[_SpaceLine]]:
    """Yield runs of lines with a gap inside, and rules."""
    run: list[_SpaceLine] = []
    for start, line in placed_lines(f"{text}\n"):
        item = _SpaceLine(line.rstrip(), start)
        if len(line) <= _MAX_SPACE_LINE and not _FOREIGN.search(line) and (_GAP.search(line) or item.is_rule):
            run.append(item)
            continue
        if len(run) >= MIN_ROWS:
            yield run
        run = []


def _to_space_table(run: Sequence[_SpaceLine]) -> TextTable | None:
    rules = [place for place, line in enumerate(run) if line.is_rule]
    lines = [line for line in run if not line.is_rule]
    gutters = _gutters(lines) if len(lines) >= MIN_ROWS else []
    if not gutters or sum(bool(_CODE.search(line.text)) for line in lines) * 2 > len(lines):
        return None
    columns = list(pairwise([0, *gutters, None]))
    rows = [tuple(line.text[start:end].strip() for start, end in columns) for line in lines]
    has_rule = any(0 < place < 3 for place in rules)
    if not _is_space_table(rows, has_rule=has_rule):
        return None
    below = sum(place not in rules for place in range(next((place for place in rules if 0 < place < 3), 0)))
    header = below - 1 if has_rule and below else find_header(rows)
    first = 0 if header is None else header + 1
    return TextTable(
        span=Span(_span(lines[0]).start, _span(lines[-1]).end),
        columns=fit(rows[header] if header is not None else (), len(gutters) + 1),
        rows=tuple(rows[first:]),
        row_spans=tuple(map(_span, lines[first:])),
    )


def _gutters(lines: Sequence[_SpaceLine]) -> list[int]:
    """Return the starts of columns after the first: behind blanks that all lines have, most lines more than one.

    A column filled by one line only, or by few and without a header, doesn't count.
    """
    width = max(len(line.text) for line in lines)
    left = min(len(line.text) - len(line.text.lstrip()) for line in lines)
    texts = [line.text.ljust(width + 1) for line in lines]
    blank = [all(text[place] == " " for text in texts) for place in range(width)]
    ends = [place for place in range(left, width - 1) if blank[place] and not blank[place + 1]]
    starts = [end + 1 for end in ends if sum(text[end - 1] == " " for text in texts) >= len(lines) * MIN_PARTED]
    gutters: list[int] = []
    for start, end in pairwise([*starts, width]):
        cells = [text[start:end].strip() for text in texts]
        filled = sum(map(bool, cells))
        if filled > 1 and (cells[0] or filled * 2 >= len(cells)):
            gutters.append(start)
    return gutters


def _is_space_table(rows: Sequence[tuple[str, ...]], *, has_rule: bool) -> bool:
    width = len(rows[0])
    filled = sum(sum(map(bool, row)) >= 2 for row in rows)
    marks = sum(any(map(_MARK.fullmatch, row[:2])) for row in rows)
    labels = sum(row[0].endswith(":") for row in rows)
    if filled < len(rows) * MIN_FILLED or marks * 2 >= len(rows) or labels * 2 >= len(rows):
        return False
    cells = [cell for row in rows for cell in row if cell]
    if median(map(len, cells)) > SHORT:
        return False
    if width > 2 or has_rule:
        return True
    return _is_of_figures([row[1] for row in rows[1:]]) and not _is_contents([row[1] for row in rows])


def _is_of_figures(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return len(filled) >= MIN_ROWS - 1 and sum(map(is_data, filled)) >= len(filled) * MIN_FIGURES


def _is_contents(cells: Sequence[str]) -> bool:
    """Return whether cells are page numbers: whole and rising."""
    numbers = [int(cell) for cell in cells if cell.isascii() and cell.isdigit() and len(cell) < 5]
    return len(numbers) * 4 >= len(cells) * 3 and all(one <= other for one, other in pairwise(numbers))


def _span(line: _SpaceLine) -> Span:
    inner = len(line.text) - len(line.text.lstrip())
    return Span(line.start + inner, line.start + len(line.text))


def with_others(tables: list[TextTable], others: Sequence[TextTable]) -> list[TextTable]:
    """Return tables with the others that overlap none of them, in text order; both are given in it."""
    starts = [table.span.start for table in tables]
    added = []
    for table in others:
        before = bisect_left(starts, table.span.end)
        if not before or tables[before - 1].span.end <= table.span.start:
            added.append(table)
    return sorted([*tables, *added], key=lambda table: table.span.start)
