"""Markdown written block by block, with blank lines between them, for formats that are not text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from core.domain.corpus import Heading, ParsedDocument, ParsedPage
from core.errors import ReadError
from core.text.words import collapse
from storage.documents.markup.markdown_text import read_markdown
from storage.documents.tables.text import to_table
from storage.documents.texts.encodings import clean
from storage.documents.texts.sections import split_sections

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TICKS = re.compile(r"`{3,}")


class BlockWriter:
    """Text written block by block, with blank lines between them, except between the items of a list."""

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self._anchors: list[tuple[str, int]] = []
        self._pieces: list[str] = []
        self._length = 0
        self._in_list = False

    @property
    def text(self) -> str:
        """The text so far, without white space at its ends."""
        return "".join(self._pieces)

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

    def _put_heading(self, level: int, title: str, written: str) -> int | None:
        start = self._put(written if title else "")
        if start is not None:
            self.headings.append(Heading(level=min(max(level, 1), 6), title=title, start=start))
        return start

    def _put_item(self, text: str, *, indent: str, mark: str, is_item: bool = True) -> int | None:
        broken = f"\n{indent}{' ' * (len(mark) + 1)}"
        return self._put(f"{indent}{mark} {text.replace(chr(10), broken)}" if text else "", is_item=is_item)

    def to_page(
        self, title: str, *, heading_path: tuple[str, ...] = (), number: int | None = None, deep_link: str | None = None
    ) -> ParsedPage:
        """Return the whole text as a page."""
        return ParsedPage(
            title=title, text=self.text, headings=tuple(self.headings), heading_path=heading_path,
            anchors=tuple(self._anchors), number=number, deep_link=deep_link,
        )  # fmt: skip

    def to_document(
        self,
        path: Path,
        kind: str,
        titles: Sequence[str],
        *,
        empty: str,
        links: Iterable[str] = (),
        warnings: Sequence[str] = (),
    ) -> ParsedDocument:
        """Return a page for each top-level section, under the first of `titles` that is not empty or the file's name.

        Raises ReadError with the reason `empty` without text.
        """
        if not self._pieces:
            raise ReadError(f"empty: {empty}")
        return ParsedDocument(
            title=next(filter(None, titles), path.stem),
            kind=kind,
            pages=split_sections(self.text, self.headings, self._anchors),
            links=tuple(dict.fromkeys(links)),
            warnings=tuple(warnings),
        )


class MarkdownWriter(BlockWriter):
    """Markdown with the positions of its headings, except those inside `add`."""

    def add(self, block: str) -> int | None:
        """Add Markdown unchanged; return its position, or None for white space, which is not written."""
        return self._put(tidy(block))

    def add_markdown(self, text: str) -> tuple[str, ...]:
        """Add Markdown with its own headings; return the targets of its wikilinks."""
        block = tidy(text).strip("\n").rstrip()
        parts = read_markdown(block)
        start = self._put(block)
        if start is not None:
            self.headings += [replace(heading, start=start + heading.start) for heading in parts.headings]
        return parts.links

    def add_heading(self, level: int, title: str, *, anchors: Sequence[str] = ()) -> None:
        """Add a heading of level 1 to 6, and the names that links use for it."""
        title = collapse(tidy(title))
        start = self._put_heading(level, title, f"{'#' * min(max(level, 1), 6)} {title}")
        if start is not None:
            self._anchors += [(name, start) for name in anchors]

    def add_item(self, text: str, *, level: int = 0, anchor: str = "") -> None:
        """Add an item of a list directly below the previous one; `level` counts from 0, `anchor` is its name."""
        start = self._put_item(tidy(text).strip(), indent="  " * level, mark="-")
        if start is not None and anchor:
            self._anchors.append((anchor, start))

    def add_code(self, code: str, language: str = "") -> None:
        """Add lines in a fence longer than any inside."""
        code = tidy(code).strip("\n")
        if code.strip():
            fence = "`" * max(3, *(len(run) + 1 for run in _TICKS.findall(code)), 3)
            self._put(f"{fence}{language}\n{code}\n{fence}")

    def add_table(self, rows: Sequence[Sequence[str]], *, columns: Sequence[str]) -> None:
        """Add rows as a Markdown table (see `to_table`)."""
        self._put(to_table([[tidy(cell) for cell in row] for row in rows], columns=columns))


def tidy(text: str) -> str:
    """Return text that can be stored, without control characters and blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in _CONTROLS.sub("", clean(text)).split("\n"))
