"""Number formats and hidden rows and columns of spreadsheets, and Excel's XML files of 2003."""

import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any
from xml.parsers import expat

from core.errors import ReadError
from core.text.delimited import MAX_COLUMNS
from storage.documents.archives import Archive, open_archive
from storage.documents.office.office_files import MAX_AREA, column_number, parse_part
from storage.documents.tables.text import Merge, fill_merged
from storage.documents.texts.encodings import decode

# Formats that workbooks reference by number.
BUILT_IN: Mapping[int, str] = {
    5: '"$"#,##0',
    6: '"$"#,##0',
    7: '"$"#,##0.00',
    8: '"$"#,##0.00',
    9: "0%",
    10: "0.00%",
    42: '"$"#,##0',
    44: '"$"#,##0.00',
}
MOST_DECIMALS = 10

_PART = re.compile(r'"[^"]*"|\\.|\[\$[^\]]*\]|\[[^\]]*\]|_.|\*.|[0#?][0#?,.]*|.', re.DOTALL)
_SYMBOL = re.compile(r"[$€£¥₹₽₩₺₴₪₫฿¢]|\b(?:[A-Z]{3}|kr|zł|Kč|Ft|lei)\b\.?")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFormat:
    """The format of a number. `before` and `after` are the texts around it, with spaces."""

    decimals: int
    before: str = ""
    after: str = ""
    grouped: bool = False
    is_percent: bool = False

    def show(self, value: float) -> str:
        """Return the value as formatted: `-€1,200.00`, `12.5 %`."""
        number = abs(value) * 100 if self.is_percent else abs(value)
        shown = f"{number:{',' if self.grouped else ''}.{self.decimals}f}"
        minus = "-" if value < 0 and shown.strip("0.,") else ""
        return f"{minus}{self.before}{shown}{self.after}"


def read_format(code: str) -> NumberFormat | None:
    """Return the format of a code such as `0.0%` or `#,##0.00 [$€-407]`; None if it is neither percent nor currency."""
    digits, before, after, is_percent = "", "", "", False
    for part in _parts(code):
        if part[0] in "0#?":
            if digits:
                return None  # fractions, scientific: two numbers
            digits = part
            continue
        said = _said(part)
        is_percent = is_percent or part == "%"
        before, after = (before, after + said) if digits else (before + said, after)
    if not digits or not (is_percent or _SYMBOL.search(before + after)):
        return None
    return NumberFormat(
        decimals=min(len(re.sub(r"[^0#?]", "", digits.partition(".")[2])), MOST_DECIMALS),
        before=before.lstrip(" -+("),
        after=after.rstrip(" )"),
        grouped="," in digits.partition(".")[0].rstrip(","),
        is_percent=is_percent,
    )


def _parts(code: str) -> Iterator[str]:
    """Yield the parts of the section for positive numbers."""
    for match in _PART.finditer(code):
        if match[0] == ";":
            return
        yield match[0]


def _said(part: str) -> str:
    if part.startswith("[$"):
        return part[2:-1].partition("-")[0]
    if part.startswith('"'):
        return part[1:-1]
    if part.startswith("\\"):
        return part[1:]  # nothing, where a code ends in the sign itself
    return part if len(part) == 1 and (part in " %-+()" or _SYMBOL.match(part)) else ""


_WORKBOOK = "xl/workbook.xml"
_STYLES = "xl/styles.xml"
_PLACE = re.compile(r"([A-Z]{1,3})(\d{1,7})\Z")
_WHAT = "spreadsheet"


# Of a sheet that hides no row and no column: looking at each of its cells would take as long as reading them.
_MAY_HIDE = re.compile(rb"hidden|(?:ht|width)\s*+=\s*+[\"']0|visibility|display")
_CONTENT = "content.xml"


@dataclass(slots=True)
class SheetMarks:
    """Number formats of a sheet's cells, and its hidden rows and columns, which count from 0."""

    formats: dict[tuple[int, int], NumberFormat] = field(default_factory=dict)
    rows: list[range] = field(default_factory=list)
    columns: list[range] = field(default_factory=list)
    cells: set[tuple[int, int]] = field(default_factory=set)  # of formats that show nothing, or white on white

    def hides_row(self, row: int) -> bool:
        place = bisect_right(self.rows, row, key=lambda hidden: hidden.start) - 1
        return place >= 0 and row in self.rows[place]

    def hides_column(self, column: int) -> bool:
        return any(column in hidden for hidden in self.columns)


