"""Lines and tables of a page's text for extractors: with their positions, and without Markdown's marks. Pure.

All patterns take linear time.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from core.domain.corpus import Page
from core.domain.passages import Span
from core.text.pipe_tables import TextTable, read_pipe_tables
from core.text.words import collapse, placed_lines
from storage.documents.tables.text_tables import read_tab_tables

# Characters of a line that are looked at for links and labels: longer ones are data.
MAX_LINE = 2_000
# Characters of a line up to which it is one place; in longer ones a place is a sentence.
MAX_PLACE = 400

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_LINK = re.compile(
    r"!?\[((?:[^\[\]\n\\]|\\.){0,400})\]\([^()\s]{0,600}(?:\([^()\s]{0,200}\))?(?:\s+\"[^\"\n]{0,200}\")?\)"
)
_REFERENCE = re.compile(r"\[([^\[\]\n]{1,200})\]\[[^\[\]\n]{0,100}\]")
_WIKILINK = re.compile(r"!?\[\[([^\[\]\n|]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>")
_ESCAPE = re.compile(r"\\([^\w\s])")
_EMPHASIS = re.compile(r"\*+|`+|(?<!\w)_{1,3}(?=\w)|(?<=[^\s_])_{1,3}(?!\w)")
_BULLET = re.compile(r"^[ \t>]*(?:[-*+•‣]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING_MARKS = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+")
_BLOCK_ID = re.compile(r"(?<!\S)\^[A-Za-z0-9-]+$")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank; its span is without white space at its ends."""

    span: Span
    text: str  # as in the span
    indent: int
    in_code: bool = False
    heading: int = 0  # its level; 0: none
    follows_blank: bool = True

    @property
    def is_item(self) -> bool:
        return bool(_BULLET.match(f"{self.text[:12]} x"))

    @property
    def is_row(self) -> bool:
        return not self.in_code and self.text.startswith("|") and self.text.count("|", 0, MAX_LINE) > 1


@dataclass(frozen=True, slots=True)
class Row:
    span: Span
    cells: tuple[str, ...]  # as written


@dataclass(frozen=True, slots=True)
class PipeTable:
    header: Span
    columns: tuple[str, ...]  # without marks, lower case; each "" without a header row
    rows: tuple[Row, ...]


class MarkedText:
    """A page, its lines and tables read once."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.text = page.text

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        return tuple(_lines(self.text, {heading.start: heading.level for heading in self.page.headings}))

    @cached_property
    def tables(self) -> tuple[PipeTable, ...]:
        """Those with pipes first, then those with tabs; none without rows and none in code."""
        code = {line.span.start for line in self.lines if line.in_code}
        tables = (*read_pipe_tables(self.text), *read_tab_tables(self.text))
        return tuple(
            _to_pipe_table(table, self.text)
            for table in tables
            if table.rows and not any(span.start in code for span in table.row_spans)
        )

    def titles(self) -> Iterator[tuple[Line, str]]:
        """Yield the lines that are headings, with their titles."""
        named = {heading.start: heading.title for heading in self.page.headings}
        for line in self.lines:
            if line.heading:
                start = line.span.start - line.indent
                yield line, named.get(start, named.get(line.span.start, plain(line.text)))


def line_at(text: str, start: int) -> Span | None:
    """Return the span of the rest of a line without white space at its ends; None for a blank one."""
    end = text.find("\n", start)
    line = text[start : end if end >= 0 else len(text)]
    first = start + len(line) - len(line.lstrip())
    return Span(first, first + len(line.strip())) if line.strip() else None


def around(line: Line, start: int, end: int) -> Span:
    """Return the span of the line around `start` to `end`, or of the sentence in a long line."""
    if len(line.text) <= MAX_PLACE:
        return line.span
    first = max(line.text.rfind(". ", max(0, start - MAX_PLACE // 2), start) + 2, start - MAX_PLACE // 2, 0)
    last = line.text.find(". ", end, end + MAX_PLACE // 2)
    last = last + 1 if last >= 0 else min(end + MAX_PLACE // 2, len(line.text))
    piece = line.text[first:last]
    first += len(piece) - len(piece.lstrip())
    return Span(line.span.start + first, line.span.start + first + len(piece.strip()))


def plain(text: str) -> str:
    """Return the words of one line without marks: links as their labels, no emphasis, code marks, tags or escapes."""
    line = text[:MAX_LINE]
    line = _HEADING_MARKS.sub("", line, count=1)
    line = _BULLET.sub("", line, count=1)
    if "[" in line:
        line = _WIKILINK.sub(lambda match: match[2] or match[1], line)
        line = _REFERENCE.sub(r"\1", _LINK.sub(r"\1", line))
    if "<" in line:
        line = _TAG.sub("", line)
    line = _ESCAPE.sub(r"\1", _EMPHASIS.sub("", line))
    if "&" in line:
        line = html.unescape(line)
    return _BLOCK_ID.sub("", collapse(line)).strip()


def plain_path(text: str) -> str:
    """Return a line with links as labels and without escapes, but with its code marks and brackets."""
    line = text[:MAX_LINE]
    if "[" in line:
        line = _LINK.sub(r"\1", line)
    return _ESCAPE.sub(r"\1", html.unescape(line))


def _lines(text: str, headings: dict[int, int]) -> Iterator[Line]:
    fence, blank = "", True
    for place, raw in placed_lines(text):
        stripped = raw.strip()
        if not stripped:
            blank = True
            continue
        indent = len(raw) - len(raw.lstrip())
        start = place + indent
        mark = _FENCE.match(raw)
        opens = mark is not None and (not fence or mark[1].startswith(fence))
        level = 0 if fence or opens else headings.get(place, headings.get(start, 0))
        yield Line(Span(start, start + len(stripped)), stripped, indent, bool(fence or opens), level, blank)
        if opens and mark is not None:
            fence = "" if fence else mark[1]
        blank = False


def _to_pipe_table(table: TextTable, text: str) -> PipeTable:
    line_end = text.find("\n", table.span.start, table.span.end)
    return PipeTable(
        header=Span(table.span.start, table.span.end if line_end < 0 else line_end),
        columns=tuple(plain(cell).lower() for cell in table.columns),
        rows=tuple(Row(span, cells) for span, cells in zip(table.row_spans, table.rows, strict=True)),
    )
