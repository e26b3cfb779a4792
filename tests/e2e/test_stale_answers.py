"""A document changes, and what was answered from it says so: on the command line and in the terminal's chat."""

from pathlib import Path

import pytest

from tests.e2e.conftest import Footnote

QUESTION = "When does the night ferry to Skerra sail?"
FIRST = "# Night ferry\n\nThe night ferry to Skerra sails at half past ten from the east pier.\n"
SECOND = "# Night ferry\n\nThe night ferry to Skerra sails at a quarter to midnight from the west pier.\n"


@pytest.fixture
def notes(tmp_path: Path, footnote: Footnote) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text(FIRST)
    assert footnote("ingest", str(folder), "--source", "notes").code == 0
    return folder


def test_a_changed_document_makes_its_answers_stale_and_a_moved_passage_does_not(
    footnote: Footnote, notes: Path
) -> None:
    answer = footnote("ask", QUESTION, "--json").json
    assert answer["citations"][0]["document"] == "ferry.md"
    assert footnote("conversations", "stale", "--json").json == {"stale": []}

    (notes / "ferry.md").write_text(f"# Before\n\nSomething new.\n\n{FIRST}")
    footnote("ingest", str(notes), "--source", "notes")
    assert footnote("conversations", "stale", "--json").json == {"stale": []}
    assert "All answers still stand" in footnote("conversations", "stale").out

    (notes / "ferry.md").write_text(SECOND)
    footnote("ingest", str(notes), "--source", "notes")
    [stale] = footnote("conversations", "stale", "--json").json["stale"]
    assert (stale["conversation_id"], stale["question"]) == (answer["conversation_id"], QUESTION)
    assert stale["message_id"] == answer["message_id"]
    assert stale["lost"][0]["fate"] == "changed"
    assert stale["lost"][0]["quote"] == answer["citations"][0]["quote"]
    assert "does not say any more" in " ".join(footnote("conversations", "stale").out.split())

    (notes / "ferry.md").unlink()
    footnote("ingest", str(notes), "--source", "notes")
    [gone] = footnote("conversations", "stale", "--json").json["stale"]
    assert {quote["fate"] for quote in gone["lost"]} == {"gone"}
