"""Which reader reads a file."""

from pathlib import Path

import pytest

from core.errors import ReadError
from core.ingestion.base import build_readers, find_reader


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("a.md", b"", "markdown"),
        ("A.MARKDOWN", b"", "markdown"),
        ("a.htm", b"", "html"),
        ("a.txt", b"", "text"),
        ("a.pdf", b"%PDF-1.7", "pdf"),
        ("a.json", b'{"pages": []}', "foundry"),
        ("a.yaml", b"_key: '!journal!x'", "foundry"),
    ],
)
def test_the_suffix_and_the_first_bytes_choose_the_reader(name: str, head: bytes, kind: str) -> None:
    assert find_reader(Path(name), head, build_readers()).kind == kind


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a.epub", "no reader for .epub"),
        ("Makefile", "no reader for files without a suffix"),
        ("a.pdf", "no reader for this PDF file: not a PDF (no %PDF mark at its start)"),
    ],
)
def test_a_file_no_reader_takes_gets_its_reason(name: str, reason: str) -> None:
    with pytest.raises(ReadError) as caught:
        find_reader(Path(name), b"just text", build_readers())
    assert str(caught.value) == reason


def test_json_that_is_no_journal_is_named_so(tmp_path: Path) -> None:
    path = tmp_path / "api.json"
    path.write_text('{"openapi": "3.0"}')
    with pytest.raises(ReadError, match="no reader for this JSON file: not a Foundry journal"):
        find_reader(path, path.read_bytes(), build_readers())


def test_a_journal_whose_pages_come_late_is_still_found(tmp_path: Path) -> None:
    path = tmp_path / "keep.json"
    path.write_text('{"flags": "' + "x" * 5_000 + '", "pages": []}')
    assert find_reader(path, path.read_bytes()[:4_096], build_readers()).kind == "foundry"
