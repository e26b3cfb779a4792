"""Word documents: text, headings, lists, tables and notes."""

import re
import zipfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from core.text.words import collapse
from storage.documents.markup.writers import TextWriter, to_number, to_title
from storage.documents.office.office_files import (
    as_transitional,
    check_office,
    created_on,
    inside,
    is_office,
    outermost,
    parse_part,
)
from storage.documents.tables.text import Merge, fill_merged

LEVELS = 9
BULLET = "-"
# Longer numbers are not list numbers.
_MAX_SHOWN = 60
_PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class Level:
    """How one level of a list is numbered: `shown` holds %1 for the number of level 1, and so on."""

    form: str = "bullet"
    shown: str = ""
    start: int = 1


@dataclass(slots=True)
class _List:
    levels: Mapping[int, Level]
    counts: dict[int, int] = field(default_factory=dict)  # by level: the last number given


class Lists:
    """Hands out marks in document order: "-", "3.", "2.1", "(b)"."""

    def __init__(self, numbering: Any) -> None:
        """`numbering` is the root of the numbering part, None without one."""
        self._lists: dict[str, _List] = {}
        self._of: dict[str, str] = {}
        self._restarts: dict[str, dict[int, int]] = {}
        for element in numbering if numbering is not None else ():
            if element.tag == name("abstractNum"):
                self._lists[element.get(name("abstractNumId"), "")] = _List(_read_levels(element))
            elif element.tag == name("num"):
                number = element.get(name("numId"), "")
                self._of[number] = _value(element, "abstractNumId")
                self._restarts[number] = {
                    _number(change.get(name("ilvl")), 0): _number(_value(change, "startOverride"), 1)
                    for change in element.iterchildren(name("lvlOverride"))
                    if change.find(name("startOverride")) is not None
                }

    def mark(self, number: str, level: int) -> str:
        """Return the number or bullet of the next paragraph of list `number` at `level` (from 0); "" for no list."""
        found = self._lists.get(self._of.get(number, ""))
        if found is None or not 0 <= level < LEVELS:
            return BULLET if number not in ("", "0") else ""
        for restarted, start in self._restarts.pop(number, {}).items():
            found.counts[restarted] = start - 1
        form = found.levels.get(level, Level())
        found.counts[level] = found.counts.get(level, form.start - 1) + 1
        found.counts = {place: count for place, count in found.counts.items() if place <= level}
        if form.form == "bullet":
            return BULLET
        return _PLACE.sub(lambda match: _counted(found, int(match[1]) - 1), form.shown)[:_MAX_SHOWN].strip()


def _read_levels(element: Any) -> dict[int, Level]:
    return {
        _number(level.get(name("ilvl")), 0): Level(
            form=_value(level, "numFmt") or "decimal",
            shown=_value(level, "lvlText"),
            start=_number(_value(level, "start"), 1),
        )
        for level in element.iterchildren(name("lvl"))
    }


def _counted(found: _List, level: int) -> str:
    form = found.levels.get(level, Level("decimal"))
    return to_number(found.counts.get(level, form.start), form.form)


def _number(text: str | None, default: int) -> int:
    return int(text) if text and re.fullmatch(r"-?[0-9]{1,9}", text) else default


# Columns of a table: Word allows 63, and a file may claim any number.
MAX_COLUMNS = 64
# Styles a style may be based on, one on the other: more is a circle.
_MAX_BASES = 12

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_CONTENTS = re.compile(r"toc (?:\d|heading)|table of figures|index \d", re.IGNORECASE)


def name(local: str) -> str:
    """Return a name in the name space of Word's own elements."""
    return _WORD + local


