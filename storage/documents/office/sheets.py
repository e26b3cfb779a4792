"""Number formats of spreadsheets, and Excel's XML files of 2003."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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


# (row, column) from 0 -> its format.
Formats = Mapping[tuple[int, int], NumberFormat]

_WORKBOOK = "xl/workbook.xml"
_STYLES = "xl/styles.xml"
_PLACE = re.compile(r"([A-Z]{1,3})(\d{1,7})\Z")
_WHAT = "spreadsheet"


def read_sheet_formats(path: Path) -> dict[str, Formats]:
    """Return formats by sheet name, for sheets with such cells. Raises ReadError for a damaged part."""
    with open_archive(path, _WHAT) as archive:
        styles = _styles(archive)
        if not styles or _WORKBOOK not in archive:
            return {}
        sheets = {name: part for name, part in _sheets(archive).items() if part in archive}
        found = {name: _cells(archive.read(part), styles) for name, part in sheets.items()}
    return {name: formats for name, formats in found.items() if formats}


def _styles(archive: Archive) -> dict[int, NumberFormat]:
    """Return the formats of numbered cell styles."""
    if _STYLES not in archive:
        return {}
    root = parse_part(archive.read(_STYLES), _STYLES, _WHAT)
    codes = dict(BUILT_IN)
    for item in root.iterfind(".//{*}numFmts/{*}numFmt"):
        codes[_number(item.get("numFmtId"))] = item.get("formatCode") or ""
    found = {}
    for place, item in enumerate(root.iterfind(".//{*}cellXfs/{*}xf")):
        shown = read_format(codes.get(_number(item.get("numFmtId")), ""))
        if shown is not None:
            found[place] = shown
    return found


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


def _cells(data: bytes, styles: Mapping[int, NumberFormat]) -> Formats:
    """Stream a sheet: it may have a million cells, most of them without such a style."""
    found: dict[tuple[int, int], NumberFormat] = {}

    def begin(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] != "c" or "s" not in attributes:
            return
        style, place = styles.get(_number(attributes["s"])), _PLACE.match(attributes.get("r", ""))
        if style is not None and place is not None:
            found[int(place[2]) - 1, column_number(place[1]) - 1] = style

    parser = expat.ParserCreate()
    parser.StartElementHandler = begin
    parser.Parse(data, True)
    return found


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


def read_sheet_xml(data: bytes, what: str) -> list[tuple[str, bool, list[list[str]]]]:
    """Return the sheets of a workbook in Excel's XML: name, is hidden, rows. Raises ReadError if it is damaged."""
    root = parse_part(data, "Workbook", what)
    sheets = []
    for number, sheet in enumerate(root.iter(f"{_SS}Worksheet"), 1):
        visible = sheet.find("{urn:schemas-microsoft-com:office:excel}WorksheetOptions/{*}Visible")
        is_hidden = visible is not None and str(visible.text).startswith("SheetHidden")
        table = sheet.find(f"{_SS}Table")
        rows = [] if table is None else _rows(list(table.iter(f"{_SS}Row")))
        sheets.append((sheet.get(f"{_SS}Name", f"Sheet {number}"), is_hidden, rows))
    return sheets


def _rows(elements: Sequence[Any]) -> list[list[str]]:
    rows: list[list[str]] = []
    merges: list[Merge] = []
    area = 0
    for element in elements:
        if _place_number(element, "Index") > len(rows) + 1:
            rows.append([])  # one blank row parts tables as well as thousands do
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
