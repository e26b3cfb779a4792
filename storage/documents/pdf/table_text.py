"""Ruled tables in the text of a PDF's page: a line a row, with tabs between the cells.

Tabs rather than Markdown's pipes, so that words that stand beside each other on the page do so in the text, and a
quote that somebody copied out of the file is found in it whatever its white space.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from core.domain.corpus import Span
from storage.documents.pdf.layout import Layout, read_layout, read_rules
from storage.documents.pdf.page_tables import Cell, FoundTable, to_lines
from storage.documents.pdf.places import place_words, span_of
from storage.documents.pdf.rows import Line
from storage.documents.pdf.ruled_grids import find_grids, join_rules
from storage.documents.pdf.ruled_tables import find_ruled_tables

_Row = Sequence[Cell]


def with_ruled_tables(text: str, page: Any, text_page: Any, filled: Sequence[Line] = ()) -> str:
    """The text of an open page with its ruled tables as rows; `filled` is what stands in its forms' fields."""
    rules = read_rules(page)
    if not text or rules is None or not find_grids(join_rules(rules[0]), join_rules(rules[1])):
        return text  # the words are read where there may be a table alone: they take the most time
    layout = read_layout(page, text_page, rules, filled)
    return text if layout is None else write_ruled_tables(text, layout)


def write_ruled_tables(text: str, layout: Layout) -> str:
    """`text` with the ruled tables of its page as rows, as far as no other words stand between theirs."""
    tables = [table for table in find_ruled_tables(layout) if not table.is_doubtful]
    places = place_words(layout.words, text) if tables else {}
    blocks = [block for table in tables for block in _blocks([_head(table), *table.rows], places)]
    written, end = text, len(text)
    for span, rows in sorted(blocks, key=lambda block: block[0], reverse=True):
        if span.end > end:
            continue  # a table within a table
        cells = ([_to_cell(cell, places, text) for cell in row] for row in rows)
        lines = "\n".join("\t".join(row).rstrip() for row in cells)
        start = len(text[: span.start].rstrip(" "))
        before = "" if start == 0 or text[start - 1] == "\n" else "\n"
        after = "" if span.end == len(text) or text[span.end] == "\n" else "\n"
        written = written[:start] + before + lines + after + written[span.end :]
        end = start
    return written


def _blocks(rows: Sequence[_Row], places: Mapping[int, Span]) -> list[tuple[Span, list[_Row]]]:
    """Rows whose words stand together in the text: all of a table as one, else each that does by itself."""
    filled = [row for row in rows if any(row)]
    whole = _span_alone(filled, places)
    if whole is not None:
        return [(whole, filled)]
    alone = ((_span_alone([row], places), row) for row in filled)
    return [(span, [row]) for span, row in alone if span is not None]


def _span_alone(rows: Sequence[_Row], places: Mapping[int, Span]) -> Span | None:
    """Where the words of the rows stand; None where one is missing in the text, or another stands between them."""
    words = [word for row in rows for cell in row for word in cell]
    own = {word.order for word in words}
    span = span_of(words, places)
    if span is None or not own <= places.keys():
        return None
    return None if any(order not in own and span.contains(place) for order, place in places.items()) else span


def _to_cell(cell: Cell, places: Mapping[int, Span], text: str) -> str:
    """The words of a cell as the text has them, its lines joined by a space: no two become one."""
    written = ""
    end: int | None = None
    for line in to_lines(cell):
        for word in line:
            place = places[word.order]
            written += f"{'' if end is None or place.start == end else ' '}{place.of(text)}"
            end = place.end
    return written


def _head(table: FoundTable) -> list[Cell]:
    """The words above the rows, each in the column it stands in."""
    inside = {word.order for row in table.rows for cell in row for word in cell}
    words = [word for word in table.words if word.order not in inside]
    columns = len(table.edges) - 1
    cells: list[Cell] = []
    for column in range(columns):
        left = table.edges[column] if column else float("-inf")
        right = table.edges[column + 1] if column + 1 < columns else float("inf")
        cells.append(tuple(word for word in words if left <= word.centre < right))
    return cells