# Elements that are not read: deleted and moved text, field codes, and drawings for old programs.
_SKIPPED = frozenset([*map(name, ("del", "moveFrom", "instrText", "delText", "pPr", "rPr", "txbxContent")), _FALLBACK])
_BREAKS = {name("br"): "\n", name("cr"): "\n", name("tab"): " ", name("noBreakHyphen"): "-", name("ptab"): " "}
_HIDDEN_SIZE = 2  # half points
_COLOURED = (name("tbl"), name("txbxContent"))  # may have a background of their own
_WRAPPERS = frozenset(map(name, ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag")))
_NOTES = {name("footnoteReference"): "footnotes", name("endnoteReference"): "endnotes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The role of a paragraph's style in the document."""

    name: str
    level: int = 0  # of a heading, from 1; 0: none
    number: str = ""  # of its list
    depth: int = 0


class BodyReader:
    """Writes a body element by element; `title` is the text of the first paragraph in the style Title."""

    def __init__(self, styles: Any, lists: Lists, notes: Mapping[str, Mapping[str, Any]]) -> None:
        """`notes` has the elements of "footnotes" and "endnotes" by id."""
        self.writer = TextWriter()
        self.title = ""
        self._hiding_styles = read_hiding_styles(styles)
        self._styles = read_styles(styles)
        self._lists = lists
        self._notes = notes

    def write(self, container: Any) -> None:
        """Write all blocks of a body, a cell or a text box; a note follows the block that cites it."""
        for element in _blocks(container):
            if element.tag == name("p"):
                self._write_paragraph(element)
            else:
                self._write_table(element)
            self.writer.add_notes(self._cell_text)

    def _write_paragraph(self, paragraph: Any) -> None:
        style = self._style(paragraph)
        if _CONTENTS.fullmatch(style.name):
            return
        mark = self._lists.mark(style.number, style.depth)
        text = self._text(paragraph)
        if style.name.lower() == "title" and not self.title:
            self.title = collapse(text)
        if style.level:
            self.writer.add_heading(style.level, f"{mark} {text}" if mark and text.strip() and mark != "-" else text)
        elif mark:
            self.writer.add_item(text, level=style.depth, mark=mark)
        else:
            self.writer.add_paragraph(text)
        for box in outermost(paragraph, name("txbxContent"), but_in=_FALLBACK):
            self.write(box)

    def _write_table(self, table: Any) -> None:
        rows = [list(_cells(row)) for row in _rows(table) if row.find(f"{name('trPr')}/{name('del')}") is None]
        if all(len(cells) == 1 for cells in rows):  # a frame around text, or a list in boxes
            for cells in rows:
                self.write(cells[0])
        else:
            self.writer.add_table(self._to_grid(rows))

    def _to_grid(self, rows: list[list[Any]]) -> list[list[str]]:
        grid: list[list[str]] = []
        merges: list[Merge] = []
        open_merges: dict[int, Merge] = {}  # by column: cells that may continue in the next row
        for place, cells in enumerate(rows):
            line: list[str] = []
            going_on: dict[int, Merge] = {}
            for cell in cells:
                column, span = len(line), min(_span(cell), MAX_COLUMNS - len(line))
                merge = cell.find(f"{name('tcPr')}/{name('vMerge')}")
                above = open_merges.get(column)
                if merge is not None and merge.get(name("val")) != "restart" and above:
                    merge_now = Merge(above.row, column, above.rows + 1, above.columns)
                    text = ""
                else:
                    merge_now = Merge(place, column, 1, span)
                    text = self._cell_text(cell)
                if merge is not None:
                    going_on[column] = merge_now
                merges.append(merge_now)
                line += [text, *[""] * (span - 1)][:span]
            open_merges = going_on
            grid.append(line)
        return fill_merged(grid, merges)

    def _cell_text(self, cell: Any) -> str:
        """Return the blocks of a cell on one line; of a table inside it, each row after the other."""
        pieces = []
        for element in _blocks(cell):
            if element.tag == name("p"):
                style = self._style(element)
                mark = self._lists.mark(style.number, style.depth)
                text = collapse(self._text(element))
                pieces.append(f"{mark} {text}" if mark and text else text)
            else:
                rows = [[self._cell_text(inner) for inner in _cells(row)] for row in _rows(element)]
                pieces.append("; ".join(", ".join(filter(None, row)) for row in rows if any(row)))
        return " ".join(filter(None, pieces))

    def _text(self, element: Any) -> str:
        return "".join(self._pieces(element))

    def _pieces(self, element: Any) -> Iterator[str]:
        for child in element:
            if child.tag in _SKIPPED or not isinstance(child.tag, str):
                continue
            if child.tag in (name("t"), _MATH_TEXT):
                yield child.text or ""
            elif child.tag in _BREAKS:
                yield _BREAKS[child.tag]
            elif child.tag in _NOTES:
                note = self._notes.get(_NOTES[child.tag], {}).get(child.get(name("id"), ""))
                yield "" if note is None else self.writer.cite(note)
            elif child.tag != name("r") or not _is_hidden(child, self._hiding_styles):
                yield from self._pieces(child)
            else:
                self.writer.unseen += sum(len(text.text or "") for text in child.iter(name("t")))

    def _style(self, paragraph: Any) -> Style:
        properties = paragraph.find(name("pPr"))
        if properties is None:
            return self._styles.get("", Style(name=""))
        base = self._styles.get(_value(properties, "pStyle"), self._styles.get("", Style(name="")))
        return _with_properties(base, properties)


def _is_hidden(run: Any, styles: Collection[str]) -> bool:
    """Return whether a run can't be seen: it is marked so, a point high or less, or white on the page itself.

    `styles` are ids of styles that hide their text.
    """
    properties = run.find(name("rPr"))
    vanishes = None if properties is None else _vanishes(properties)
    if vanishes is None and styles:
        paragraph = next(run.iterancestors(name("p")), None)
        of_paragraph = None if paragraph is None else paragraph.find(name("pPr"))
        named = [
            "" if item is None else _value(item, kind)
            for item, kind in ((properties, "rStyle"), (of_paragraph, "pStyle"))
        ]
        vanishes = any(style in styles for style in named)
    if vanishes or properties is None:
        return bool(vanishes)
    size = _value(properties, "sz")
    if size.isdecimal() and int(size) <= _HIDDEN_SIZE:
        return True
    if _value(properties, "color").upper() != "FFFFFF":
        return False
    coloured = any(properties.find(name(tag)) is not None for tag in ("shd", "highlight"))
    paragraph = next(run.iterancestors(name("p")), None)
    shaded = paragraph is not None and paragraph.find(f"{name('pPr')}/{name('shd')}") is not None
    return not (coloured or shaded) and next(run.iterancestors(*_COLOURED), None) is None


def _vanishes(properties: Any) -> bool | None:
    """Return whether text of these properties is hidden, None if they don't say."""
    vanish = properties.find(name("vanish"))
    return None if vanish is None else vanish.get(name("val"), "1") not in ("0", "false", "off")


def read_hiding_styles(styles: Any) -> frozenset[str]:
    """Return the ids of styles whose text is hidden, by their own properties or those they inherit."""
    elements = {style.get(name("styleId"), ""): style for style in styles.iterchildren(name("style"))}

    def hides(style: Any, depth: int = 0) -> bool:
        properties = style.find(name("rPr"))
        said = None if properties is None else _vanishes(properties)
        base = elements.get(_value(style, "basedOn"))
        if said is not None or base is None or depth == _MAX_BASES:
            return bool(said)
        return hides(base, depth + 1)

    return frozenset(style_id for style_id, style in elements.items() if hides(style))


def read_styles(styles: Any) -> dict[str, Style]:
    """Return the paragraph styles by id, each with the properties it inherits; "" is the default one."""
    elements = {style.get(name("styleId"), ""): style for style in styles.iterchildren(name("style"))}
    found = {}
    for style_id, element in elements.items():
        chain = [element]
        while len(chain) < _MAX_BASES and (base := elements.get(_value(chain[-1], "basedOn"))) is not None:
            chain.append(base)
        style = Style(name=_value(element, "name"))
        for link in reversed(chain):
            title = _value(link, "name")
            heading = _HEADING.fullmatch(title)
            level = int(heading[1]) if heading else 1 if title.lower() == "title" else style.level
            style = replace(style, level=level)
            properties = link.find(name("pPr"))
            style = style if properties is None else _with_properties(style, properties)
        found[style_id] = style
        if element.get(name("default")) in ("1", "true") and element.get(name("type")) == "paragraph":
            found[""] = style
    return found


def _with_properties(style: Style, properties: Any) -> Style:
    outline = _value(properties, "outlineLvl")
    level = style.level if not outline.isdecimal() else int(outline) + 1 if int(outline) < 9 else 0
    numbering = properties.find(name("numPr"))
    if numbering is None:
        return replace(style, level=level)
    number = _value(numbering, "numId") or style.number
    depth = _value(numbering, "ilvl")
    return replace(
        style,
        level=level,
        number="" if number == "0" else number,
        depth=int(depth) if depth.isdecimal() and len(depth) < 3 else style.depth,
    )


def _blocks(container: Any) -> Iterator[Any]:
    """Yield paragraphs and tables, including those in content controls and tracked insertions."""
    return inside(container, (name("p"), name("tbl")), _WRAPPERS)


def _rows(table: Any) -> Iterator[Any]:
    return inside(table, (name("tr"),), _WRAPPERS)


def _cells(row: Any) -> Iterator[Any]:
    return inside(row, (name("tc"),), _WRAPPERS)


def _span(cell: Any) -> int:
    properties = cell.find(name("tcPr"))
    span = "" if properties is None else _value(properties, "gridSpan")
    return max(1, int(span)) if span.isdecimal() and len(span) < 4 else 1


def _value(element: Any, local: str) -> str:
    found: Any = element.find(name(local))
    return "" if found is None else str(found.get(name("val"), ""))


WHAT = "Word document"
_LINKED = ("numbering", "footnotes", "endnotes")


class DocxReader:
    """Reads `.docx`; a page for each top-level section, without table of contents, headers, footers, deleted text."""

    kind = "docx"
    suffixes = frozenset({".docx"})
    expects = "a Word document"

    def accepts(self, path: Path, head: bytes) -> bool:
        return is_office(head)

    def read(self, path: Path, root: Path) -> ParsedDocument:
        check_office(path, WHAT, newer=".docx")
        parts = _read_parts(path)
        body = BodyReader(parts.styles, Lists(parts.linked.get("numbering")), _notes(parts))
        body.write(parts.body)
        titles = [body.title, to_title(parts.title)]
        return body.writer.to_office_document(path, self.kind, titles, created=parts.created)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The XML elements of the file; `linked` by the kind of link to them."""

    body: Any
    styles: Any
    linked: Mapping[str, Any]
    title: str
    created: str | None


def _read_parts(path: Path) -> _Parts:
    import docx
    from docx.opc.exceptions import OpcError
    from lxml.etree import LxmlError

    try:
        with as_transitional(path, WHAT) as file:
            document = docx.Document(file)
        return _Parts(
            body=document.element.body,
            styles=document.styles.element,
            linked={kind: part for kind in _LINKED if (part := _part(document, kind)) is not None},
            title=document.core_properties.title,
            created=created_on(document.core_properties),
        )
    # The library trusts the file: an AttributeError means an unexpected element.
    except (OpcError, LxmlError, zipfile.BadZipFile, KeyError, ValueError, AttributeError) as error:
        raise ReadError(f"corrupt: not a readable {WHAT} ({error})") from error


def _part(document: Any, kind: str) -> Any:
    for relation in document.part.rels.values():
        if relation.reltype.endswith(f"/{kind}") and not relation.is_external:
            return parse_part(relation.target_part.blob, kind, WHAT)
    return None


def _notes(parts: _Parts) -> dict[str, dict[str, Any]]:
    return {kind: {note.get(name("id"), ""): note for note in parts.linked.get(kind, ())} for kind in _LINKED[1:]}
