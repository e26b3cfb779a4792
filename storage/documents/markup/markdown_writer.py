"""Markdown written block by block, with blank lines between them, for formats that are not text."""

import re
from collections.abc import Sequence

from core.domain.corpus import Heading
from core.text.words import collapse
from storage.documents.tables.text import to_table
from storage.documents.texts.encodings import clean

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TICKS = re.compile(r"`{3,}")


class MarkdownWriter:
    """Blocks of text. Headings of the text itself are known by their places; those inside `add` are not."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._anchors: list[tuple[str, int]] = []
        self._in_list = False

    def add(self, block: str) -> int | None:
        """Add Markdown unchanged; return its position, or None for white space, which is not written."""
        return self._put(tidy(block))

    def add_heading(self, level: int, title: str, *, anchors: Sequence[str] = ()) -> None:
        """A heading of level 1 to 6, and the names by which links lead to it."""
        title = collapse(tidy(title))
        level = min(max(level, 1), 6)
        start = self._put(f"{'#' * level} {title}" if title else "")
        if start is not None:
            self._headings.append(Heading(level=level, title=title, start=start))
            self._anchors += [(name, start) for name in anchors]

    def add_item(self, text: str, *, level: int = 0, mark: str = "-") -> int | None:
        """An item of a list, directly under the one before it; `level` counts from 0. Gives its place."""
        text = tidy(text).strip()
        indent = "  " * level
        broken = f"\n{indent}{' ' * (len(mark) + 1)}"
        return self._put(f"{indent}{mark} {text.replace(chr(10), broken)}", is_item=True) if text else None

    def add_code(self, code: str, language: str = "") -> None:
        """Lines in a fence longer than any inside."""
        code = tidy(code).strip("\n")
        if code.strip():
            fence = "`" * max(3, *(len(run) + 1 for run in _TICKS.findall(code)), 3)
            self._put(f"{fence}{language}\n{code}\n{fence}")

    def add_table(self, rows: Sequence[Sequence[str]], *, columns: Sequence[str] | None = None) -> None:
        """Rows as a Markdown table, see `to_table`; `columns` is its header, else the first row is."""
        self._put(to_table([[tidy(cell) for cell in row] for row in rows], columns=columns))

    def finish(self) -> tuple[str, tuple[Heading, ...], tuple[tuple[str, int], ...]]:
        """The text, without white space at its ends, its headings and anchors in text order."""
        return "".join(self._pieces), tuple(self._headings), tuple(self._anchors)

    def _put(self, block: str, *, is_item: bool = False) -> int | None:
        block = block.strip("\n").rstrip()
        if not block.strip():
            return None
        gap = "" if not self._pieces else "\n" if is_item and self._in_list else "\n\n"
        self._in_list = is_item
        self._pieces += [gap, block]
        self._length += len(gap) + len(block)
        return self._length - len(block)


def tidy(text: str) -> str:
    """Text that can be stored, without control characters; blanks at the ends of lines go."""
    return "\n".join(line.rstrip() for line in _CONTROLS.sub("", clean(text)).split("\n"))