NO_MARKS = SheetMarks()


def read_sheet_marks(path: Path) -> dict[str, SheetMarks]:
    """Return marks by sheet name, for sheets that have some. Raises ReadError for a damaged part."""
    with open_archive(path, _WHAT) as archive:
        if _CONTENT in archive:
            data = archive.read(_CONTENT)
            return _read_open_document(data) if _MAY_HIDE.search(data) else {}
        if _WORKBOOK not in archive:
            return {}
        styles = _styles(archive)
        sheets = {name: part for name, part in _sheets(archive).items() if part in archive}
        return {name: _marks(archive.read(part), styles) for name, part in sheets.items()}


@dataclass(frozen=True, slots=True)
class _CellStyles:
    """The numbered cell styles: formats of numbers, styles that show nothing, and those with white letters."""

    formats: Mapping[int, NumberFormat] = field(default_factory=dict)
    blank: frozenset[int] = frozenset()
    white: frozenset[int] = frozenset()


_BLANK = re.compile(r"\s*+;;;\s*+")  # a format without any sign, for numbers and texts
_BACKGROUNDS = re.compile(rb"<(?:\w++:)?(?:tableParts?|conditionalFormatting)\b")  # of cells besides their own


def _styles(archive: Archive) -> _CellStyles:
    if _STYLES not in archive:
        return _CellStyles()
    root = parse_part(archive.read(_STYLES), _STYLES, _WHAT)
    codes = dict(BUILT_IN)
    for item in root.iterfind(".//{*}numFmts/{*}numFmt"):
        codes[_number(item.get("numFmtId"))] = item.get("formatCode") or ""
    white_fonts = {place for place, font in enumerate(root.iterfind("{*}fonts/{*}font")) if _is_white(font)}
    fills = [item.get("patternType") for item in root.iterfind("{*}fills/{*}fill/{*}patternFill")]
    unfilled = {place for place, pattern in enumerate(fills) if pattern in (None, "none")} | {-1}
    formats, blank, white = {}, set(), set()
    for place, item in enumerate(root.iterfind(".//{*}cellXfs/{*}xf")):
        code = codes.get(_number(item.get("numFmtId")), "")
        if (shown := read_format(code)) is not None:
            formats[place] = shown
        if _BLANK.fullmatch(code):
            blank.add(place)
        if _number(item.get("fontId")) in white_fonts and _number(item.get("fillId")) in unfilled:
            white.add(place)
    return _CellStyles(formats, frozenset(blank), frozenset(white))


def _is_white(font: Any) -> bool:
    color = font.find("{*}color")
    return color is not None and (color.get("rgb", "").upper() == "FFFFFFFF" or color.get("theme") == "0")


def _sheets(archive: Archive) -> dict[str, str]:
    """Name -> part."""
    relations = posixpath.join("xl/_rels", "workbook.xml.rels")
    if relations not in archive:
        return {}
    targets = {
        item.get("Id"): posixpath.normpath(posixpath.join("xl", item.get("Target") or "")).removeprefix("/")
        for item in parse_part(archive.read(relations), relations, _WHAT)
    }
    named = parse_part(archive.read(_WORKBOOK), _WORKBOOK, _WHAT).iterfind(".//{*}sheets/{*}sheet")
    return {item.get("name") or "": targets.get(_relation(item), "") for item in named}


def _relation(sheet: Any) -> str | None:
    return next((value for name, value in sheet.attrib.items() if name.endswith("}id")), None)


def _marks(data: bytes, styles: _CellStyles) -> SheetMarks:
    """Stream a sheet: it may have a million cells, most of them without such a style."""
    found = SheetMarks()
    unseen = styles.blank | (styles.white if _BACKGROUNDS.search(data) is None else frozenset())
    if not styles.formats and not unseen and _MAY_HIDE.search(data) is None:
        return found
    row = -1

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal row
        local = tag.rpartition(":")[2]
        if local == "c" and "s" in attributes:
            style, place = _number(attributes["s"]), _PLACE.match(attributes.get("r", ""))
            if place is not None and (style in styles.formats or style in unseen):
                at = int(place[2]) - 1, column_number(place[1]) - 1
                if style in unseen:
                    found.cells.add(at)
                else:
                    found.formats[at] = styles.formats[style]
        elif local == "row":
            stated = _number(attributes.get("r"))
            row = stated - 1 if stated > 0 else row + 1
            if _is_hidden(attributes, "ht"):
                found.rows.append(range(row, row + 1))
        elif local == "col" and _is_hidden(attributes, "width"):
            found.columns.append(range(_number(attributes.get("min")) - 1, _number(attributes.get("max"))))

    _stream(data, begin)
    found.rows.sort(key=lambda hidden: hidden.start)
    return found


