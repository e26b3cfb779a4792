"""`workspaces`, the workspace of an ingest, and the doctor's findings about documents without readers."""

import asyncio
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.config import load_config
from bot.wiring.parts import open_parts
from storage.index.opening import INDEX_FOLDER
from tests.e2e.conftest import Footnote

HARBOUR = "123456789012345678"
LINK = "https://discord.com/oauth2/authorize?client_id=42&scope=bot+applications.commands&permissions=377957239936"


def connect(data_dir: Path, names: dict[str, str]) -> None:
    """Store the servers of a bot, as a running service does."""

    async def record() -> None:
        async with open_parts(load_config(data_dir=data_dir)) as app:
            await app.bindings.record_connected("discord", names)

    asyncio.run(record())


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "kites.md"
    path.write_text("# Kites\n\nThe red kite of Ondar flies at noon.\n")
    return path


def doctors(footnote: Footnote, name: str) -> tuple[bool, str]:
    [check] = [one for one in footnote("doctor", "--json").json["checks"] if one["name"] == name]
    return check["ok"], check["detail"]


def test_a_newcomers_server_is_found_bound_by_its_name_and_unbound(footnote: Footnote, data_dir: Path) -> None:
    before = doctors(footnote, "readers")
    connect(data_dir, {HARBOUR: "Harbour"})
    found = doctors(footnote, "readers")
    bound = footnote("workspaces", "bind", "discord", "harbour", "local")
    listed = footnote("workspaces", "--json").json["workspaces"]
    undone = footnote("workspaces", "unbind", "discord", "Harbour")

    assert before == (True, "local: the terminal, the web app")
    assert found[0] is False
    assert "`footnote workspaces bind discord Harbour local`" in found[1]
    assert "“Harbour” (Discord) now reads 'local'. Every channel there can read its" in bound.out
    team = {"platform": "discord", "id": HARBOUR, "name": "Harbour", "connected": True, "configured": False}
    assert [(one["workspace"], one["default"], one["readers"]) for one in listed] == [("local", True, [team])]
    assert f"now reads 'discord-{HARBOUR}'. It has no documents yet." in undone.out


def test_the_file_takes_precedence_over_the_command(footnote: Footnote, data_dir: Path, tmp_path: Path) -> None:
    connect(data_dir, {HARBOUR: "Harbour"})
    config = tmp_path / "fixed.toml"
    config.write_text(f'[discord.workspaces]\n{HARBOUR} = "crew"\n')
    refused = footnote("--config", str(config), "workspaces", "bind", "discord", "Harbour", "local")
    listed = footnote("--config", str(config), "workspaces")

    assert (refused.code, refused.out) == (1, "")
    assert "is bound to 'crew' in the configuration. Change [discord] workspaces in config.toml" in refused.err
    assert "“Harbour” (Discord), set in config.toml" in listed.out


def test_an_ingest_says_which_workspace_it_filled_and_who_reads_it(
    footnote: Footnote, data_dir: Path, note: Path
) -> None:
    alone = footnote("ingest", str(note))
    connect(data_dir, {HARBOUR: "Harbour"})
    unread = footnote("ingest", str(note))
    crew = footnote("ingest", str(note), "--workspace", "crew")
    found = doctors(footnote, "readers")
    machine = footnote("ingest", str(note), "--json")

    assert "Workspace 'local'. Read by: the terminal and the web app.\n" in alone.err
    assert "No server or team reads it yet: `footnote workspaces bind discord Harbour local`." in unread.err
    assert "Workspace 'crew'. Nobody reads it yet." in crew.err
    assert "`footnote workspaces bind discord Harbour crew`" in crew.err
    assert (found[0], "Nobody can read the 1 document in 'crew'." in found[1]) == (False, True)
    assert "Read by" not in machine.err


def test_every_command_says_the_same_of_an_empty_library(footnote: Footnote, tmp_path: Path) -> None:
    empty = ("--data-dir", str(tmp_path / "empty"))
    step = "Add some with `footnote ingest PATH`, or in the web app under Library."
    said = f"The workspace 'local' has no documents yet. {step}"
    asked = footnote("ask", "Where is the key?", *empty)
    crew = footnote("ask", "Where is the key?", *empty, "--workspace", "crew")
    answer = footnote("ask", "Where is the key?", *empty, "--json").json
    shown = {name: footnote(*name.split(), *empty) for name in ("search key", "documents", "sources", "doctor")}

    assert (asked.code, " ".join(asked.out.replace("`", "").split())) == (0, said.replace("`", ""))
    assert "footnote ingest PATH --workspace crew" in " ".join(crew.out.split())
    assert (answer["status"], answer["answer"], answer["citations"], answer["data_gaps"]) == ("not_found", said, [], [])
    assert {name: " ".join(one.out.split()) for name, one in shown.items() if name != "doctor"} == dict.fromkeys(
        ("search key", "documents", "sources"), said
    )
    assert shown["doctor"].code == 1
    assert f"✗ library: {said}\n" in shown["doctor"].out
    assert footnote("search", "key", *empty, "--json").json == {"hits": []}


def test_a_lost_index_is_no_empty_library(footnote: Footnote, data_dir: Path) -> None:
    shutil.rmtree(data_dir / INDEX_FOLDER)
    asked = footnote("ask", "What was the root cause of the ticket gate outage?", "--json").json
    footnote("db", "reindex")
    again = footnote("ask", "What was the root cause of the ticket gate outage?", "--json").json

    assert (asked["status"], asked["answer"]) == (
        "error",
        "The search index is empty. Build it again: `footnote db reindex`.",
    )
    assert again["status"] == "answered"


def test_the_doctor_breaks_no_link_at_any_width(footnote: Footnote, monkeypatch: pytest.MonkeyPatch) -> None:
    async def describe(token: str) -> str:
        return f"Footnote is ready; invite it with {LINK}"

    monkeypatch.setattr("bot.discordbot.connection.describe", describe)
    monkeypatch.setenv("DISCORD_TOKEN", "token")
    for width in ("40", "80", "1"):
        monkeypatch.setenv("COLUMNS", width)
        assert f"✓ discord: Footnote is ready; invite it with {LINK}\n" in footnote("doctor").out


def in_terminal(arguments: Sequence[str], typed: bytes) -> str:
    """The output of a command in a pseudo-terminal, in which somebody types; b"" ends the input."""
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "bot", *arguments]
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal):
        os.close(terminal)
        os.write(master, typed or b"\x04")
        shown = b""
        try:
            while piece := os.read(master, 4096):
                shown += piece
        except OSError:  # the other end is closed
            pass
    os.close(master)
    return shown.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (b"5\n2\n\n", "Workspace 'discord-123456789012345678'. Read by: “Harbour” (Discord)."),
        (b"\n\n", "Workspace 'local'. Read by: the terminal and the web app."),
        (b"", "Nothing was read. Repeat the command with --workspace NAME."),
    ],
)
def test_with_several_workspaces_an_ingest_asks_on_a_terminal(
    data_dir: Path, note: Path, typed: bytes, words: str
) -> None:
    connect(data_dir, {HARBOUR: "Harbour"})
    shown = in_terminal(["--data-dir", str(data_dir), "ingest", str(note)], typed)
    assert "Which workspace should get these documents?" in shown
    assert "2. discord-123456789012345678: 0 documents; “Harbour” (Discord)" in shown
    assert ("Enter a number from 1 to 2." in shown) is (b"5" in typed)
    assert words in " ".join(shown.split())
