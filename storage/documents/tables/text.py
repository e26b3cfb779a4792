"""Tables at their places in pages, and rows of cells as Markdown tables, the form of all tables in a text. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.corpus import Page
from core.domain.passages import Span
from core.text.delimited import MAX_COLUMNS, width_of
from core.text.words import collapse
from storage.documents.texts.encodings import clean

# Characters before a table in which the scale of its figures is looked for.
_ABOVE = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTable:
    """A table in the text of its page. Each row has as many cells as there are columns."""

    page: Page
    span: Span
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    row_spans: tuple[Span, ...]  # the smallest places that hold all of a row's words
    confidence: float  # 0..1
    is_continued: bool = False  # continues the table of the page before

    @property
    def above(self) -> str:
        """The lines before it, which may name the scale."""
        return self.page.text[max(self.span.start - _ABOVE, 0) : self.span.start]


@dataclass(frozen=True, slots=True)
class Merge:
    """Cells shown as one: its first row and column in the table, both from 0, and how many it covers."""

    row: int
    column: int
    rows: int = 1
    columns: int = 1


def to_table(rows: Sequence[Sequence[str]], *, columns: Sequence[str] | None = None) -> str:
    """Return a Markdown table, "" if no cell holds text. The first row is the header.

    `columns` is a header for rows that have none. White space in a cell is one space, a pipe is escaped; short rows are
    filled up; rows and columns without any text are left out.
    """
    grid = [[to_cell(cell) for cell in row[:MAX_COLUMNS]] for row in rows]
    kept = [place for place in range(width_of(grid)) if any(place < len(row) and row[place] for row in grid)]
    if not kept:
        return ""
    lines = [[row[place] if place < len(row) else "" for place in kept] for row in grid if any(row)]
    if columns is not None:
        lines.insert(0, [to_cell(columns[place]) if place < len(columns) else "" for place in kept])
    rule = "| " + " | ".join(["---"] * len(kept)) + " |"
    written = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([written[0], rule, *written[1:]])


def to_cell(text: str) -> str:
    """Return the text of a cell as written in a table's line."""
    return collapse(clean(text)).replace("|", "\\|")


def fill_merged(rows: Sequence[Sequence[str]], merges: Sequence[Merge]) -> list[list[str]]:
    """Return the rows with the text of merged cells in each place they cover.

    A cell over the whole width of one row, a title between rows, stays once.
    """
    grid = [list(row) for row in rows]
    width = width_of(grid)
    for merge in merges:
        if not 0 <= merge.row < len(grid) or not 0 <= merge.column < len(grid[merge.row]):
            continue
        text = grid[merge.row][merge.column]
        if not text or (merge.rows == 1 and merge.columns >= width):
            continue
        for row in grid[merge.row : merge.row + merge.rows]:
            end = min(merge.column + merge.columns, width)
            row.extend([""] * (end - len(row)))
            row[merge.column : end] = [text] * (end - merge.column)
    return grid