def _is_hidden(attributes: Mapping[str, str], size: str) -> bool:
    return (
        attributes.get("hidden") in ("1", "true") or re.fullmatch(r"0(?:\.0*+)?", attributes.get(size, "")) is not None
    )


def _read_open_document(data: bytes) -> dict[str, SheetMarks]:
    """Return the hidden rows and columns of an OpenDocument by sheet name, also filtered and closed ones."""
    sheets: dict[str, SheetMarks] = {}
    open_tables: list[SheetMarks] = []  # a cell may have a table
    row = column = closed = 0

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal row, column, closed
        local = tag.rpartition(":")[2]
        values = {name.rpartition(":")[2]: value for name, value in attributes.items()}
        if tag.startswith("table:") and local == "table":
            open_tables.append(SheetMarks())
            if len(open_tables) == 1:
                row = column = closed = 0
                sheets[values.get("name", "")] = open_tables[0]
        if len(open_tables) != 1:
            return
        is_hidden = closed > 0 or values.get("visibility") in ("collapse", "filter")
        if local in _GROUPS:
            closed += closed > 0 or values.get("display") == "false"
        elif local == "table-row":
            count = max(_number(values.get("number-rows-repeated")), 1)
            open_tables[0].rows += [range(row, row + count)] * is_hidden
            row += count
        elif local == "table-column":
            count = max(_number(values.get("number-columns-repeated")), 1)
            open_tables[0].columns += [range(column, column + count)] * is_hidden
            column += count

    def end(tag: str) -> None:
        nonlocal closed
        if tag == "table:table" and open_tables:
            open_tables.pop()
        elif len(open_tables) == 1 and tag.rpartition(":")[2] in _GROUPS:
            closed = max(closed - 1, 0)

    _stream(data, begin, end)
    return sheets


_GROUPS = frozenset({"table-row-group", "table-column-group"})


def _stream(
    data: bytes, begin: Callable[[str, dict[str, str]], None], end: Callable[[str], None] | None = None
) -> None:
    parser = expat.ParserCreate()
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ReadError(f"corrupt: not a readable {_WHAT} ({error})") from error


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isascii() and text.isdigit() else -1


SUFFIX = ".xls"

_NAMESPACE = "urn:schemas-microsoft-com:office:spreadsheet"
_SS = f"{{{_NAMESPACE}}}"
_PAGE = re.compile(
    r"\s*+(?:<!--(?:[^-]++|-(?!->))*+-->\s*+)*+<(?:!doctype\s++html|html|head|body|meta|style|table|div)\b", re.I
)
_XML = re.compile(r"\s*+(?:<\?(?:[^?]++|\?(?!>))*+\?>\s*+)*+<(?:\w++:)?Workbook\b")
_DECLARED = re.compile(r"(?<!\s)\s*+<\?xml[^<>]*+(?<=\?)>\s*+(?=<(?:!doctype\s+html|html))", re.I)
_CELLS = re.compile(r"[^\t;,|]+[\t;,|]")


class SheetForm(Enum):
    WEB_PAGE = "web page"
    PLAIN = "plain text"
    XML = "Excel's XML of 2003"


