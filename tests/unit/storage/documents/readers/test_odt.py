"""OpenDocument texts."""

from pathlib import Path

import pytest

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.readers.odt import OdtReader
from tests.unit.storage.documents.office_files import build_odt, zipped

NUMBERED = (
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" '
    'style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/>'
    '</text:list-style><style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>'
)


def read(data: bytes, tmp_path: Path) -> ParsedDocument:
    path = tmp_path / "minutes.odt"
    path.write_bytes(data)
    return OdtReader().read(path, tmp_path)


def item(*blocks: str) -> str:
    return f"<text:list-item>{''.join(f'<text:p>{b}</text:p>' if b[0] != '<' else b for b in blocks)}</text:list-item>"


def test_the_title_paragraph_names_the_document_and_headings_make_pages(tmp_path: Path) -> None:
    body = (
        '<text:p text:style-name="P1">Minutes</text:p><text:p>Before.</text:p>'
        '<text:h text:outline-level="1">One</text:h><text:p>a<text:s text:c="3"/>b<text:tab/>c</text:p>'
    )
    document = read(build_odt(body, styles=NUMBERED, title="Other"), tmp_path)
    assert document.title == "Minutes"
    assert [page.text for page in document.pages] == ["Minutes\n\nBefore.", "One\n\na b c"]


def test_lists_have_the_numbers_of_their_styles_and_may_go_on(tmp_path: Path) -> None:
    inner = f"<text:list>{item('inner')}</text:list>"
    body = (
        f'<text:list text:style-name="L">{item("one", inner)}{item("two")}</text:list><text:p>Between.</text:p>'
        f'<text:list text:style-name="L" text:continue-numbering="true">{item("three")}</text:list>'
        f"<text:list>{item('bullet')}</text:list>"
    )
    assert read(build_odt(body, styles=NUMBERED), tmp_path).pages[0].text == (
        "1. one\n  a) inner\n2. two\n\nBetween.\n\n3. three\n- bullet"
    )


def test_merged_and_repeated_cells_are_said_in_every_place(tmp_path: Path) -> None:
    def cell(text: str, more: str = "") -> str:
        return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"

    body = (
        "<table:table><table:table-row>"
        + cell("who")
        + cell("x", 'table:number-columns-repeated="2"')
        + "</table:table-row><table:table-row>"
        + cell("adult", 'table:number-rows-spanned="2"')
        + cell("4")
        + cell("5")
        + "</table:table-row><table:table-row><table:covered-table-cell/>"
        + cell("6")
        + cell("7")
        + "</table:table-row></table:table>"
    )
    assert read(build_odt(body), tmp_path).pages[0].text == (
        "| who | x | x |\n| --- | --- | --- |\n| adult | 4 | 5 |\n| adult | 6 | 7 |"
    )


def test_deleted_text_and_comments_are_left_out_and_notes_follow(tmp_path: Path) -> None:
    body = (
        "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p>kept"
        "<office:annotation><text:p>comment</text:p></office:annotation>"
        "<text:note><text:note-citation>i</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body>"
        "</text:note></text:p>"
    )
    assert read(build_odt(body), tmp_path).pages[0].text == "kept[^1]\n\n[^1]: A note."


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (build_odt("<text:p/>"), "empty: the document has no text"),
        (build_odt("<text:p>"), "corrupt: 'content.xml' of the OpenDocument text can't be read"),
        (zipped({"mimetype": "x"}), "corrupt: the OpenDocument text lacks its text"),
        (zipped({"META-INF/manifest.xml": "<encryption-data/>"}), "encrypted: the OpenDocument text needs a password"),
    ],
)
def test_a_bad_file_gets_its_reason(data: bytes, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=reason):
        read(data, tmp_path)
