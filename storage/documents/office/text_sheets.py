"""What many programs export under the name .xls although it is text: a web page, a table in plain text, Excel's XML."""

import re
from collections.abc import Sequence
from enum import Enum
from typing import Any

from core.errors import ReadError
from core.text.delimited import MAX_COLUMNS
from storage.documents.office.office_files import MAX_AREA
from storage.documents.office.xml_parts import parse_part
from storage.documents.tables.text import Merge, fill_merged
from storage.documents.texts.encodings import decode

SUFFIX = ".xls"

_NAMESPACE = "urn:schemas-microsoft-com:office:spreadsheet"
_SS = f"{{{_NAMESPACE}}}"
_PAGE = re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|meta|style|table|div)\b", re.I | re.S)
_XML = re.compile(r"\s*(?:<\?.*?\?>\s*)*<(?:\w+:)?Workbook\b", re.S)
_DECLARED = re.compile(r"\s*<\?xml[^>]*\?>\s*(?=<(?:!doctype\s+html|html))", re.I)
_CELLS = re.compile(r"[^\t;,|]+[\t;,|]")


class SheetForm(Enum):
    WEB_PAGE = "web page"
    PLAIN = "plain text"
    XML = "Excel's XML of 2003"


def form_of(head: bytes) -> SheetForm | None:
    """What the text of an .xls file is, by what stands at its front; None for a real workbook, and for no text."""
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
    """The sheets of a workbook in Excel's XML: name, whether it is hidden, its rows. ReadError where it is damaged."""
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
        if _number(element, "Index") > len(rows) + 1:
            rows.append([])  # one blank row parts tables as well as thousands do
        row: list[str] = []
        for cell in element.iter(f"{_SS}Cell"):
            _fill(row, _number(cell, "Index") - 1)
            across, down = _number(cell, "MergeAcross"), _number(cell, "MergeDown")
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
    """Lengthen a row to where its next cell stands."""
    row += [""] * (min(length, MAX_COLUMNS) - len(row))


def _number(element: Any, name: str) -> int:
    value = str(element.get(f"{_SS}{name}", ""))
    return int(value) if value.isascii() and value.isdigit() and len(value) < 8 else 0


def _shown(data: Any) -> str:
    """A cell's text; a date without a time as one."""
    text = "".join(data.itertext())
    is_date = data.get(f"{_SS}Type") == "DateTime"
    return text.removesuffix(".000").removesuffix("T00:00:00").replace("T", " ") if is_date else text
