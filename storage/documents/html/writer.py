"""Text written from HTML elements, tables included."""

import re
from dataclasses import dataclass
from typing import Any

from core.domain.corpus import Heading

# Rows or columns one cell may cover, and columns of a table: a file may claim any number.
MAX_SPAN = 100
MAX_COLUMNS = 500
# Maximum characters of a cell to repeat in the rows it covers, so that each row is readable.
MAX_REPEATED = 80


@dataclass(slots=True)
class _Cover:
    rows: int  # still to come
    text: str


class TableGrid:
    """An open table, row by row, which adds tabs and the text of cells that span rows."""

    def __init__(self) -> None:
        self._column = 0
        self._covers: dict[int, _Cover] = {}

    def start_group(self) -> None:
        """Start a head, body or foot: cells don't span groups."""
        self._covers.clear()

    def start_row(self) -> None:
        self._column = 0

    def before_cell(self) -> str:
        """Return the text of cells from rows above, each with a tab, before the row's next own cell."""
        text = ""
        while self._column in self._covers:
            text += f"{self._take(self._column)}\t"
            self._column += 1
        return text

    def end_cell(self, text: str, *, columns: int = 1, rows: int = 1) -> str:
        """Return the tabs after a cell with `text` that covers so many columns and rows."""
        columns = max(1, min(columns, MAX_SPAN, MAX_COLUMNS - self._column))
        if rows > 1 and self._column < MAX_COLUMNS:
            repeated = text if len(text) <= MAX_REPEATED and not any(sign in text for sign in "\n\t") else ""
            for place in range(self._column, self._column + columns):
                says = repeated if place == self._column else ""
                self._covers[place] = _Cover(min(rows, MAX_SPAN) - 1, says)
        self._column += columns
        return "\t" * columns

    def end_row(self) -> str:
        """Return the text of cells from rows above, separated by tabs, after the row's last own cell."""
        cells = []
        for place in range(self._column, max(self._covers, default=-1) + 1):
            cells.append(self._take(place) if place in self._covers else "")
        while cells and not cells[-1]:
            cells.pop()
        return "\t".join(cells)

    def _take(self, place: int) -> str:
        cover = self._covers[place]
        cover.rows -= 1
        if cover.rows <= 0:
            del self._covers[place]
        return cover.text


def to_span(value: str | None) -> int:
    """Return the value of a colspan or rowspan, 1 if it is unreadable."""
    text = (value or "").strip()
    return max(int(text), 1) if text.isdecimal() and len(text) < 9 else 1


_PARAGRAPHS = frozenset(
    "p h1 h2 h3 h4 h5 h6 table ul ol dl blockquote pre hr figure article section details fieldset".split()
)
_LINES = frozenset(
    "div li dt dd tr caption address main header footer aside nav body form figcaption summary legend thead tbody "
    "tfoot center dir menu hgroup search br".split()
)
_BLOCKS = _PARAGRAPHS | _LINES
_CELLS = frozenset({"td", "th"})
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_IN_CELL_BLOCKS = "h1,h2,h3,h4,h5,h6,table,pre,ul,ol,dl"
# Prefix of each line of a definition in a definition list.
MEANING_INDENT = "    "
_SPACE = re.compile(r"[ \t\n\r\f]+")


