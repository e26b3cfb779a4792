"""Lines of a printed page as pieces that stand apart, and where such lines follow each other. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from core.text.delimited import is_data
from storage.documents.pdf.cell_figures import is_figure
from storage.documents.pdf.layout import Word
from storage.documents.pdf.page_tables import to_text

# Gaps between words that part two cells, in heights of a line; between two figures the smaller one is enough.
CELL_GAP = 0.9
FIGURE_GAP = 0.2
# Gaps between lines, in heights: beyond it a table ends.
LINE_GAP = 3.2
# Lines of one piece in a row that a table may hold: headings of its parts, labels of several lines.
MAX_SINGLE = 3


@dataclass(frozen=True)
class Piece:
    """Words of one line with no more than a space between them."""

    words: tuple[Word, ...]

    @cached_property
    def text(self) -> str:
        return to_text(self.words)

    @cached_property
    def left(self) -> float:
        return self.words[0].left

    @cached_property
    def right(self) -> float:
        return max(word.right for word in self.words)

    @cached_property
    def is_figure(self) -> bool:
        return is_figure(self.text)


@dataclass(frozen=True)
class PrintedLine:
    """What stands on one line, from left to right."""

    pieces: tuple[Piece, ...]

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return tuple(word for piece in self.pieces for word in piece.words)

    @cached_property
    def middle(self) -> float:
        return median(word.middle for word in self.words)

    @cached_property
    def height(self) -> float:
        return median(word.height for word in self.words)

    @cached_property
    def figures(self) -> int:
        """Pieces that are figures, the first one left out: it may be a list's number or a year."""
        return sum(piece.is_figure for piece in self.pieces[1:])

    @property
    def holds_figures(self) -> bool:
        return self.figures > 0 and self.figures * 2 >= len(self.pieces) - 1


def to_line(words: Sequence[Word]) -> PrintedLine:
    pieces: list[list[Word]] = []
    for word in words:
        if pieces and not _parts(pieces[-1], word):
            pieces[-1].append(word)
        else:
            pieces.append([word])
    return PrintedLine(tuple(Piece(tuple(piece)) for piece in pieces))


def _parts(piece: Sequence[Word], word: Word) -> bool:
    """Whether a new cell begins with the word."""
    before = piece[-1]
    gap = (word.left - before.right) / max(before.height, word.height)
    if gap >= CELL_GAP:
        return True
    return gap >= FIGURE_GAP and is_number(before.text) and is_number(word.text) and len(piece) == 1


def is_number(text: str) -> bool:
    """Whether it may be a figure in a cell of its own: a zero before other digits makes it a part of a number that
    people dial.
    """
    if len(text) > 1 and text.isdecimal() and text.startswith("0"):
        return False
    return (is_data(text) and any(map(str.isdigit, text))) or text in ("—", "–", "-", "†", "‡", "(X)", "NA")


def find_groups(lines: Sequence[PrintedLine]) -> list[tuple[int, int]]:
    """Where lines of several pieces follow each other: (first, behind the last)."""
    groups = []
    start: int | None = None
    last = 0
    for place, line in enumerate(lines):
        near = start is not None and lines[last].middle - line.middle <= LINE_GAP * max(
            line.height, lines[last].height
        ) * (place - last)
        if len(line.pieces) < 2:
            continue
        if start is not None and (not near or place - last > MAX_SINGLE + 1):
            groups.append((start, last + 1))
            start = None
        start = place if start is None else start
        last = place
    if start is not None:
        groups.append((start, last + 1))
    return groups
