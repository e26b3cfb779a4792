"""Where the cells of an HTML table stand: those that cover several rows or columns keep the others in line. Pure."""

from dataclasses import dataclass

# Rows or columns one cell may cover, and columns of a table: a file may claim any number.
MAX_SPAN = 100
MAX_COLUMNS = 500
# Characters of a cell that is repeated in the rows below that it covers, so that each can be read alone.
MAX_REPEATED = 80


@dataclass(slots=True)
class _Cover:
    rows: int  # still to come
    text: str


class TableGrid:
    """An open table, row by row. What it gives is tabs, and the words of cells that reach down from above."""

    def __init__(self) -> None:
        self._column = 0
        self._covers: dict[int, _Cover] = {}

    def start_group(self) -> None:
        """A head, body or foot begins: cells reach no further than the one they are in."""
        self._covers.clear()

    def start_row(self) -> None:
        self._column = 0

    def before_cell(self) -> str:
        """What stands in the row before its next own cell: cells from above, each with the tab behind it."""
        text = ""
        while self._column in self._covers:
            text += f"{self._take(self._column)}\t"
            self._column += 1
        return text

    def end_cell(self, text: str, *, columns: int = 1, rows: int = 1) -> str:
        """The tabs behind a cell, which says `text` and covers so many columns and rows."""
        columns = max(1, min(columns, MAX_SPAN, MAX_COLUMNS - self._column))
        if rows > 1 and self._column < MAX_COLUMNS:
            repeated = text if len(text) <= MAX_REPEATED and not any(sign in text for sign in "\n\t") else ""
            for place in range(self._column, self._column + columns):
                says = repeated if place == self._column else ""
                self._covers[place] = _Cover(min(rows, MAX_SPAN) - 1, says)
        self._column += columns
        return "\t" * columns

    def end_row(self) -> str:
        """What stands in the row behind its last own cell: cells from above, with tabs between them."""
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
    """What a colspan or rowspan says; 1 where it says nothing that can be read."""
    text = (value or "").strip()
    return max(int(text), 1) if text.isdecimal() and len(text) < 9 else 1
