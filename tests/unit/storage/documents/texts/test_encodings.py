"""Bytes to text: what is read as what, and what is refused."""

import pytest

from core.errors import ReadError
from storage.documents.texts.encodings import clean, decode

JAPANESE = "これはテストです。フェリーは七時に出ます。\n" * 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_is_read_with_and_without_a_mark(encoding: str) -> None:
    assert decode("The ferry sails at seven.\n".encode(encoding)).text == "The ferry sails at seven.\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        ("Größe der Straße: 5 m. Äpfel für alle Mädchen.", "cp1252"),
        ("It’s the captain’s “house” – closed.", "cp1252"),
        ("Zażółć gęślą jaźń, prom odpływa o siódmej.", "cp1250"),
        ("Привет, как дела? Паром уходит в семь часов вечера.", "cp1251"),
        ("你好,这是一个测试文件。渡轮晚上七点出发。", "gb18030"),
    ],
)
def test_a_legacy_encoding_is_found_and_named(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding))
    assert decoded.text == text
    assert decoded.encoding == encoding
    assert encoding in decoded.warnings[0]


def test_plain_utf8_needs_no_warning() -> None:
    assert decode("Später".encode()).warnings == ()


def test_a_few_invalid_bytes_are_replaced_and_counted() -> None:
    decoded = decode("Die Fähre fährt um sieben über den Fluß.".encode() + b" \xff.")
    assert decoded.text.endswith("Fluß. \ufffd.")
    assert decoded.warnings == ("1 invalid byte replaced: not quite UTF-8",)


def test_bytes_that_are_letters_of_no_word_are_damage_not_an_encoding() -> None:
    assert decode(b"High water at \xc3( 06:14 and \xff\xfe 18:41.").encoding == "utf-8"


def test_stray_nuls_are_left_out_with_a_warning() -> None:
    decoded = decode(b"The pump\0 runs at 40\0 litres a minute.")
    assert decoded.text == "The pump runs at 40 litres a minute."
    assert decoded.warnings == ("2 NUL characters left out",)


def test_a_cut_character_of_a_marked_file_is_replaced() -> None:
    decoded = decode("ab".encode("utf-16") + b"\x41")
    assert decoded.text == "ab\ufffd"
    assert "1 invalid character replaced" in decoded.warnings[-1]


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 4,
        b"\x00" * 500,
        b"\xff\xfe" + b"\x01\x00" * 50,
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 2,
    ],
    ids=["all bytes", "NULs", "controls in UTF-16", "picture"],
)
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(ReadError, match="not text: binary"):
        decode(data)


@pytest.mark.parametrize(("data", "reason"), [(b"", "no bytes"), (b" \n\t\xc2\xa0\n", "no text")])
def test_an_empty_file_says_so(data: bytes, reason: str) -> None:
    with pytest.raises(ReadError, match=f"empty: the file has {reason}"):
        decode(data)


def test_line_ends_become_line_feeds_and_lone_surrogates_are_replaced() -> None:
    assert clean("\ufeffa\r\nb\rc\0\ud800") == "a\nb\nc\ufffd"


def test_a_zip_is_called_an_archive_and_not_one_of_the_many_formats_made_of_it() -> None:
    with pytest.raises(ReadError, match="binary, it looks like a ZIP archive or an Office file"):
        decode(b"PK\x03\x04" + bytes(range(256)) * 8)


@pytest.mark.parametrize(
    "text",
    ["Datum;Betrag\n1.2.;Büro\n2.2.;Straßengebühr\n", "Café;3\nNiño;4\n", "à la carte à Paris", "Äpfel und Öl – gut"],
)
def test_a_few_western_letters_are_not_taken_for_chinese(text: str) -> None:
    assert decode(text.encode("cp1252")).text == text


@pytest.mark.parametrize("text", ["カタカナ,ア\nテスト,イ\n", "名前,都市\n田中,東京\n"])
def test_a_few_japanese_words_are_not_taken_for_western(text: str) -> None:
    assert decode(text.encode("cp932")).text == text
