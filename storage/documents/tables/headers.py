"""What the columns of a table mean, for the passages that begin in the middle of it. Pure."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.corpus import TABLE_HEAD, Span
from core.text.pipe_tables import TextTable, read_pipe_tables
from core.text.words import collapse, shorten
from storage.documents.tables.space_tables import read_space_tables
from storage.documents.tables.tab_tables import read_tab_tables

# Characters of a head row that go with each passage.
MAX_HEAD = 240
_FENCE = "```"


@dataclass(frozen=True, slots=True)
class TableHeads:
    """The tables of a page that have a head row, in text order."""

    rows: Sequence[Span]  # the rows of each, without the head
    heads: Sequence[str]

    def at(self, place: int) -> str | None:
        """The head row of the table whose rows `place` lies in, as `| a | b |`; None outside of them."""
        number = bisect_right(self.rows, place, key=lambda span: span.start) - 1
        return self.heads[number] if number >= 0 and place < self.rows[number].end else None


def find_heads(text: str) -> TableHeads:
    """The head rows of a page's tables: Markdown's, those of lines with tabs and of columns of blanks. None of code."""
    tables = read_pipe_tables(text) if "|" in text else []
    if "\t" in text and not text.startswith(_FENCE):
        ends = [table.span for table in tables]
        tables += [table for table in read_tab_tables(text) if not any(_overlap(table.span, span) for span in ends)]
    if "  " in text and not text.startswith(_FENCE):
        ends = [table.span for table in tables]
        tables += [table for table in read_space_tables(text) if not any(_overlap(table.span, span) for span in ends)]
    found = [
        (Span(table.row_spans[0].start, table.span.end), _to_head(table))
        for table in sorted(tables, key=lambda table: table.span)
        if table.row_spans and any(table.columns)
    ]
    return TableHeads([span for span, _ in found], [head for _, head in found])


def _to_head(table: TextTable) -> str:
    return shorten(TABLE_HEAD + " | ".join(map(collapse, table.columns)) + " |", MAX_HEAD)


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
