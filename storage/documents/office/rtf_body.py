"""What an RTF document shows, paragraph by paragraph: headings, items, tables and notes."""

import re
from dataclasses import dataclass, field

from core.text.words import collapse
from storage.documents.office.text_writer import TextWriter

# Cells of a row: more is made to be slow.
MAX_CELLS = 256

_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_CONTENTS = re.compile(r"(?:toc|contents) (?:\d|heading)", re.IGNORECASE)
_BULLET = re.compile(r"[^\w(]*")


@dataclass(slots=True)
class Paragraph:
    """What is said of a paragraph, or of the style that is being defined."""

    style: int = 0
    outline: int | None = None  # 0 for a heading of level 1, and so on; 9 for none
    depth: int = 0
    in_table: bool = False


@dataclass(slots=True)
class _Row:
    """The row being read: its cells, and of each column whether it goes on from the left or from above."""

    cells: list[str] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)  # the paragraphs of the one not ended yet
    joins: list[str] = field(default_factory=list)


class RtfBody:
    """Takes text and what ends its parts. `title` is the text of the first paragraph in the style Title."""

    def __init__(self) -> None:
        self.writer = TextWriter()
        self.title = ""
        self.paragraph = Paragraph()
        self._text: list[str] = []
        self._mark: list[str] = []
        self._notes: list[str] = []
        self._note_count = 0
        self._styles: dict[int, tuple[str, int]] = {}  # name, level of heading
        self._rows: list[_Row] = []
        self._row = _Row()
        self._join = ""

    def add(self, text: str) -> None:
        self._text.append(text)

    def add_to_mark(self, text: str) -> None:
        """Text of the bullet or number that stands before the paragraph."""
        self._mark.append(text)

    def cite_note(self) -> None:
        """A note begins here; `add_note` gives its text."""
        self._note_count += 1
        self.add(f"[^{self._note_count}]")

    def add_note(self, text: str) -> None:
        self._notes.append(f"[^{self._note_count}]: {text}")

    def define_style(self, properties: Paragraph, name: str) -> None:
        heading = _HEADING.fullmatch(name)
        level = int(heading[1]) if heading else 1 if name.lower() == "title" else _level(properties.outline)
        self._styles[properties.style] = (name, level)

    def end(self) -> None:
        """The document ends, wherever it is."""
        self.paragraph.in_table = False
        self.end_paragraph()
        self._end_table()

    def end_paragraph(self) -> None:
        if self.paragraph.in_table:
            self._add_to_cell()
            return
        self._end_table()
        self._write_paragraph()
        self._write_notes()

    def end_cell(self) -> None:
        self._add_to_cell()
        if len(self._row.cells) < MAX_CELLS:
            self._row.cells.append(" ".join(self._row.cell))
        self._row.cell.clear()

    def begin_row(self) -> None:
        """The columns are defined anew."""
        self._row.joins = []
        self._join = ""

    def join(self, side: str) -> None:
        """The column being defined goes on from the "left" or from "above"."""
        self._join = side

    def end_column(self) -> None:
        """The definition of a column ends."""
        if len(self._row.joins) < MAX_CELLS:
            self._row.joins.append(self._join)
        self._join = ""

    def end_row(self) -> None:
        self._rows.append(self._row)
        self._row = _Row(joins=self._row.joins)

    def _write_paragraph(self) -> None:
        text, mark = self._taken()
        name, level = self._styles.get(self.paragraph.style, ("", 0))
        if self.paragraph.outline is not None:
            level = _level(self.paragraph.outline)
        if _CONTENTS.fullmatch(name) or not text.strip():
            return
        if name.lower() == "title" and not self.title:
            self.title = collapse(text)
        if level:
            self.writer.add_heading(level, f"{mark} {text}" if mark not in ("", "-") else text)
        elif mark:
            self.writer.add_item(text, level=self.paragraph.depth, mark=mark)
        else:
            self.writer.add_paragraph(text)

    def _taken(self) -> tuple[str, str]:
        """The text and the mark collected, which begin anew."""
        text, mark = "".join(self._text), collapse("".join(self._mark))
        self._text.clear()
        self._mark.clear()
        return text, "-" if mark and _BULLET.fullmatch(mark) else mark

    def _add_to_cell(self) -> None:
        text, mark = self._taken()
        if text.strip():
            self._row.cell.append(collapse(f"{mark} {text}"))

    def _end_table(self) -> None:
        if self._row.cells or self._row.cell:
            self.end_cell()
            self.end_row()
        rows, self._rows = self._rows, []
        self._row = _Row()
        if rows:
            self.writer.add_table(_to_grid(rows))
            self._write_notes()

    def _write_notes(self) -> None:
        notes, self._notes = self._notes, []
        for note in notes:
            self.writer.add_paragraph(note)


def _level(outline: int | None) -> int:
    return outline + 1 if outline is not None and 0 <= outline < 9 else 0


def _to_grid(rows: list[_Row]) -> list[list[str]]:
    """The cells, those that go on from the left or from above with what they go on from."""
    grid: list[list[str]] = []
    for row in rows:
        line = list(row.cells)
        joins = [*row.joins, *[""] * len(line)][: len(line)]
        over_all = joins[1:] == ["left"] * (len(line) - 1)  # a title between rows stays once
        for place, join in enumerate(joins):
            if join == "above" and grid and place < len(grid[-1]):
                line[place] = grid[-1][place]
            elif join == "left" and place and not over_all:
                line[place] = line[place - 1]
        grid.append(line)
    return grid
