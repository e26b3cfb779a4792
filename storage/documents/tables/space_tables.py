"""Tables in plain text whose columns are held by blanks, each row with its place. Pure.

A column ends where every line of the table has a blank, and most have two. Lists, labels with their values, contents
and prose set in columns look alike; what tells a table is that it has three columns of short cells, or figures, or a
rule below its head.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from core.domain.corpus import Span
from core.text.delimited import find_header, is_data
from core.text.pipe_tables import TextTable, fit

# Lines that make a table, its head among them, and characters of one.
MIN_ROWS = 3
MAX_LINE = 400
# Share of the lines that have two blanks where a column ends, and that fill two cells.
MIN_PARTED = 0.6
MIN_FILLED = 0.75
# Characters of a cell of words, at the median.
SHORT = 30
# Share of a column's cells that are figures in a column of them.
MIN_FIGURES = 0.6

_FOREIGN = re.compile("[\t|\u2500-\u257f]")  # what parts cells otherwise, or draws trees and boxes
_GAP = re.compile(r"\S {2,}\S")
_RULE = re.compile(r"[-=_+ ]+")
_MARK = re.compile(r"[-*•+·>#]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)]")
# Lines of code, which align what they say: a name and what is set, a comment.
_CODE = re.compile(r"[;{}]\s*$|\S\s*(?::=|[^<>=]=)\s|\s(?://|#)\s|^\s*(?://|#)")


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    start: int

    @property
    def is_rule(self) -> bool:
        return bool(_RULE.fullmatch(self.text)) and any(mark in self.text for mark in ("--", "==", "__"))


def read_space_tables(text: str) -> list[TextTable]:
    """The tables in text order."""
    if not _GAP.search(text):
        return []
    return [table for run in _runs(text) if (table := _to_table(run)) is not None]


def row_starts(text: str) -> set[int]:
    """Where the lines of such tables begin, their heads' too: each is a unit of its own."""
    spans = [table.span for table in read_space_tables(text)]
    starts = set()
    for span in spans:
        start = text.rfind("\n", 0, span.start) + 1
        while 0 <= start < span.end:
            starts.add(start)
            start = text.find("\n", start) + 1 or span.end
    return starts


def _runs(text: str) -> Iterator[list[_Line]]:
    """Lines that follow each other, all of which have a gap inside or are rules."""
    run: list[_Line] = []
    start = 0
    for line in [*text.split("\n"), ""]:
        item = _Line(line.rstrip(), start)
        start += len(line) + 1
        if len(line) <= MAX_LINE and not _FOREIGN.search(line) and (_GAP.search(line) or item.is_rule):
            run.append(item)
            continue
        if len(run) >= MIN_ROWS:
            yield run
        run = []


def _to_table(run: Sequence[_Line]) -> TextTable | None:
    rules = [place for place, line in enumerate(run) if line.is_rule]
    lines = [line for line in run if not line.is_rule]
    gutters = _gutters(lines) if len(lines) >= MIN_ROWS else []
    if not gutters or sum(bool(_CODE.search(line.text)) for line in lines) * 2 > len(lines):
        return None
    rows = [_cut(line.text, gutters) for line in lines]
    has_rule = any(0 < place < 3 for place in rules)
    if not _is_table(rows, has_rule=has_rule):
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


def _gutters(lines: Sequence[_Line]) -> list[int]:
    """Where columns begin after the first: behind blanks that all lines have, and most lines more than one.

    A column that one line alone fills is none, nor one that few fill and nothing heads.
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


def _cut(line: str, gutters: Sequence[int]) -> tuple[str, ...]:
    return tuple(line[start:end].strip() for start, end in pairwise([0, *gutters, None]))


def _is_table(rows: Sequence[tuple[str, ...]], *, has_rule: bool) -> bool:
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
    """Whether they are numbers of pages: whole, and ever greater."""
    numbers = [int(cell) for cell in cells if cell.isascii() and cell.isdigit() and len(cell) < 5]
    return len(numbers) * 4 >= len(cells) * 3 and all(one <= other for one, other in pairwise(numbers))


def _span(line: _Line) -> Span:
    inner = len(line.text) - len(line.text.lstrip())
    return Span(line.start + inner, line.start + len(line.text))
