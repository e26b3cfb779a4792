"""OpenDocument texts: text, headings, lists, tables and notes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from core.text.words import collapse
from storage.documents.archives import open_archive
from storage.documents.markup.writers import TextWriter, to_number, to_title
from storage.documents.office.office_files import check_office, inside, is_office, outermost, parse_part
from storage.documents.tables.text import Merge, fill_merged

# Columns, rows and blanks that one element may stand for: a file may claim any number.
MAX_COLUMNS = 256
MAX_REPEATED_ROWS = 1_000
MAX_BLANKS = 100
_MAX_BASES = 12

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_POINTS = re.compile(r"(\d++(?:\.\d++)?)pt")
_TINY = 1.0  # points
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"

BODY = f"{_OFFICE}body/{_OFFICE}text"
_BLOCKS = frozenset({f"{_TEXT}p", f"{_TEXT}h", f"{_TEXT}list", f"{_TABLE}table"})
_WRAPPERS = frozenset(
    {f"{_TEXT}section", f"{_TEXT}numbered-paragraph", f"{_DRAW}text-box", f"{_DRAW}frame", f"{_DRAW}g"}
)
# Elements that are not text of the document: deleted text, comments, ruby, alternative texts of pictures.
_SKIPPED = frozenset(
    {f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}ruby-text", f"{_DRAW}frame", f"{_DRAW}g"}
)
_COLOURED = (f"{_TABLE}table-cell", f"{_DRAW}text-box")  # they may have a background
_ROWS = frozenset(f"{_TABLE}{name}" for name in ("table-header-rows", "table-rows", "table-row-group"))
_FORMS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}


class _Visibility(Enum):
    """The visibility of a style's letters."""

    FULL = "full"
    WHITE = "white"  # none on a white page
    NONE = "none"


@dataclass(slots=True)
class _List:
    """One list with its levels (the elements of its style) and, by level, the last number given."""

    levels: Mapping[int, Any]
    counts: dict[int, int] = field(default_factory=dict)


