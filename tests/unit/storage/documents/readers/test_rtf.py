"""Rich Text Format."""

from pathlib import Path

import pytest

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.readers.rtf import RtfReader
from storage.documents.texts.encodings import HIDDEN_TEXT
from tests.unit.storage.documents.office_samples import RTF


def read(data: bytes, tmp_path: Path) -> ParsedDocument:
    path = tmp_path / "minutes.rtf"
    path.write_bytes(data)
    return RtfReader().read(path, tmp_path)


def test_headings_notes_lists_and_tables_are_read(tmp_path: Path) -> None:
    document = read(RTF, tmp_path)
    assert document.title == "Ferries"
    assert [page.text for page in document.pages] == [
        "Ferry\n\nSpäter mehr: 日本, При.[^1]\n\n[^1]: Only in summer.\n\n- a boat\n2) a pier",
        "Fares\n\n| who | fare |\n| --- | --- |\n| adult or two | 4\\|5 |\n| adult or two | 6 |\n\nAfter\n\nThe end.",
    ]
    assert document.warnings == document.hidden == (f"{HIDDEN_TEXT}: 9 characters",)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (rb"{\rtf1 a\line b\~c\_d\tab e}", "a\nb c-d e"),
        (b"{\\rtf1 one\\\ntwo}", "one\n\ntwo"),
        (rb"{\rtf1\uc2 \u8364 ??x}", "€x"),
        (rb"{\rtf1 \u-10179?\u-8704?}", "\U0001f600"),
        (rb"{\rtf1\ansicpg1251 \'cf\'f0\'e8}", "При"),
        (rb"{\rtf1{\fonttbl{\f0\fcharset128 M;}}\f0 \'93\'fa\'96\'7b}", "日本"),
        (rb"{\rtf1 a{\pict\bin3 }}}} b}", "a b"),
        (rb"{\rtf1 a {\field{\*\fldinst HYPERLINK x}{\fldrslt link}} b}", "a link b"),
        (rb"{\rtf1 gone{\deleted  no} {\v hidden}here}", "gone here"),
        (rb"{\rtf1\trowd\cellx1\pard\intbl alone\cell\row\pard after}", "alone\n\nafter"),
    ],
)
def test_text_is_what_a_reader_of_the_document_sees(source: bytes, text: str, tmp_path: Path) -> None:
    assert read(source, tmp_path).pages[0].text == text


def test_a_file_that_ends_in_the_middle_says_so(tmp_path: Path) -> None:
    document = read(RTF[: len(RTF) // 2], tmp_path)
    assert document.pages[0].text.startswith("Ferry")
    assert document.warnings == ("cut off: the file ends in the middle of its text",)


def test_a_file_without_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="empty"):
        read(rb"{\rtf1{\info{\title Ferries}}\par}", tmp_path)


def test_a_file_that_is_cut_off_before_its_text_says_so(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="corrupt: the file is cut off before its text begins"):
        read(rb"{\rtf1\ansi{\fonttbl{\f0 Times;}{\f1", tmp_path)
