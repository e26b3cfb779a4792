"""Tables that are drawn with plus signs, dashes and pipes, as programs print them, each row with its place. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.domain.corpus import Span
from core.text.pipe_tables import MAX_LINE, TextTable, fit, to_cells

# Rules from which on one stands below every row, whose cells may then have several lines.
_RULED_ROWS = 4

_RULE = re.compile(r"\+[-=+:]*[-=][-=+:]*\+")


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    span: Span

    @property
    def is_rule(self) -> bool:
        return bool(_RULE.fullmatch(self.text))


def read_grid_tables(text: str) -> list[TextTable]:
    """The tables in text order, those in code too: that is where people put what programs print."""
    if "+-" not in text and "+=" not in text:
        return []
    return [table for run in _runs(text) if (table := _to_table(run)) is not None]


def _runs(text: str) -> Iterator[list[_Line]]:
    """A rule, and the rules and rows that follow it."""
    run: list[_Line] = []
    start = 0
    for raw in [*text.split("\n"), ""]:
        line = raw.strip()
        first = start + len(raw) - len(raw.lstrip())
        item = _Line(line, Span(first, first + len(line)))
        start += len(raw) + 1
        is_row = len(line) <= MAX_LINE and len(line) > 1 and line.startswith("|") and line.endswith("|")
        if (run and is_row) or (len(line) <= MAX_LINE and item.is_rule):
            run.append(item)
        else:
            yield run
            run = []


def _to_table(run: Sequence[_Line]) -> TextTable | None:
    groups: list[list[_Line]] = []  # of rows, between the rules
    rules = [line for line in run if line.is_rule]
    for line in run:
        if line.is_rule:
            groups.append([])
        else:
            groups[-1].append(line)
    groups = [group for group in groups if group]
    if not groups or len(rules) < 2:
        return None
    has_head = len(groups) > 1
    if len(rules) >= _RULED_ROWS:
        rows = groups
    else:
        rows = [*([groups[0]] if has_head else []), *([line] for group in groups[has_head:] for line in group)]
    cells = [_cells(row) for row in rows]
    width = max(map(len, cells))
    if width < 2 or len(rows) - has_head < 1:
        return None
    return TextTable(
        span=Span(run[0].span.start, run[-1].span.end),
        columns=fit(cells[0] if has_head else (), width),
        rows=tuple(fit(row, width) for row in cells[has_head:]),
        row_spans=tuple(Span(row[0].span.start, row[-1].span.end) for row in rows[has_head:]),
    )


def _cells(lines: Sequence[_Line]) -> list[str]:
    """The cells of one row, which may go over several lines."""
    parts = [to_cells(line.text) for line in lines]
    width = max(map(len, parts))
    return [" ".join(filter(None, (part[place] for part in parts if place < len(part)))) for place in range(width)]
