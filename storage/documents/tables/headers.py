"""Titles of tables, and the header that goes with every passage of a table. Pure."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.corpus import TABLE_HEAD, Page, Span
from core.text.pipe_tables import TextTable, read_pipe_tables
from core.text.words import collapse, shorten
from storage.documents.tables.text_tables import read_tab_tables

# Characters of a header that go with each passage.
MAX_HEADER = 240
_FENCE = "```"


@dataclass(frozen=True, slots=True)
class TableHeaders:
    """The tables of a page that have a header, in text order."""

    rows: Sequence[Span]  # the rows of each, without the header
    headers: Sequence[str]

    def at(self, place: int) -> str | None:
        """Return the header of the table around `place`, as `| a | b |`; None outside of tables."""
        number = bisect_right(self.rows, place, key=lambda span: span.start) - 1
        return self.headers[number] if number >= 0 and place < self.rows[number].end else None


def find_headers(text: str) -> TableHeaders:
    """Return the headers of a page's tables, Markdown's and tabbed ones; none of code."""
    tables = read_pipe_tables(text) if "|" in text else []
    if "\t" in text and not text.startswith(_FENCE):
        ends = [table.span for table in tables]
        tables += [table for table in read_tab_tables(text) if not any(_overlap(table.span, span) for span in ends)]
    found = [
        (Span(table.row_spans[0].start, table.span.end), _to_header(table))
        for table in sorted(tables, key=lambda table: table.span)
        if table.row_spans and any(table.columns)
    ]
    return TableHeaders([span for span, _ in found], [header for _, header in found])


def _to_header(table: TextTable) -> str:
    return shorten(TABLE_HEAD + " | ".join(map(collapse, table.columns)) + " |", MAX_HEADER)


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


# Characters of a title: a longer line is a sentence about something.
MAX_TITLE = 200
# Lines above a table, blank ones left out, among which its caption is looked for.
_CAPTION_LINES = 3

_CAPTION = re.compile(
    r"(?:table|tab\.|exhibit|schedule|tabelle|tableau|tabla)\s+[\dIVXLA-Z][\w.–-]{0,8}(?:\b|(?=[.:]))", re.IGNORECASE
)
_MARKS = re.compile(r"^(?:#{1,6}\s+|[*_]{1,3}|:\s+|>\s*)|(?:[*_]{1,3}|\s+#+)$")


def find_title(page: Page, table: Span, *, nearest: str = "") -> str:
    """Return the title of the table at `table`, "" without any. `nearest` is the line right above it, if known."""
    above = _text_lines(page.text[max(table.start - 2_000, 0) : table.start], newest_first=True)
    below = _text_lines(page.text[table.end : table.end + 500], newest_first=False)
    for place, line in enumerate(above[:_CAPTION_LINES]):
        if _CAPTION.match(line) and len(line) <= MAX_TITLE * 2:
            return collapse(" ".join(above[place::-1]))[:MAX_TITLE]
    if below and _CAPTION.match(below[0]) and len(below[0]) <= MAX_TITLE * 2:
        return below[0][:MAX_TITLE]
    if nearest or (above and above[0].endswith(":") and len(above[0]) <= MAX_TITLE):
        return (nearest or above[0]).rstrip(": ")[:MAX_TITLE]
    titles = [heading.title for heading in page.headings if heading.start < table.start]
    return (titles[-1] if titles else page.title or (page.heading_path[-1] if page.heading_path else ""))[:MAX_TITLE]


def _text_lines(text: str, *, newest_first: bool) -> list[str]:
    """Return the lines with words, without Markdown's marks."""
    lines = [collapse(_MARKS.sub("", collapse(line))) for line in text.split("\n")]
    filled = [line for line in lines if line and not line.startswith("|")]
    return filled[::-1] if newest_first else filled
