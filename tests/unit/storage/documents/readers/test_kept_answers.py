"""Kept answers as a document: a page for each, with the address of its message."""

from pathlib import Path

import pytest

from core.domain.kept_answers import KEPT_MARK, write_sections
from core.errors import ReadError
from core.features.kept_answers import build_section
from storage.documents.readers.kept_answers import KeptAnswersReader


def test_each_kept_answer_is_a_page_with_its_own_address(tmp_path: Path) -> None:
    sections = [
        build_section("Where is the key?", "# Under\n\n## the mat", "https://chat.example/1", "Kept by Ada."),
        build_section("And the lock?", "On the door.", "https://chat.example/2?a={b}", "Kept by Ada."),
    ]
    path = tmp_path / "Kept answers.md"
    path.write_text(write_sections("Kept answers", sections), encoding="utf-8")
    document = KeptAnswersReader().read(path, tmp_path)

    assert (document.title, document.kind) == ("Kept answers", "kept")
    assert [(page.title, page.deep_link) for page in document.pages] == [
        ("Where is the key?", "https://chat.example/1"),
        ("And the lock?", "https://chat.example/2?a=%7Bb%7D"),
    ]
    assert document.pages[0].text == "## Where is the key?\n\n# Under\n\n## the mat\n\nKept by Ada."


def test_a_file_without_kept_answers_has_nothing_to_read(tmp_path: Path) -> None:
    path = tmp_path / "Kept answers.md"
    path.write_text(f"{KEPT_MARK}\n\n# Kept answers\n", encoding="utf-8")
    with pytest.raises(ReadError, match="no kept answer"):
        KeptAnswersReader().read(path, tmp_path)


def test_only_what_begins_with_the_mark_is_accepted() -> None:
    reader = KeptAnswersReader()
    assert reader.accepts(Path("a.md"), f"{KEPT_MARK}\n".encode())
    assert not reader.accepts(Path("a.md"), f"# Mine\n{KEPT_MARK}".encode())
