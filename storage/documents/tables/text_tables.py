"""Tables in text whose cells are parted by tabs; each row with its place. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.domain.corpus import Span
from core.text.delimited import find_header
from core.text.pipe_tables import MAX_LINE, TextTable, fit

# Lines in a row without a tab that still belong to the table: rows with only a first cell.
MAX_BARE = 2
# Rows with the same number of cells that make a table, and cells with text that each of them has at least.
_MIN_ROWS = 2
_MIN_FILLED = 2


@dataclass(frozen=True, slots=True)
class _Line:
    cells: tuple[str, ...]
    span: Span  # without white space at its ends

    @property
    def is_row(self) -> bool:
        return len(self.cells) > 1


def read_tab_tables(text: str) -> list[TextTable]:
    """Return the tables in text order; the line above a table in its block is its caption."""
    return [table for block in _blocks(text) for table in _tables(block)]


def _blocks(text: str) -> Iterator[list[_Line]]:
    block: list[_Line] = []
    start = 0
    for line in text.split("\n"):
        inner = line.strip()
        if inner and len(line) <= MAX_LINE:
            first = start + len(line) - len(line.lstrip())
            cells = tuple(cell.strip() for cell in line.rstrip().split("\t"))
            block.append(_Line(cells, Span(first, first + len(inner))))
        elif block:
            yield block
            block = []
        start += len(line) + 1
    if block:
        yield block


def _tables(block: Sequence[_Line]) -> Iterator[TextTable]:
    places = [place for place, line in enumerate(block) if line.is_row]
    first = 0
    for at, place in enumerate(places):
        following = places[at + 1] if at + 1 < len(places) else len(block) + MAX_BARE + 1
        if following - place - 1 <= MAX_BARE:
            continue
        lines = block[places[first] : place + 1]
        caption = block[places[first] - 1].cells[0] if places[first] else ""
        first = at + 1
        if _is_table(lines):
            yield _to_table(lines, caption)


def _is_table(lines: Sequence[_Line]) -> bool:
    widths = Counter(len(line.cells) for line in lines if sum(map(bool, line.cells)) >= _MIN_FILLED)
    return max(widths.values(), default=0) >= _MIN_ROWS


def _to_table(lines: Sequence[_Line], caption: str) -> TextTable:
    width = max(len(line.cells) for line in lines)
    has_header = find_header([line.cells for line in lines]) is not None and not _is_label(lines[0].cells[0])
    rows = lines[1:] if has_header else lines
    return TextTable(
        span=Span(lines[0].span.start, lines[-1].span.end),
        columns=fit(lines[0].cells if has_header else (), width),
        rows=tuple(fit(line.cells, width) for line in rows),
        row_spans=tuple(line.span for line in rows),
        caption=caption,
    )


def _is_label(cell: str) -> bool:
    """Return whether a first cell labels its own row rather than the column below."""
    return cell.endswith(":")
