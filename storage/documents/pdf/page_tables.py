"""Tables as they are found on a page by the places of words: cells of words, before they are text. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from storage.documents.pdf.layout import Word

# Share of the lower one's height by which two words overlap when they stand on one line.
_OVERLAP = 0.5

# Characters of a cell up to which it may end with such dots.
MAX_LEADERS = 500
# Dots that lead from a label to its figure.
_LEADERS = re.compile(r"(?:[ ]?[.·…]){3,}$")

Cell = tuple[Word, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTable:
    """A table on a page, from top to bottom; `edges` are the left ends of its columns and the right end of the last."""

    header: tuple[str, ...]  # the columns' names; all empty where it has none
    rows: tuple[tuple[Cell, ...], ...]
    texts: tuple[tuple[str, ...], ...]  # what the rows' cells say, those of merged cells in each place they cover
    words: tuple[Word, ...]  # all of it, the header's too
    edges: tuple[float, ...]
    is_ruled: bool
    is_doubtful: bool = False  # ruled, but what stands in its cells looks like several columns

    @property
    def top(self) -> float:
        return max(word.top for word in self.words)

    @property
    def bottom(self) -> float:
        return min(word.bottom for word in self.words)


def to_lines(words: Iterable[Word]) -> list[list[Word]]:
    """The words of each line from left to right, the lines from top to bottom."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (-word.middle, word.left)):
        place = next((line for line in reversed(lines[-3:]) if _on_one_line(line, word)), None)
        if place is None:
            lines.append([word])
        else:
            place.append(word)
    return [sorted(line, key=lambda word: (word.left, word.order)) for line in lines]


def to_text(words: Iterable[Word]) -> str:
    """What a cell says; its lines are joined by a space, or by nothing where they stand that close."""
    text = ""
    for line in to_lines(words):
        before: Word | None = None
        for word in line:
            close = before is not None and word.left - before.right < before.height * 0.1
            text += word.text if not text or close else f" {word.text}"
            before = word
    text = text.replace("\ufffe", "-")
    return _LEADERS.sub("", text) if len(text) < MAX_LEADERS else text


def _on_one_line(line: Sequence[Word], word: Word) -> bool:
    first = max(line, key=lambda other: other.height)
    overlap = min(first.top, word.top) - max(first.bottom, word.bottom)
    return overlap >= min(first.height, word.height) * _OVERLAP
