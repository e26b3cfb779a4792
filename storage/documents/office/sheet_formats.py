"""Which cells of an .xlsx workbook are percentages or sums of money: its styles, and the style of each cell.

The library that reads values leaves them out. Older and binary workbooks (.xls, .xlsb) and .ods keep plain numbers.
"""

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.parsers import expat

from storage.documents.archives import Archive, open_archive
from storage.documents.office.number_formats import BUILT_IN, NumberFormat, read_format
from storage.documents.office.xml_parts import parse_part

# (row, column) from 0 -> its format.
Formats = Mapping[tuple[int, int], NumberFormat]

_WORKBOOK = "xl/workbook.xml"
_STYLES = "xl/styles.xml"
_PLACE = re.compile(r"([A-Z]{1,3})(\d{1,7})\Z")
_WHAT = "spreadsheet"


def read_sheet_formats(path: Path) -> dict[str, Formats]:
    """By the sheets' names, of those that have such cells. ReadError for a damaged part."""
    with open_archive(path, _WHAT) as archive:
        styles = _styles(archive)
        if not styles or _WORKBOOK not in archive:
            return {}
        sheets = {name: part for name, part in _sheets(archive).items() if part in archive}
        found = {name: _cells(archive.read(part), styles) for name, part in sheets.items()}
    return {name: formats for name, formats in found.items() if formats}


def _styles(archive: Archive) -> dict[int, NumberFormat]:
    """The styles of cells that have such a format, by number."""
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
    """Streamed: a sheet may have a million cells, most of them without such a style."""
    found: dict[tuple[int, int], NumberFormat] = {}

    def begin(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] != "c" or "s" not in attributes:
            return
        style, place = styles.get(_number(attributes["s"])), _PLACE.match(attributes.get("r", ""))
        if style is not None and place is not None:
            found[int(place[2]) - 1, _column(place[1])] = style

    parser = expat.ParserCreate()
    parser.StartElementHandler = begin
    parser.Parse(data, True)
    return found


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isascii() and text.isdigit() else -1
