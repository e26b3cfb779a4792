"""Spreadsheets: a page for each sheet, its tables as Markdown tables."""

import datetime
import io
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from core.domain.corpus import ParsedDocument, ParsedPage
from core.errors import ReadError
from core.text.delimited import find_header
from core.text.words import collapse
from storage.documents.markup.writers import TextWriter
from storage.documents.office.office_files import OLE_MARK, check_office, is_encrypted, is_office, is_old, why_encrypted
from storage.documents.office.sheets import (
    NO_MARKS,
    SUFFIX,
    NumberFormat,
    Sheet,
    SheetForm,
    SheetMarks,
    form_of,
    read_sheet_marks,
    read_sheet_xml,
    shown_sheet,
)
from storage.documents.tables.text import Merge, fill_merged
from storage.documents.texts.encodings import clean

WHAT = "spreadsheet"
# Floats up to here are whole numbers without loss; beyond it a spreadsheet shows powers of ten, too.
_WHOLE = 1e15


class SpreadsheetReader:
    """Reads `.xlsx`, `.xlsm`, `.xlsb`, `.xls` and `.ods`; without empty sheets and hidden parts.

    Also reads `.xls` in Excel's XML of 2003; other texts named `.xls` have other readers.
    """

    kind = "spreadsheet"
    suffixes = frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})
    expects = "a spreadsheet"

    def accepts(self, path: Path, head: bytes) -> bool:
        return is_office(head) or (path.suffix.lower() == SUFFIX and form_of(head) is SheetForm.XML)

    def read(self, path: Path, root: Path) -> ParsedDocument:
        pages = []
        hidden = []
        parts = []
        for number, sheet in enumerate(_sheets(path), 1):
            name = collapse(clean(sheet.name)) or f"Sheet {number}"
            if sheet.is_hidden:
                hidden.append(repr(name))
            elif text := to_text(sheet.rows):
                pages.append(ParsedPage(title=name, text=text, number=number))
            parts += _hidden_parts(sheet, name)
        if not pages:
            raise ReadError("empty: no sheet that is shown has text" if hidden else "empty: no sheet has text")
        sheets = [f"hidden sheet{'s' * (len(hidden) > 1)} left out: {', '.join(hidden)}"] if hidden else []
        left_out = (*sheets, *parts)
        return ParsedDocument(
            title=path.stem,
            kind=self.kind,
            pages=tuple(pages),
            warnings=left_out,
            hidden=left_out,
        )


def _hidden_parts(sheet: Sheet, name: str) -> list[str]:
    counts = {"row": sheet.hidden_rows, "column": sheet.hidden_columns, "cell": sheet.hidden_cells}
    said = [f"{count:,} hidden {what}{'s' * (count > 1)}" for what, count in counts.items() if count]
    return [f"{' and '.join(said)} of {name!r} left out"] if said else []


def _sheets(path: Path) -> Iterator[Sheet]:
    with path.open("rb") as file:
        is_workbook = is_office(file.read(len(OLE_MARK)))
    if not is_workbook:
        yield from read_sheet_xml(path.read_bytes(), WHAT)
        return
    with _opened(path) as workbook:
        marks = {} if is_old(path) else read_sheet_marks(path)
        for number, sheet in enumerate(workbook.sheets_metadata):
            is_hidden = str(sheet.visible) != "SheetVisibleEnum.Visible"
            if is_hidden:
                yield Sheet(name=sheet.name, is_hidden=True)
            else:
                yield _shown_sheet(workbook, number, sheet.name, marks.get(sheet.name, NO_MARKS))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import python_calamine

    if is_old(path):
        if is_encrypted(path.read_bytes()):
            raise ReadError(why_encrypted(WHAT))
    else:
        check_office(path, WHAT, newer=".xlsx", is_sheet=True)
    try:
        with closing(_load(path)) as workbook:
            yield workbook
    except python_calamine.PasswordError as error:
        raise ReadError(why_encrypted(WHAT)) from error
    except (python_calamine.CalamineError, OSError) as error:  # damaged parts are errors of reading, too
        raise ReadError(f"corrupt: not a readable {WHAT} ({error})") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # raised by Rust for its own bugs, without an importable name
            raise
        raise ReadError(f"corrupt: not a readable {WHAT} (its reader gave up)") from error


def _load(path: Path) -> Any:
    import python_calamine

    if is_old(path) == (path.suffix.lower() == ".xls"):
        return python_calamine.CalamineWorkbook.from_path(str(path))
    return python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(path.read_bytes()))


def _shown_sheet(workbook: Any, index: int, name: str, marks: SheetMarks) -> Sheet:
    """Return the cells of a sheet as shown, merged ones in every cell they cover."""
    sheet = workbook.get_sheet_by_index(index)
    if sheet.start is None:
        return Sheet(name=name, is_hidden=False)
    top, left = sheet.start
    merges = [
        Merge(first[0] - top, first[1] - left, last[0] - first[0] + 1, last[1] - first[1] + 1)
        for first, last in sheet.merged_cell_ranges or ()
    ]
    rows = [
        [to_shown(value, marks.formats.get((row, column))) for column, value in enumerate(values, left)]
        for row, values in enumerate(islice(sheet.iter_rows(), top, None), top)  # skip the empty rows at its start
    ]
    return shown_sheet(name, fill_merged(rows, merges), marks, top, left)


def to_shown(value: object, number_format: NumberFormat | None = None) -> str:
    """Return a cell's value: percentages and money as formatted, other numbers without noise, dates as ISO 8601."""
    if isinstance(value, bool):
        return str(value).upper()
    if number_format is not None and isinstance(value, int | float):
        return number_format.show(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _WHOLE else f"{value:.15g}"
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ", "seconds")
    return str(value)


def to_text(rows: Sequence[Sequence[str]]) -> str:
    """Return a sheet's text. Blank rows separate its tables; a single cell above or below a table is a line."""
    writer = TextWriter()
    for blank, block in groupby(rows, key=lambda row: not any(cell.strip() for cell in row)):
        if not blank:
            _write_block(list(block), writer)
    return writer.text


def _write_block(rows: list[Sequence[str]], writer: TextWriter) -> None:
    wide = [place for place, row in enumerate(rows) if sum(1 for cell in row if cell.strip()) > 1]
    first, last = (wide[0], wide[-1] + 1) if wide else (len(rows), len(rows))
    _write_lines(rows[:first], writer)
    table = rows[first:last]
    header = find_header(table)
    if table:
        _write_lines(table[: header or 0], writer)
        letters = [_letter(place) for place in range(max(map(len, table)))]
        writer.add_table(table[header or 0 :], columns=letters if header is None else None)
    _write_lines(rows[last:], writer)


def _write_lines(rows: Sequence[Sequence[str]], writer: TextWriter) -> None:
    writer.add_paragraph("\n".join(" – ".join(filter(None, map(collapse, row))) for row in rows))


def _letter(place: int) -> str:
    name = ""
    while place >= 0:
        place, rest = divmod(place, 26)
        name = chr(ord("A") + rest) + name
        place -= 1
    return name
