"""Tables in plain text."""

from pathlib import Path

import pytest

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.chunking import cut_page
from storage.documents.readers.csv import CsvReader


def read(data: bytes, tmp_path: Path) -> ParsedDocument:
    path = tmp_path / "fares.csv"
    path.write_bytes(data)
    return CsvReader().read(path, tmp_path)


def test_the_text_is_the_files_and_its_columns_head_the_page(tmp_path: Path) -> None:
    document = read(b"who;fare\r\nadult;4,50\r\nchild;2\r\n", tmp_path)
    assert document.pages[0].text == "```\nwho;fare\nadult;4,50\nchild;2\n```"
    assert document.pages[0].title == "who, fare"
    assert document.warnings == ()


def test_a_legacy_encoding_is_read_and_said(tmp_path: Path) -> None:
    document = read("Stadt,Größe\nMünchen,5\nKöln,6\n".encode("cp1252"), tmp_path)
    assert "München,5" in document.pages[0].text
    assert document.warnings == ("read as cp1252: not UTF-8, the encoding was guessed",)


def test_rows_of_another_width_are_named(tmp_path: Path) -> None:
    document = read(b"a,b,c\n1,2,3\n4,5\n6,7,8\n9,8,7,6\n", tmp_path)
    assert document.warnings == ("rows 3, 5 with another number of cells than the 3 above",)


def test_every_row_is_a_unit_that_can_be_quoted(tmp_path: Path) -> None:
    rows = [f"{place},Station No. {place}. Open daily" for place in range(100)]
    page = read("\n".join(["number,name", *rows]).encode(), tmp_path).pages[0]
    quoted = {span.of(page.text) for cut in cut_page(page) for span in cut.sentences}
    assert set(rows) <= quoted


@pytest.mark.parametrize(
    ("data", "reason"), [(b"\n\n", "empty"), (b",,\n,\n", "empty: no row"), (b"\0\1\2" * 99, "not text")]
)
def test_a_file_without_a_table_gets_its_reason(data: bytes, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=reason):
        read(data, tmp_path)
