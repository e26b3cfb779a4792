"""Ingest, search, page, documents and sources, as a person or a script calls them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import SAMPLES, Footnote

GOOD_FILES = sum(path.is_file() for path in SAMPLES.rglob("*"))


def test_a_second_ingest_finds_everything_unchanged_and_loads_no_model_and_no_questions(data_dir: Path) -> None:
    code = (
        "import sys; from bot.cli.app import run;"
        f"code = run(['--data-dir', {str(data_dir)!r}, 'ingest', {str(SAMPLES)!r},"
        " '--source', 'sample library', '--json']);"
        "heavy = {'onnxruntime', 'fastembed', 'qdrant_edge', 'qdrant_client', 'anthropic', 'alembic', 'numpy'};"
        "heavy |= {'core.service.commands', 'core.answering.pipeline', 'core.knowledge.attachments'};"
        "heavy &= set(sys.modules);"
        "print(sorted(heavy), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["documents"] == {"added": 0, "updated": 0, "unchanged": GOOD_FILES, "removed": 0, "failed": 0}
    assert done.stderr.strip() == "[]"


def test_a_folder_of_good_bad_changed_and_vanished_files(footnote: Footnote, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Kites\n\nThe red kite flies at noon.\n")
    (folder / "b.md").write_text("# Boats\n\nThe boat leaves at dawn.\n")
    (folder / "c.mobi").write_bytes(b"PK")
    first = footnote("ingest", str(folder), "--json")

    assert (first.code, first.json["documents"]["added"], first.json["failures"]) == (
        0,
        2,
        [{"path": "c.mobi", "reason": "no reader for .mobi"}],
    )
    (folder / "a.md").write_text("# Kites\n\nThe blue kite flies at midnight.\n")
    (folder / "b.md").unlink()
    second = footnote("ingest", str(folder), "--json").json["documents"]

    assert second == {"added": 0, "updated": 1, "unchanged": 0, "removed": 1, "failed": 1}
    found = footnote("search", "when does the kite fly", "--json").json["hits"]
    assert "midnight" in found[0]["snippet"]
    assert all(hit["document"] != "b.md" for hit in footnote("search", "boat at dawn", "--json").json["hits"])


def test_search_gives_pages_with_snippets_as_documented(footnote: Footnote) -> None:
    hits = footnote("search", "haunting of the drowned bell", "--limit", "3", "--json").json["hits"]

    assert 1 <= len(hits) <= 3
    assert set(hits[0]) == {
        "document", "document_title", "page_id", "page_number", "heading_path", "snippet", "summary", "topics",
        "matches", "score", "url",
    }  # fmt: skip
    assert hits[0]["document"] == "adventure/the-drowned-bell.json"
    only = footnote("search", "bell", "--document", "the-clockmaker-of-tern.txt", "--json").json["hits"]
    assert {hit["document"] for hit in only} == {"stories/the-clockmaker-of-tern.txt"}
    assert {
        hit["document"].rsplit(".", 1)[1] for hit in footnote("search", "bell", "--kind", "pdf", "--json").json["hits"]
    } <= {"pdf"}
    assert "page" in footnote("search", "bell").out


def test_a_page_is_shown_by_id_and_by_number_with_its_neighbours(footnote: Footnote) -> None:
    by_number = footnote("page", "--document", "the-clockmaker-of-tern.txt", "--number", "2", "--json").json
    by_id = footnote("page", by_number["page_id"], "--json").json

    assert by_id == by_number
    assert by_number["text"].strip()
    assert (by_number["previous"] is not None, by_number["page_number"]) == (True, 2)
    assert by_number["text"][:40] in footnote("page", by_number["page_id"]).out


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (("page", "nope"), 1, "nope"),
        (("page", "--document", "Fleet", "--number", "99"), 1, "99"),
        (("page",), 2, "give a page ID"),
        (("page", "--document", "Fleet"), 2, "give a page ID"),
        (("search", "x", "--limit", "21"), 2, "limit"),
        (("search", ""), 1, "Enter at least one word"),
        (("search", "bell", "--kind", "novel"), 1, "'novel'. Available kinds: "),
        (("ingest", ""), 2, "use . for the current folder"),
        (("documents", "--data-dir", ""), 2, "use . for the current folder"),
        (("documents", "--workspace", ""), 2, "omit --workspace"),
        (("ingest", "/no/such/folder"), 1, "does not exist"),
        (("documents", "show", "zebra"), 1, "zebra"),
        (("sources", "remove", "zebra"), 1, "sample library"),
        (("conversations", "show", "zebra"), 1, "zebra"),
        (("jobs", "show", "zebra"), 1, "zebra"),
        (("eval", "/no/such/file.jsonl"), 1, "Can't read"),
        (("nonsense",), 2, "nonsense"),
        (("--config", "/no/such.toml", "search", "x"), 1, "Can't read"),
    ],
)
def test_bad_input_gets_one_sentence_and_its_exit_code(
    footnote: Footnote, arguments: tuple[str, ...], code: int, part: str
) -> None:
    outcome = footnote(*arguments)

    assert (outcome.code, outcome.out) == (code, "")
    assert part in outcome.err
    assert "Traceback" not in outcome.err


def test_documents_and_sources_are_listed_shown_and_removed(footnote: Footnote) -> None:
    listed = footnote("documents", "list", "--json").json["documents"]
    assert len(listed) == GOOD_FILES == len(footnote("documents", "--json").json["documents"])
    assert set(listed[0]) == {
        "document", "source", "source_type", "source_url", "title", "kind", "revision", "pages", "passages",
        "crawled_at", "extracted_at", "failed_reason",
    }  # fmt: skip
    assert footnote("documents", "show", "Fleet", "--json").json["document"] == "operations/Fleet.md"
    assert footnote("documents", "remove", "Fleet", "--json").json == {
        "removed": "operations/Fleet.md",
        "documents": 1,
        "conversations": 0,
    }
    assert footnote("documents", "show", "operations/Fleet.md").code == 1
    assert footnote("sources", "list", "--json").json["sources"][0]["documents"] == GOOD_FILES - 1
    assert "sample library" in footnote("sources").out
    assert "Removed 'sample library'" in footnote("sources", "remove", "sample library").out
    assert footnote("search", "bell", "--json").json == {"hits": []}


def test_workspaces_see_nothing_of_each_other(footnote: Footnote) -> None:
    assert footnote("search", "bell", "--workspace", "other", "--json").json == {"hits": []}
    assert footnote("documents", "--workspace", "other", "--json").json == {"documents": []}
