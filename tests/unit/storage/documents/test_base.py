"""Which reader reads a file."""

from pathlib import Path

import pytest

from core.domain.kept_answers import SAID_KINDS
from core.domain.reader_kinds import READER_KINDS
from core.errors import ReadError
from storage.documents.base import build_readers, find_reader, has_reader


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("a.md", b"", "markdown"),
        ("a.md", b"<!-- footnote: kept answers -->", "kept"),
        ("A.MARKDOWN", b"", "markdown"),
        ("a.htm", b"", "html"),
        ("a.txt", b"", "text"),
        ("a.pdf", b"%PDF-1.7", "pdf"),
        ("a.json", b'{"pages": []}', "foundry"),
        ("a.yaml", b"_key: '!journal!x'", "foundry"),
        ("a.yaml", b"openapi: 3.1.0", "openapi"),
        ("a.json", b'{"swagger": "2.0", "pages": []}', "openapi"),
        ("a.epub", b"PK\x03\x04", "epub"),
    ],
)
def test_the_suffix_and_the_first_bytes_choose_the_reader(name: str, head: bytes, kind: str) -> None:
    assert find_reader(Path(name), head, build_readers()).kind == kind


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a.wpd", "no reader for .wpd"),
        ("a.DOC", "no reader for .doc: save it as .docx and ingest it again"),
        ("a.epub", "no reader for this EPUB file: not an EPUB (no ZIP container)"),
        ("Makefile", "no reader for files without a suffix"),
        ("a.pdf", "no reader for this PDF file: not a PDF (no %PDF mark at its start)"),
    ],
)
def test_a_file_no_reader_takes_gets_its_reason(name: str, reason: str) -> None:
    with pytest.raises(ReadError) as caught:
        find_reader(Path(name), b"just text", build_readers())
    assert str(caught.value) == reason


def test_json_of_no_known_kind_is_told_what_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "package.json"
    path.write_text('{"name": "ferry"}')
    with pytest.raises(ReadError, match=r"not an OpenAPI description nor .* nor a Foundry journal"):
        find_reader(path, path.read_bytes(), build_readers())


def test_a_journal_whose_pages_come_late_is_still_found(tmp_path: Path) -> None:
    path = tmp_path / "keep.json"
    path.write_text('{"flags": "' + "x" * 5_000 + '", "pages": []}')
    assert find_reader(path, path.read_bytes()[:4_096], build_readers()).kind == "foundry"


@pytest.mark.parametrize("kind", ["markdown", "text", "html"])
def test_a_forced_kind_reads_any_suffix(kind: str) -> None:
    for name in ("a.pdf", "a.md", "a.log", "Makefile"):
        assert find_reader(Path(name), b"words", build_readers(), kind=kind).kind == kind


def test_a_forced_kind_still_asks_whether_the_file_is_one() -> None:
    with pytest.raises(ReadError, match=r"^not a PDF \(no %PDF mark at its start\)$"):
        find_reader(Path("a.md"), b"words", build_readers(), kind="pdf")


def test_a_kind_chosen_before_stays_where_no_reader_has_the_suffix() -> None:
    assert find_reader(Path("a.log"), b"words", build_readers(), known_kind="text").kind == "text"
    assert find_reader(Path("a.md"), b"words", build_readers(), known_kind="text").kind == "markdown"
    with pytest.raises(ReadError, match=r"no reader for \.log"):
        find_reader(Path("a.log"), b"words", build_readers(), known_kind="unknown")


def test_json_is_a_journal_under_any_suffix_when_told_so(tmp_path: Path) -> None:
    path = tmp_path / "journals.db"
    path.write_text(
        '{"name": "Keep",\n\t"pages": [{"name": "Gate", "type": "text", "text": {"content": "<p>Oak</p>"}}]}'
    )

    parsed = find_reader(path, path.read_bytes(), build_readers(), kind="foundry").read(path, tmp_path)

    assert parsed.pages[0].text == "Oak"


@pytest.mark.parametrize("name", ["a.pdf", "a.json"])
@pytest.mark.parametrize("kind", [None, "pdf"])
def test_a_file_without_bytes_is_called_empty(tmp_path: Path, name: str, kind: str | None) -> None:
    path = tmp_path / name
    path.touch()
    with pytest.raises(ReadError, match=r"^empty: the file has no bytes$"):
        find_reader(path, b"", build_readers(), kind=kind)


def test_people_can_name_the_kind_of_every_reader_but_those_of_what_people_said() -> None:
    assert [reader.kind for reader in build_readers() if reader.kind not in SAID_KINDS] == list(READER_KINDS)


def test_a_suffix_has_a_reader_in_any_case() -> None:
    assert has_reader(Path("A.PDF"))
    assert not has_reader(Path("a.log"))
