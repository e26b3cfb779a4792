"""Sources of the configuration, as a person or a script syncs, lists and removes them."""

from pathlib import Path

import pytest

from tests.e2e.conftest import Footnote
from tests.e2e.terminal import Terminal


@pytest.fixture
def notes(data_dir: Path) -> Path:
    """A configured folder beside the data directory, and a source that can't be had."""
    folder = data_dir.parent / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text("# Ferry\n\nThe ferry crosses the Lune at noon.\n")
    configure(data_dir, folder, with_broken=True)
    return folder


def configure(data_dir: Path, folder: Path | None, *, with_broken: bool) -> None:
    sources = []
    if folder is not None:
        sources.append(f'[[sources]]\nname = "notes"\nkind = "folder"\npath = "{folder}"\nexclude = ["drafts/**"]\n')
    if with_broken:
        sources.append(
            '[[sources]]\nname = "gone"\nkind = "git"\nallow_private = true\n'
            f'url = "{(data_dir / "none.git").as_uri()}"\n'
        )
    (data_dir.parent / "config.toml").write_text("\n".join(sources))


def test_a_sync_reports_each_source_and_fails_when_one_did(footnote: Footnote, notes: Path) -> None:
    done = footnote("sync", "--json")
    good, bad = done.json["sources"]

    assert done.code == 1
    assert (good["source"], good["result"], good["report"]["documents"]["added"]) == ("notes", "done", 1)
    assert (bad["source"], bad["result"], bad["report"]) == ("gone", "failed", None)
    assert bad["error"].startswith("git fetch of ") and bad["failing_since"] is not None
    assert footnote("sync", "notes").code == 0
    assert "noon" in footnote("search", "when does the ferry cross the Lune").out


def test_sources_are_listed_with_their_last_sync_and_since_when_they_fail(footnote: Footnote, notes: Path) -> None:
    footnote("sync")
    shown = footnote("sources").out
    listed = {item["source"]: item for item in footnote("sources", "--json").json["sources"]}

    assert "gone fails since" in shown
    assert listed["notes"]["last_sync"]["result"] == "done" and listed["notes"]["documents"] == 1
    assert listed["gone"]["last_sync"]["result"] == "failed" and listed["gone"]["configured"]
    assert listed["sample library"]["last_sync"] is None and not listed["sample library"]["orphan"]


def test_a_source_taken_out_of_the_configuration_is_told_and_goes_when_it_is_removed(
    footnote: Footnote, notes: Path, data_dir: Path
) -> None:
    footnote("sync", "notes")
    assert "still configured" in footnote("sources", "remove", "notes").err
    footnote("sync", "notes")
    configure(data_dir, None, with_broken=False)

    assert "notes is no longer in the configuration" in footnote("sources").out
    assert footnote("sync").out.startswith("No sources to sync")
    assert footnote("sources", "remove", "notes").code == 0
    assert "notes" not in footnote("sources").out


def test_a_person_at_a_terminal_is_asked_who_may_read_a_new_source(
    footnote: Footnote, notes: Path, data_dir: Path
) -> None:
    config = str(data_dir.parent / "config.toml")
    terminal = Terminal("--config", config, "--data-dir", str(data_dir), "sync", "notes", environment={"NO_COLOR": "1"})
    terminal.wait_for("Who may read 'notes' in chats? Enter for nobody.")
    terminal.type("crew\n")
    terminal.wait_for("'crew' is no reader")
    terminal.type("role:7\n")
    assert terminal.end() == 0

    assert footnote("sources", "readers", "notes").out.strip() == "notes: role:7"


def test_a_source_that_is_not_there_gets_one_sentence(footnote: Footnote, notes: Path) -> None:
    done = footnote("sync", "nots")
    assert (done.code, done.out) == (1, "")
    assert "'notes', 'gone'" in done.err