class OdtBodyReader:
    """Writes a body element by element; `title` is the text of the first paragraph in the style Title."""

    def __init__(self, *style_parts: Any) -> None:
        """`style_parts`: the roots of content.xml and styles.xml."""
        self.writer = TextWriter()
        self.title = ""
        self._bases: dict[str, str] = {}
        self._properties: dict[str, Any] = {}  # of the letters, by style
        self._visibility: dict[str, _Visibility] = {}  # likewise
        self._list_styles: dict[str, dict[int, Any]] = {}
        self._lists: dict[str, _List] = {}  # by id and by style, to be continued by a later list
        for root in style_parts:
            for style in root.iter(f"{_STYLE}style"):
                name = style.get(f"{_STYLE}name", "")
                self._bases[name] = style.get(f"{_STYLE}parent-style-name", "")
                for properties in style.iterchildren(f"{_STYLE}text-properties"):
                    self._properties[name] = properties
            for style in root.iter(f"{_TEXT}list-style"):
                levels = {_count(level, f"{_TEXT}level", 1, 10): level for level in style if isinstance(level.tag, str)}
                self._list_styles[style.get(f"{_STYLE}name", "")] = levels

    def write(self, container: Any) -> None:
        """Write all blocks of a body, a cell or a text box; a note follows the block that cites it."""
        for element in _blocks(container):
            if next(filter(self._is_unseen, element.iterancestors(f"{_TEXT}section")), None) is not None:
                self.writer.unseen += len("".join(element.itertext()))
            elif element.tag == f"{_TEXT}list":
                found = self._list_of(element)
                for text, level, mark in self._items(element, found, 0):
                    if isinstance(text, str):
                        self.writer.add_item(text, level=level, mark=mark) if mark else self.writer.add_paragraph(text)
                    else:
                        self.write([text])
            elif element.tag == f"{_TABLE}table":
                self._write_table(element)
            else:
                self._write_paragraph(element)
            self.writer.add_notes(self._cell_text)

    def _write_paragraph(self, paragraph: Any) -> None:
        text = self._text(paragraph)
        is_title = self._is_title(paragraph)
        if is_title and not self.title:
            self.title = collapse(text)
        if is_title or paragraph.tag == f"{_TEXT}h":
            self.writer.add_heading(_count(paragraph, f"{_TEXT}outline-level", 1, 10), text)
        else:
            self.writer.add_paragraph(text)
        for box in outermost(paragraph, f"{_DRAW}text-box"):
            self.write(box)

    def _is_title(self, paragraph: Any) -> bool:
        style = paragraph.get(f"{_TEXT}style-name", "")
        for _ in range(_MAX_BASES):
            if style == "Title":
                return True
            style = self._bases.get(style, "")
        return False

    def _is_unseen(self, element: Any) -> bool:
        """Return whether text is hidden, a point high or less, or white on the page itself."""
        if element.get(f"{_TEXT}is-hidden") == "true" or element.get(f"{_TEXT}display") == "none":
            return True
        style = element.get(f"{_TEXT}style-name", "")
        if style not in self._visibility:
            self._visibility[style] = self._visibility_of(style)
        is_white = self._visibility[style] is _Visibility.WHITE
        return self._visibility[style] is _Visibility.NONE or (
            is_white and next(element.iterancestors(*_COLOURED), None) is None
        )

    def _visibility_of(self, style: str) -> _Visibility:
        found: dict[str, str] = {}  # the nearest style that states a property decides
        for _ in range(_MAX_BASES):
            properties = self._properties.get(style)
            found = {**({} if properties is None else properties.attrib), **found}
            style = self._bases.get(style, "")
        size = _POINTS.fullmatch(found.get(f"{_FO}font-size", ""))
        if found.get(f"{_TEXT}display") == "none" or (size is not None and float(size[1]) <= _TINY):
            return _Visibility.NONE
        is_white = found.get(f"{_FO}color", "").lower() == "#ffffff"
        has_background = found.get(f"{_FO}background-color", "transparent") != "transparent"
        return _Visibility.WHITE if is_white and not has_background else _Visibility.FULL

    def _list_of(self, element: Any) -> _List:
        style = element.get(f"{_TEXT}style-name", "")
        continued = element.get(f"{_TEXT}continue-list", "")
        is_continued = element.get(f"{_TEXT}continue-numbering") == "true"
        found = self._lists.get(f"id {continued}") if continued else self._lists.get(style) if is_continued else None
        found = found or _List(self._list_styles.get(style, {}))
        self._lists[style] = found
        self._lists[f"id {element.get(_XML_ID, '')}"] = found
        return found

    def _items(self, element: Any, found: _List, depth: int) -> Iterator[tuple[Any, int, str]]:
        """Yield (text, level, mark) of each paragraph in a list, with headings and tables in it as elements."""
        for item in element:
            if item.tag not in (f"{_TEXT}list-item", f"{_TEXT}list-header"):
                continue
            mark = self._next_mark(item, found, depth) if item.tag == f"{_TEXT}list-item" else ""
            for block in _blocks(item):
                if block.tag == f"{_TEXT}list":
                    yield from self._items(block, found, depth + 1)
                elif block.tag == f"{_TEXT}p":
                    yield self._text(block), depth, mark
                    mark = ""
                else:
                    yield block, depth, ""

    def _next_mark(self, item: Any, found: _List, depth: int) -> str:
        if not any(block.tag != f"{_TEXT}list" for block in _blocks(item)):
            return ""  # it only holds a deeper list
        level = found.levels.get(depth + 1)
        start = 1 if level is None else _count(level, f"{_TEXT}start-value", 1, 1_000_000)
        given = item.get(f"{_TEXT}start-value")
        count = _count(item, f"{_TEXT}start-value", 1, 1_000_000) if given else found.counts.get(depth, start - 1) + 1
        found.counts = {place: kept for place, kept in found.counts.items() if place < depth} | {depth: count}
        if level is None or level.tag != f"{_TEXT}list-level-style-number":
            return "-"
        shown = _count(level, f"{_TEXT}display-levels", 1, depth + 1)
        numbers = [
            to_number(found.counts.get(place, 1), _FORMS.get(_format(found.levels.get(place + 1)), "none"))
            for place in range(depth + 1 - shown, depth + 1)
        ]
        number = ".".join(filter(None, numbers))
        return f"{level.get(f'{_STYLE}num-prefix', '')}{number}{level.get(f'{_STYLE}num-suffix', '')}".strip() or "-"

    def _write_table(self, table: Any) -> None:
        rows = list(_rows(table))
        if all(len(_cells(row)) == 1 for row in rows):  # a frame around text, or a list in boxes
            for row in rows:
                self.write(_cells(row)[0])
            return
        grid: list[list[str]] = []
        merges: list[Merge] = []
        for row in rows:
            line: list[str] = []
            for cell in _cells(row)[:MAX_COLUMNS]:
                across = _count(cell, f"{_TABLE}number-columns-spanned", 1, MAX_COLUMNS)
                down = _count(cell, f"{_TABLE}number-rows-spanned", 1, MAX_REPEATED_ROWS)
                merges.append(Merge(len(grid), len(line), down, across))
                is_shown = cell.tag == f"{_TABLE}table-cell"
                repeated = min(
                    _count(cell, f"{_TABLE}number-columns-repeated", 1, MAX_COLUMNS), MAX_COLUMNS - len(line)
                )
                line += [self._cell_text(cell) if is_shown else ""] * repeated
            grid += [line] * _count(row, f"{_TABLE}number-rows-repeated", 1, MAX_REPEATED_ROWS)
        self.writer.add_table(fill_merged(grid, merges))

    def _cell_text(self, cell: Any) -> str:
        """Return the blocks of a cell on one line; of a table inside it, each row after the other."""
        pieces = []
        for block in _blocks(cell):
            if block.tag == f"{_TEXT}list":
                for text, _, mark in self._items(block, self._list_of(block), 0):
                    said = collapse(text if isinstance(text, str) else self._text(text))
                    pieces.append(f"{mark} {said}" if mark and said else said)
            elif block.tag == f"{_TABLE}table":
                rows = [[self._cell_text(inner) for inner in _cells(row)] for row in _rows(block)]
                pieces.append("; ".join(", ".join(filter(None, row)) for row in rows if any(row)))
            else:
                pieces.append(collapse(self._text(block)))
        return " ".join(filter(None, pieces))

    def _text(self, element: Any) -> str:
        return "".join(self._pieces(element))

    def _pieces(self, element: Any) -> Iterator[str]:
        if self._is_unseen(element):
            self.writer.unseen += len("".join(element.itertext()))
            return
        yield element.text or ""
        for child in element:
            if child.tag == f"{_TEXT}s":
                yield " " * _count(child, f"{_TEXT}c", 1, MAX_BLANKS)
            elif child.tag == f"{_TEXT}tab":
                yield " "
            elif child.tag == f"{_TEXT}line-break":
                yield "\n"
            elif child.tag == f"{_TEXT}note":
                body = child.find(f"{_TEXT}note-body")
                yield "" if body is None else self.writer.cite(body)
            elif isinstance(child.tag, str) and child.tag not in _SKIPPED:
                yield from self._pieces(child)
            yield child.tail or ""