class HtmlWriter:
    """Text from HTML elements. Separators are written before the next text, so that none is at the ends."""

    def __init__(self, ids: frozenset[str] = frozenset()) -> None:
        self._ids = ids
        self._waiting_ids: list[str] = []  # of open elements whose text has not begun
        self._pieces: list[str] = []
        self._length = 0
        self._gap = _Gap()
        self._preformatted = 0
        self._meanings = 0  # open <dd>
        self._cells: list[_Cell] = []
        self._tables: list[TableGrid] = []
        self._row_start = 0
        self._headings: list[Heading] = []
        self._anchors: list[tuple[str, int]] = []
        self._open_heading: tuple[int, int] | None = None  # its level, and the number of pieces before it
        self._heading_ids: list[str] = []

    def open(self, tag: str, node: Any) -> None:
        if self._ids and node.attributes.get("id") in self._ids:
            self._waiting_ids.append(node.attributes["id"])
        if tag in _CELLS:
            self._cells.append(_Cell(node.css_first(_IN_CELL_BLOCKS) is None, len(self._pieces), self._length))
            if self._tables:
                self._gap.tail += self._tables[-1].before_cell()
        elif tag in _BLOCKS:
            self._end_block(tag)
        if tag == "dd":
            self._meanings += 1
        if tag == "table":
            self._tables.append(TableGrid())
        elif tag == "tr" and self._tables:
            self._row_start = self._length
            self._tables[-1].start_row()
        elif tag in _ROW_GROUPS and self._tables:
            self._tables[-1].start_group()
        if tag == "pre":
            self._preformatted += 1
        if tag in _HEADINGS and self._open_heading is None:
            self._open_heading = (_HEADINGS[tag], len(self._pieces))
            self._heading_ids = []
        if self._open_heading is not None:
            self._heading_ids.extend(filter(None, [node.attributes.get("id")]))
        if tag == "a" and _note_reference(node):
            self._append("[")

    def close(self, tag: str, node: Any) -> None:
        if tag == "a" and _note_reference(node):
            self._append("]")
        if self._open_heading is not None and _HEADINGS.get(tag) == self._open_heading[0]:
            self._end_heading(*self._open_heading)
        if tag in _CELLS:
            self._close_cell(node)
        elif tag == "tr" and self._tables:
            behind = self._tables[-1].end_row()
            if behind and self._length > self._row_start:
                self._append(behind)
            self._end_block(tag)
        elif tag in _BLOCKS:
            self._end_block(tag)
        if tag == "table" and self._tables:
            self._tables.pop()
        if tag == "pre":
            self._preformatted -= 1
        if tag == "dd":
            self._meanings -= 1

    def add_text(self, text: str) -> None:
        if self._preformatted:
            self._append(text)
            return
        text = _SPACE.sub(" ", text)
        self._gap.space |= text.startswith(" ")
        inner = text.strip(" ")
        if inner:
            self._append(inner)
            self._gap.space = text.endswith(" ")

    def finish(self) -> tuple[str, tuple[Heading, ...], tuple[tuple[str, int], ...]]:
        text = "".join(self._pieces).rstrip()
        anchors = dict.fromkeys(sorted(self._anchors, key=lambda anchor: anchor[1]))  # a heading's id may be asked for
        return text, tuple(self._headings), tuple(anchor for anchor in anchors if anchor[1] < len(text))

    def _close_cell(self, node: Any) -> None:
        cell = self._cells.pop()
        if not self._tables:
            self._gap.tail += "\t"
            return
        gap = 1 if cell.place else 0  # without the separator from the text above
        text = "".join(self._pieces[cell.pieces + gap :]) if cell.is_on_line else ""
        spans = {name: to_span(node.attributes.get(name)) for name in ("colspan", "rowspan")}
        self._gap.tail += self._tables[-1].end_cell(text, columns=spans["colspan"], rows=spans["rowspan"])

    def _append(self, text: str) -> None:
        if self._length:
            indent = MEANING_INDENT if self._meanings and self._gap.lines and not self._cells else ""
            self._put(self._gap.text() + indent)
        self._gap = _Gap()
        self._anchors.extend((name, self._length) for name in self._waiting_ids)
        self._waiting_ids.clear()
        self._put(text)

    def _put(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)

    def _end_block(self, tag: str) -> None:
        on_one_line = self._open_heading is not None or (bool(self._cells) and self._cells[-1].is_on_line)
        if on_one_line and tag != "tr":
            self._gap.space = True
        else:
            self._gap.lines = max(self._gap.lines, 2 if tag in _PARAGRAPHS else 1)
            self._gap.tail = ""

    def _end_heading(self, level: int, before: int) -> None:
        pieces = self._pieces[before:]
        if before:
            pieces = pieces[1:]  # without the separator from the text above
        title = " ".join("".join(pieces).split())
        self._open_heading = None
        if title:
            start = self._length - sum(map(len, pieces))
            self._headings.append(Heading(level=level, title=title, start=start))
            self._anchors.extend((name, start) for name in self._heading_ids)


@dataclass(frozen=True, slots=True)
class _Cell:
    """An open cell: whether its text stays on the row's line, and the length of the text before it."""

    is_on_line: bool
    pieces: int
    place: int


@dataclass(slots=True)
class _Gap:
    """A separator of two texts: line ends, tabs between cells (an empty cell keeps its tab), or a space."""

    lines: int = 0
    tail: str = ""  # tabs, and the words of cells that reach down from a row above
    space: bool = False

    def text(self) -> str:
        return "\n" * self.lines + self.tail or " " * self.space


def _note_reference(node: Any) -> bool:
    """Return whether a link is the bare number of a footnote."""
    attributes = node.attributes
    marks = f"{attributes.get('role') or ''} {attributes.get('epub:type') or ''}".split()
    return bool({"noteref", "doc-noteref"} & set(marks)) and node.text().strip()[:1].isalnum()
