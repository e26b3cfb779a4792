"""Word documents."""

import io
import re
import zipfile
from pathlib import Path

import pytest

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.office.office_files import OLE_MARK
from storage.documents.readers.docx import DocxReader
from tests.unit.storage.documents.office_files import build_docx, p, r, zipped


def read(data: bytes, tmp_path: Path) -> ParsedDocument:
    path = tmp_path / "minutes.docx"
    path.write_bytes(data)
    return DocxReader().read(path, tmp_path)


def text_of(body: str, tmp_path: Path, footnotes: dict[int, str] | None = None) -> str:
    return "\n\n".join(page.text for page in read(build_docx(body, footnotes=footnotes), tmp_path).pages)


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{p(text)}</w:tc>"


def test_headings_make_pages_and_the_styles_they_are_based_on_count(tmp_path: Path) -> None:
    body = p("Minutes", "T") + p("Agenda", "H2") + p("One.") + p("Actions", "Mine") + p("Two.")
    document = read(build_docx(body, title="Word Document"), tmp_path)
    assert document.title == "Minutes"
    assert [(page.title, page.heading_path) for page in document.pages] == [("Agenda", ()), ("Actions", ("Minutes",))]


def test_the_stated_title_is_used_where_no_paragraph_is_one(tmp_path: Path) -> None:
    assert read(build_docx(p("One."), title="Minutes of May"), tmp_path).title == "Minutes of May"
    assert read(build_docx(p("One."), title="document1"), tmp_path).title == "minutes"


def test_lists_have_the_numbers_that_word_shows(tmp_path: Path) -> None:
    body = "".join(
        [
            p("one", number=1), p("inner", number=1, level=1), p("deep", number=1, level=2), p("two", number=1),
            p("inner again", number=1, level=1), p("bullet", number=2), p("anew", number=3), p("no list", number=0),
        ]
    )  # fmt: skip
    assert text_of(body, tmp_path).split("\n\n") == [
        "1. one\n  a) inner",
        "    1.a.I deep",
        "2. two\n  a) inner again\n- bullet\n1. anew",
        "no list",
    ]


def test_merged_cells_are_said_in_every_place(tmp_path: Path) -> None:
    wide, begin, on = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    table = (
        f"<w:tbl><w:tr>{cell('who')}{cell('fares', wide)}</w:tr>"
        f"<w:tr>{cell('adult', begin)}{cell('4')}{cell('a|b')}</w:tr>"
        f"<w:tr>{cell('', on)}{cell('6')}{cell('7')}</w:tr></w:tbl>"
    )
    assert text_of(table, tmp_path) == (
        "| who | fares | fares |\n| --- | --- | --- |\n| adult | 4 | a\\|b |\n| adult | 6 | 7 |"
    )


def test_a_frame_around_text_is_read_as_text(tmp_path: Path) -> None:
    body = f"<w:tbl><w:tr><w:tc>{p('Boxed', 'H1')}{p('Inside.')}</w:tc></w:tr></w:tbl>"
    document = read(build_docx(body), tmp_path)
    assert document.pages[0].title == "Boxed"
    assert document.pages[0].text == "Boxed\n\nInside."


def test_a_note_follows_the_paragraph_that_refers_to_it(tmp_path: Path) -> None:
    body = f'<w:p>{r("Ferries")}<w:r><w:footnoteReference w:id="5"/></w:r>{r(" sail.")}</w:p>' + p("Next.")
    assert text_of(body, tmp_path, {5: p("In summer.")}).split("\n\n") == [
        "Ferries[^1] sail.",
        "[^1]: In summer.",
        "Next.",
    ]


def test_insertions_are_read_and_deletions_hidden_text_and_contents_are_not(tmp_path: Path) -> None:
    body = (
        f"<w:p><w:ins>{r('kept ')}</w:ins><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        f"<w:moveFrom>{r('moved')}</w:moveFrom><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>{r('too')}</w:p>"
        f"{p('Chapter 1 ..... 3', 'C1')}<w:sdt><w:sdtContent>{p('controlled')}</w:sdtContent></w:sdt>"
    )
    assert text_of(body, tmp_path) == "kept too\n\ncontrolled"


def test_a_document_without_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="empty: the document has no text"):
        read(build_docx("<w:p/>"), tmp_path)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (OLE_MARK + "EncryptedPackage".encode("utf-16-le"), "encrypted: the Word document needs a password; save it"),
        (OLE_MARK + b"\0" * 600, "a file of the older format: save it as .docx and ingest it again"),
        (b"PK\x03\x04 cut off", "corrupt: not a readable Word document"),
        (
            zipped({"xl/workbook.xml": "<x/>"}),
            "not a Word document as its name says, but an Excel workbook: name it .xlsx",
        ),
        (zipped({"a.txt": "no Word"}), "corrupt: not a readable Word document"),
        (build_docx("<w:p>"), "corrupt: not a readable Word document"),
        (build_docx(p("a" * 100) * 110_000), "too large: .* KB that unpack to"),
        (
            zipped({"word/document.xml": '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>'}),
            "refused: its part 'word/document.xml' defines entities",
        ),
    ],
)
def test_a_bad_file_gets_its_reason(data: bytes, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=reason):
        read(data, tmp_path)


def test_a_document_in_the_strict_form_is_read_as_any_other(tmp_path: Path) -> None:
    data = build_docx(p("Fares", "H1") + p("Adults pay four."), title="Ferries")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    used = re.compile(r"http://schemas\.openxmlformats\.org/(officeDocument|wordprocessingml)/2006/")
    strict = {name: used.sub(r"http://purl.oclc.org/ooxml/\1/", text) for name, text in parts.items()}
    assert strict != parts
    document = read(zipped(strict), tmp_path)
    assert (document.title, document.pages[0].text) == ("Ferries", "Fares\n\nAdults pay four.")
