"""Spreadsheets."""

import datetime
from pathlib import Path

import pytest

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.office.office_files import OLE_MARK
from storage.documents.readers.spreadsheet import SpreadsheetReader, to_shown
from tests.unit.storage.documents.office_files import build_ods, build_xlsx, zipped


def read(data: bytes, tmp_path: Path, name: str = "costs.xlsx") -> ParsedDocument:
    path = tmp_path / name
    path.write_bytes(data)
    return SpreadsheetReader().read(path, tmp_path)


def test_a_page_is_a_sheet_under_its_own_number(tmp_path: Path) -> None:
    data = build_xlsx({"One": [["a", "b"], [1, 2]], "Empty": [], "Secret": [["x"]], "Last": [["c"]]}, hidden=["Secret"])
    document = read(data, tmp_path)
    assert [(page.title, page.number) for page in document.pages] == [("One", 1), ("Last", 4)]
    assert document.warnings == ("hidden sheet left out: 'Secret'",)


def test_lines_around_tables_stay_and_blank_rows_part_them(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["Costs of 2024"], [None, None], ["item", "euro"], ["rent", 10.5], ["food", 3], ["Source: us"], [],
        [1, 2], [3, 4],
    ]  # fmt: skip
    assert read(build_xlsx({"One": rows}), tmp_path).pages[0].text == (
        "Costs of 2024\n\n| item | euro |\n| --- | --- |\n| rent | 10.5 |\n| food | 3 |\n\nSource: us\n\n"
        "| A | B |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"
    )


def test_merged_cells_are_said_in_every_place(tmp_path: Path) -> None:
    rows: list[list[object]] = [["who", "fare"], ["adult", 4], [None, 5]]
    text = read(build_xlsx({"One": rows}, merged=["A2:A3"]), tmp_path).pages[0].text
    assert text.splitlines()[2:] == ["| adult | 4 |", "| adult | 5 |"]


def test_merged_cells_are_found_below_rows_that_are_empty(tmp_path: Path) -> None:
    rows: list[list[object]] = [[], [None, "who", "fare"], [None, "adult", 4], [None, None, 5]]
    text = read(build_xlsx({"One": rows}, merged=["B3:B4"]), tmp_path).pages[0].text
    assert text.splitlines()[2:] == ["| adult | 4 |", "| adult | 5 |"]


def test_shares_and_sums_are_shown_as_people_see_them(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        [],
        [None, "item", "share", "sum"],
        [None, "rent", (0.125, 1), (1200, 2)],
        [None, "food", (0.5, 3), (-3.5, 4)],
        [None, "rest", 0.375, "2"],
    ]
    formats = ["0.0 %", '#,##0.00\\ "€"', "9", "[$$-409]0.00"]
    data = build_xlsx({"None": [["a", "b"], [1, 2]], "One": rows}, formats=formats)
    assert read(data, tmp_path).pages[1].text.splitlines()[2:] == [
        "| rent | 12.5 % | 1,200.00 € |",
        "| food | 50% | -$3.50 |",
        "| rest | 0.375 | 2 |",
    ]


def test_open_document_sheets_are_read_alike(tmp_path: Path) -> None:
    document = read(build_ods([["who", "fare"], ["adult", 2.5]], "Prices"), tmp_path, "fares.ods")
    assert document.pages[0].title == "Prices"
    assert document.pages[0].text == "| who | fare |\n| --- | --- |\n| adult | 2.5 |"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (4.0, "4"),
        (0.1 + 0.2, "0.3"),
        (1e300, "1e+300"),
        (True, "TRUE"),
        (datetime.datetime(2024, 5, 1), "2024-05-01"),  # noqa: DTZ001 - cells have no zone
        (datetime.datetime(2024, 5, 1, 9, 30), "2024-05-01 09:30:00"),  # noqa: DTZ001
        (datetime.date(2024, 5, 1), "2024-05-01"),
        (datetime.timedelta(hours=30), "1 day, 6:00:00"),
    ],
)
def test_values_are_shown_as_people_read_them(value: object, shown: str) -> None:
    assert to_shown(value) == shown


def test_a_sheet_whose_cells_stand_in_opposite_corners_is_refused(tmp_path: Path) -> None:
    cells = '<c r="A1"><v>1</v></c><c r="XFD1048576" s="1"><v>2</v></c><c r="XFD9" s="1"/>'
    data = zipped({"xl/sheet1.xml": f"<worksheet><sheetData><row>{cells}</row></sheetData></worksheet>"})
    with pytest.raises(ReadError, match="reaches over 1,048,576 rows and 16,384 columns; clear the cells far"):
        read(data, tmp_path)


def test_a_workbook_under_the_suffix_of_another_kind_is_read(tmp_path: Path) -> None:
    assert read(build_xlsx({"One": [["a", "b"], [1, 2]]}), tmp_path, "export.xls").pages[0].title == "One"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (build_xlsx({"One": []}), "empty: no sheet has text"),
        (build_xlsx({"One": [["x"]]}, hidden=["One"]), "empty: no sheet that is shown has text"),
        (OLE_MARK + "EncryptedPackage".encode("utf-16-le"), "encrypted: the spreadsheet needs a password"),
        (OLE_MARK + b"\0" * 600, "corrupt: not a readable spreadsheet"),
        (b"PK\x03\x04", "corrupt: not a readable spreadsheet"),
        (zipped({"xl/workbook.xml": "<workbook>"}), "corrupt: 'xl/workbook.xml' of the spreadsheet can't be read"),
        (zipped({"META-INF/manifest.xml": "<encryption-data/>"}), "encrypted: the spreadsheet needs a password"),
    ],
)
def test_a_bad_file_gets_its_reason(data: bytes, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=reason):
        read(data, tmp_path)


def test_damage_in_a_part_that_is_no_xml_is_a_reason_too(tmp_path: Path) -> None:
    data = bytearray(build_ods([["who", "fare"], ["adult", 4]]))
    start = data.index(b"mimetype") + len(b"mimetype")
    data[start : start + 8] = b"\xff" * 8
    with pytest.raises(ReadError, match="corrupt: not a readable spreadsheet"):
        read(bytes(data), tmp_path, "fares.ods")
