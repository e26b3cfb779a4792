"""Markdown written block by block, with blank lines between them, for formats that are not text."""

import re
from collections.abc import Sequence
from dataclasses import replace

from core.domain.corpus import Heading
from core.text.words import collapse
from storage.documents.markup.markdown_text import read_markdown
from storage.documents.tables.text import to_table
from storage.documents.texts.encodings import clean

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TICKS = re.compile(r"`{3,}")


class BlockWriter:
    """Text written block by block, with blank lines between them, except between the items of a list."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._in_list = False

    def _put(self, block: str, *, is_item: bool = False) -> int | None:
        """Write a block and return its position; None for white space, which is not written."""
        block = block.strip("\n").rstrip()
        if not block.strip():
            return None
        gap = "" if not self._pieces else "\n" if is_item and self._in_list else "\n\n"
        self._in_list = is_item
        self._pieces += [gap, block]
        self._length += len(gap) + len(block)
        return self._length - len(block)


class MarkdownWriter(BlockWriter):
    """Markdown with the positions of its headings, except those inside `add`."""

    def __init__(self) -> None:
        super().__init__()
        self._anchors: list[tuple[str, int]] = []

    def add(self, block: str) -> int | None:
        """Add Markdown unchanged; return its position, or None for white space, which is not written."""
        return self._put(tidy(block))

    def add_markdown(self, text: str) -> tuple[str, ...]:
        """Add Markdown with its own headings; return the targets of its wikilinks."""
        block = tidy(text).strip("\n").rstrip()
        parts = read_markdown(block)
        start = self._put(block)
        if start is not None:
            self._headings += [replace(heading, start=start + heading.start) for heading in parts.headings]
        return parts.links

    def add_heading(self, level: int, title: str, *, anchors: Sequence[str] = ()) -> None:
        """Add a heading of level 1 to 6, and the names that links use for it."""
        title = collapse(tidy(title))
        level = min(max(level, 1), 6)
        start = self._put(f"{'#' * level} {title}" if title else "")
        if start is not None:
            self._headings.append(Heading(level=level, title=title, start=start))
            self._anchors += [(name, start) for name in anchors]

    def add_item(self, text: str, *, level: int = 0, mark: str = "-") -> int | None:
        """Add an item of a list directly below the previous one and return its position; `level` counts from 0."""
        text = tidy(text).strip()
        indent = "  " * level
        broken = f"\n{indent}{' ' * (len(mark) + 1)}"
        return self._put(f"{indent}{mark} {text.replace(chr(10), broken)}", is_item=True) if text else None

    def add_code(self, code: str, language: str = "") -> None:
        """Add lines in a fence longer than any inside."""
        code = tidy(code).strip("\n")
        if code.strip():
            fence = "`" * max(3, *(len(run) + 1 for run in _TICKS.findall(code)), 3)
            self._put(f"{fence}{language}\n{code}\n{fence}")

    def add_table(self, rows: Sequence[Sequence[str]], *, columns: Sequence[str] | None = None) -> None:
        """Add rows as a Markdown table (see `to_table`); without `columns`, the first row is its header."""
        self._put(to_table([[tidy(cell) for cell in row] for row in rows], columns=columns))

    def finish(self) -> tuple[str, tuple[Heading, ...], tuple[tuple[str, int], ...]]:
        """Return the text without white space at its ends, its headings, and its anchors in text order."""
        return "".join(self._pieces), tuple(self._headings), tuple(self._anchors)


def tidy(text: str) -> str:
    """Return text that can be stored, without control characters and blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in _CONTROLS.sub("", clean(text)).split("\n"))