def _blocks(container: Any) -> Iterator[Any]:
    return inside(container, _BLOCKS, _WRAPPERS)


def _rows(table: Any) -> Iterator[Any]:
    return inside(table, (f"{_TABLE}table-row",), _ROWS)


def _cells(row: Any) -> list[Any]:
    return [cell for cell in row if cell.tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")]


def _format(level: Any) -> str:
    return "" if level is None else str(level.get(f"{_STYLE}num-format", ""))


def _count(element: Any, attribute: str, least: int, most: int) -> int:
    text = element.get(attribute, "")
    return min(max(int(text), least), most) if text.isdecimal() and len(text) < 10 else least


WHAT = "OpenDocument text"
_PARTS = ("content.xml", "styles.xml", "meta.xml")
_TITLE = "{http://purl.org/dc/elements/1.1/}title"


class OdtReader:
    """Reads `.odt` and `.ott`; a page for each top-level section, without directories, comments and deleted text."""

    kind = "odt"
    suffixes = frozenset({".odt", ".ott"})
    expects = "an OpenDocument text"

    def accepts(self, path: Path, head: bytes) -> bool:
        return is_office(head)

    def read(self, path: Path, root: Path) -> ParsedDocument:
        check_office(path, WHAT, newer=".odt")
        with open_archive(path, WHAT) as archive:
            content, styles, meta = (
                parse_part(archive.read(name), name, WHAT) if name in archive else None for name in _PARTS
            )
        found = None if content is None else content.find(BODY)
        if found is None:
            raise ReadError(f"corrupt: the {WHAT} lacks its text")
        body = OdtBodyReader(*(part for part in (content, styles) if part is not None))
        body.write(found)
        stated = next(meta.iter(_TITLE), None) if meta is not None else None
        titles = [body.title, to_title("" if stated is None else stated.text)]
        return body.writer.to_office_document(path, self.kind, titles)