def form_of(head: bytes) -> SheetForm | None:
    """Return the form of a text file named .xls, by its first bytes; None for a real workbook, and for no text."""
    try:
        text = decode(head).text
    except ReadError:
        return None
    if _PAGE.match(_DECLARED.sub("", text)):
        return SheetForm.WEB_PAGE
    if text.lstrip().startswith("<"):
        return SheetForm.XML if _XML.match(text) and _NAMESPACE in text else None
    lines = [line for line in text.split("\n")[:20] if line.strip()]
    return SheetForm.PLAIN if sum(bool(_CELLS.match(line)) for line in lines) * 2 > len(lines) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A sheet without hidden rows and columns; `hidden_rows` and `hidden_columns` count the ones with text."""

    name: str
    is_hidden: bool
    rows: Sequence[Sequence[str]] = ()
    hidden_rows: int = 0
    hidden_columns: int = 0
    hidden_cells: int = 0


def shown_sheet(name: str, rows: list[list[str]], marks: SheetMarks, top: int = 0, left: int = 0) -> Sheet:
    """Return a sheet that is shown; `top` and `left` are the place of its first cell."""
    hidden_cells = 0
    for row, column in marks.cells:
        if 0 <= row - top < len(rows) and 0 <= column - left < len(rows[row - top]):
            hidden_cells += bool(rows[row - top][column - left].strip())
            rows[row - top][column - left] = ""
    if not marks.rows and not marks.columns:
        return Sheet(name=name, is_hidden=False, rows=rows, hidden_cells=hidden_cells)
    kept = [row for place, row in enumerate(rows, top) if not marks.hides_row(place)]
    unseen = {place for place in range(max(map(len, rows), default=0)) if marks.hides_column(place + left)}
    return Sheet(
        name=name,
        is_hidden=False,
        rows=[[cell for place, cell in enumerate(row) if place not in unseen] for row in kept],
        hidden_rows=sum(map(_has_text, rows)) - sum(map(_has_text, kept)),
        hidden_cells=hidden_cells,
        hidden_columns=sum(any(place < len(row) and row[place].strip() for row in rows) for place in unseen),
    )


def _has_text(row: Sequence[str]) -> bool:
    return any(cell.strip() for cell in row)


def read_sheet_xml(data: bytes, what: str) -> list[Sheet]:
    """Return the sheets of a workbook in Excel's XML. Raises ReadError if it is damaged."""
    root = parse_part(data, "Workbook", what)
    sheets = []
    for number, sheet in enumerate(root.iter(f"{_SS}Worksheet"), 1):
        visible = sheet.find("{urn:schemas-microsoft-com:office:excel}WorksheetOptions/{*}Visible")
        is_hidden = visible is not None and str(visible.text).startswith("SheetHidden")
        table = sheet.find(f"{_SS}Table")
        name = sheet.get(f"{_SS}Name", f"Sheet {number}")
        if is_hidden or table is None:
            sheets.append(Sheet(name=name, is_hidden=is_hidden))
            continue
        marks = SheetMarks(columns=list(_hidden_columns(table)))
        sheets.append(shown_sheet(name, _rows(list(table.iter(f"{_SS}Row")), marks), marks))
    return sheets


def _hidden_columns(table: Any) -> Iterator[range]:
    column = 0
    for element in table.iter(f"{_SS}Column"):
        start = max(_place_number(element, "Index") - 1, column)
        column = start + 1 + _place_number(element, "Span")
        if _is_unseen(element, "Width"):
            yield range(start, column)


def _is_unseen(element: Any, size: str) -> bool:
    return _is_hidden({"hidden": element.get(f"{_SS}Hidden", ""), "size": element.get(f"{_SS}{size}", "")}, "size")


def _rows(elements: Sequence[Any], marks: SheetMarks) -> list[list[str]]:
    """Return all rows; hidden ones are added to the marks."""
    rows: list[list[str]] = []
    merges: list[Merge] = []
    area = 0
    for element in elements:
        if _place_number(element, "Index") > len(rows) + 1:
            rows.append([])  # one blank row parts tables as well as thousands do
        if _is_unseen(element, "Height"):
            marks.rows += [range(len(rows), len(rows) + 1)]
        row: list[str] = []
        for cell in element.iter(f"{_SS}Cell"):
            _fill(row, _place_number(cell, "Index") - 1)
            across, down = _place_number(cell, "MergeAcross"), _place_number(cell, "MergeDown")
            if across or down:
                merges.append(Merge(len(rows), len(row), down + 1, across + 1))
            data = cell.find(f"{_SS}Data")
            row.append("" if data is None else _shown(data))
            _fill(row, len(row) + across)
        area += len(row)
        if area > MAX_AREA:
            raise ReadError(f"too large: a sheet of more than {MAX_AREA:,} cells; split the file")
        rows.append(row)
    return fill_merged(rows, merges)


def _fill(row: list[str], length: int) -> None:
    row += [""] * (min(length, MAX_COLUMNS) - len(row))


def _place_number(element: Any, name: str) -> int:
    value = str(element.get(f"{_SS}{name}", ""))
    return int(value) if value.isascii() and value.isdigit() and len(value) < 8 else 0


def _shown(data: Any) -> str:
    text = "".join(data.itertext())
    is_date = data.get(f"{_SS}Type") == "DateTime"
    return text.removesuffix(".000").removesuffix("T00:00:00").replace("T", " ") if is_date else text
