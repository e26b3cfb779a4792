"""`footnote db` as a person or a script calls it, with and without a running service."""

import shutil
import time
from pathlib import Path

from tests.e2e.conftest import Footnote
from tests.e2e.serving import ServiceProcess

QUESTION = "What was the root cause of the ticket gate outage?"


def lose_index(data_dir: Path) -> None:
    shutil.rmtree(data_dir / "index")


def test_a_lost_index_is_told_and_built_again_from_the_database(footnote: Footnote, data_dir: Path) -> None:
    before = footnote("search", "ticket gate", "--json").json["hits"]
    lose_index(data_dir)

    for arguments in (("search", "ticket gate"), ("ask", QUESTION)):
        asked = footnote(*arguments)
        assert asked.code == 1
        assert "search index is empty" in asked.out + asked.err
        assert "footnote db reindex" in asked.out + asked.err
    assert "✗ index: The search index lacks" in footnote("doctor").out
    checked = footnote("db", "check", "--json")
    assert (checked.code, checked.json["ok"], len(checked.json["faults"])) == (1, False, 1)
    status = footnote("db", "--json").json
    assert status["index"] == {"passages": 0, "expected": status["rows"]["passages"]}

    mended = footnote("db", "reindex", "--json").json

    assert mended["passages"] == status["rows"]["passages"]
    assert footnote("search", "ticket gate", "--json").json["hits"] == before
    assert footnote("db", "check").out.strip() == "No problems found."
    assert footnote("db", "reindex").out.strip() == "The search index lacks nothing."


def test_an_index_of_another_model_is_built_from_scratch(footnote: Footnote, data_dir: Path) -> None:
    notes = data_dir / "index" / "index.json"
    notes.write_text(notes.read_text().replace('"model": "', '"model": "other-'))
    refused = footnote("search", "ticket gate")

    assert refused.code == 1
    assert "footnote db reindex --from-scratch" in refused.err
    assert footnote("db", "reindex", "--from-scratch", "--json").json["documents"] > 1
    assert footnote("search", "ticket gate", "--json").json["hits"]


def test_a_backup_brings_library_and_conversations_back(footnote: Footnote, data_dir: Path, tmp_path: Path) -> None:
    asked = footnote("ask", QUESTION, "--json").json
    file, new = tmp_path / "backup.zip", str(tmp_path / "elsewhere")
    written = footnote("db", "backup", str(file), "--json").json

    assert written == {"file": str(file), "bytes": file.stat().st_size}
    assert footnote("db", "backup", str(file)).code == 1
    restored = footnote("db", "restore", str(file), "--data-dir", new)
    assert (restored.code, "Indexed" in restored.out) == (0, True)
    shown = footnote("conversations", "show", asked["conversation_id"], "--data-dir", new, "--json").json
    assert [message["content"] for message in shown["messages"]][-1] == asked["answer"]
    again = footnote("ask", QUESTION, "--data-dir", new, "--json").json
    assert again["citations"][0]["quote"] == asked["citations"][0]["quote"]
    assert "is there already" in footnote("db", "restore", str(file), "--data-dir", new).err


def test_a_service_builds_what_its_index_lacks_and_answers_db_commands(
    footnote: Footnote, data_dir: Path, tmp_path: Path
) -> None:
    lose_index(data_dir)
    with ServiceProcess(data_dir) as service:
        service.wait_ready()

        while (index := footnote("db", "--json").json["index"])["passages"] < index["expected"]:
            time.sleep(0.1)  # the service indexes beside its other work
        assert footnote("db", "check").out.strip() == "No problems found."
        assert footnote("db", "backup", str(tmp_path / "backup.zip")).code == 0
        for arguments in (("reindex", "--from-scratch"), ("restore", str(tmp_path / "backup.zip"))):
            refused = footnote("db", *arguments)
            assert (refused.code, "Stop it" in refused.err) == (1, True)
        service.end()
    assert "indexed again now" in service.log.read_text()
