"""A kept answer as a document: who said it, and the address of the message."""

from pathlib import Path

import pytest

from core.domain.kept_answers import KEPT_MARK, KeptFile, write_file
from core.errors import ReadError
from storage.documents.readers.kept_answers import KeptAnswersReader

KEPT = KeptFile(
    title="Said by Ada: Where?",
    link="https://chat.example/1",
    question="Where?",
    text="## Where?\n\nUnder the stairs.\n\nSaid by Ada, accepted by Ben on 2026-01-01.",
)


def test_its_title_says_that_a_person_said_it_and_its_page_has_its_address(tmp_path: Path) -> None:
    path = tmp_path / "1.md"
    path.write_text(write_file(KEPT), encoding="utf-8")
    document = KeptAnswersReader().read(path, tmp_path)
    [page] = document.pages

    assert (document.title, document.kind) == (KEPT.title, "kept")
    assert (page.title, page.text, page.deep_link) == ("Where?", KEPT.text, KEPT.link)
    assert [(heading.title, heading.start) for heading in page.headings] == [("Where?", 0)]


def test_a_file_without_kept_answers_has_nothing_to_read(tmp_path: Path) -> None:
    path = tmp_path / "1.md"
    path.write_text(f"{KEPT_MARK}\n\n# Kept answers\n", encoding="utf-8")
    with pytest.raises(ReadError, match="no kept answer"):
        KeptAnswersReader().read(path, tmp_path)


def test_only_files_with_the_mark_are_its_own() -> None:
    reader = KeptAnswersReader()
    assert reader.accepts(Path("a.md"), f"{KEPT_MARK}\n".encode())
    assert not reader.accepts(Path("a.md"), f"# Mine\n{KEPT_MARK}".encode())
