"""Texts written block by block: Markdown, and the plain text of word processors, with numbers of its lists."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.domain.corpus import Heading, ParsedDocument, ParsedPage
from core.errors import ReadError
from core.text.words import collapse
from storage.documents.markup.markdown_text import read_markdown
from storage.documents.tables.text import to_table
from storage.documents.texts.encodings import clean, say_hidden
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
        self.unseen = 0  # characters of invisible text, which are left out

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
        dated: str | None = None,
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
            dated=dated,
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


# Letters of one number: the 27th item is "aa", the 53rd "aaa".
MAX_LETTERS = 60

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


def to_number(number: int, form: str) -> str:
    """Return a number as letters, Roman or decimal, as the list requests."""
    if form in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, MAX_LETTERS)
        return letter.upper() if form == "upperLetter" else letter
    if form in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        return _to_roman(number).upper() if form == "upperRoman" else _to_roman(number)
    return "" if form == "none" else f"{number:02d}" if form == "decimalZero" else str(number)


def _to_roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        written += letters * count
    return written


_OFFICE_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00ad]")
_SPACES = re.compile(r"[^\S\n]+")
# Titles filled in by a program.
_NOT_FROM_PEOPLE = re.compile(
    r"untitled.*|(?:word )?document ?\d*|(?:powerpoint )?presentation ?\d*|microsoft (?:office )?\w+\b.*|slide ?1|title"
    r"|.*\.(?:docx?|pptx?|xlsx?|od[tps]|rtf|txt|pdf)",
    re.IGNORECASE,
)
# List marks known to the chunking; a paragraph with another mark is a block.
_MARK = re.compile(r"[-*+•]|\d{1,4}[.)]|[a-zA-Z][.)]")


class TextWriter(BlockWriter):
    """The plain text of a document, with its headings and notes."""

    def __init__(self) -> None:
        super().__init__()
        self._cited: list[tuple[int, Any]] = []  # notes whose text is not written yet
        self._note_count = 0

    def cite(self, note: Any) -> str:
        """Return the mark of a note, whose text `add_notes` writes."""
        self._note_count += 1
        self._cited.append((self._note_count, note))
        return f"[^{self._note_count}]"

    def add_notes(self, to_text: Callable[[Any], str]) -> None:
        """Add the notes cited since the last call as paragraphs."""
        cited, self._cited = self._cited, []
        for number, note in cited:
            self.add_paragraph(f"[^{number}]: {to_text(note)}")

    def add_paragraph(self, text: str) -> None:
        """Add a paragraph with its line breaks; white space is ignored."""
        self._put(to_lines(text))

    def add_heading(self, level: int, title: str) -> None:
        title = collapse(to_lines(title))
        self._put_heading(level, title, title)

    def add_item(self, text: str, *, level: int = 0, mark: str = "-") -> None:
        """Add an item of a list; `level` counts from 0, `mark` is its bullet or number."""
        mark = collapse(_without_controls(mark)) or "-"
        indent = "  " * min(max(level, 0), 8) if self._pieces else ""
        self._put_item(to_lines(text), indent=indent, mark=mark, is_item=bool(_MARK.fullmatch(mark)))

    def add_table(self, rows: Sequence[Sequence[str]], *, columns: Sequence[str] | None = None) -> None:
        """Add rows as a Markdown table (see `to_table`), or the cells of a single column as paragraphs."""
        if columns is None and all(len(row) < 2 or not any(cell.strip() for cell in row[1:]) for row in rows):
            for row in rows:
                self.add_paragraph(row[0] if row else "")
        else:
            self._put(to_table([[_without_controls(cell) for cell in row] for row in rows], columns=columns))

    def to_office_document(
        self,
        path: Path,
        kind: str,
        titles: Sequence[str],
        warnings: Sequence[str] = (),
        created: str | None = None,
    ) -> ParsedDocument:
        """Return the document (see `to_document`); its only heading of level 1 is a title, too."""
        tops = [heading.title for heading in self.headings if heading.level == 1]
        empty = "the document has no text; what pictures show is not read"
        titles = [*titles, *tops[: len(tops) == 1]]
        hidden = say_hidden(self.unseen)
        document = self.to_document(path, kind, titles, empty=empty, warnings=(*warnings, *hidden))
        return replace(document, hidden=hidden, created=created)


def to_lines(text: str) -> str:
    """Return text without control characters, soft hyphens, repeated blanks and blanks at the ends of lines."""
    lines = _SPACES.sub(" ", _without_controls(text)).split("\n")
    return "\n".join(line.strip() for line in lines).strip("\n")


def to_title(text: str | None) -> str:
    """Return the title field of a document, "" if a program filled it in."""
    title = collapse(to_lines(text or ""))
    return "" if _NOT_FROM_PEOPLE.fullmatch(title) else title


def _without_controls(text: str) -> str:
    return _OFFICE_CONTROLS.sub("", clean(text).replace("\x0b", "\n"))
