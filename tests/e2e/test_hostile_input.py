"""The real command, as its own process, against what people, disks and other processes do to it."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.config.configuration import DATABASE_FILE
from storage.index.opening import INDEX_FOLDER
from tests.copying import copy_folder

ROOT = Path(__file__).parents[2]
WORDS = "tide lantern harbor oak mill river stone keeper bridge copper".split()
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="signals, pipes and devices as Linux has them")


@dataclass
class Command:
    """Runs `footnote` on one data directory."""

    data_dir: Path

    def start(self, *arguments: "str | bytes", **options: Any) -> "subprocess.Popen[str]":
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100"} | options.pop("env", {})
        start = [sys.executable, "-m", "bot", "--data-dir", str(self.data_dir)]
        return subprocess.Popen([*start, *arguments], env=environment, cwd=self.data_dir.parent, text=True, **options)

    def __call__(self, *arguments: "str | bytes", **options: Any) -> "subprocess.CompletedProcess[str]":
        process = self.start(*arguments, **options)
        out, error = process.communicate(timeout=120)
        assert "Traceback" not in (error or "")
        return subprocess.CompletedProcess(arguments, process.returncode, out, error)

    def stored(self) -> int:
        """Documents that are live."""
        file = self.data_dir / DATABASE_FILE
        if not file.exists():
            return 0
        with closing(sqlite3.connect(file)) as database:
            try:
                (count,) = database.execute("select count(*) from document where revision is not null").fetchone()
            except sqlite3.OperationalError:  # its tables are not made yet
                return 0
        return int(count)


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


@pytest.fixture(scope="module")
def one_note(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with one note in it."""
    folder = tmp_path_factory.mktemp("one")
    command = Command(folder / "data")
    assert command("ingest", str(write_notes(folder / "one", 1))).returncode == 0
    return command.data_dir


@pytest.fixture
def library(one_note: Path, command: Command) -> Command:
    """On a copy of it."""
    copy_folder(one_note, command.data_dir)
    return command


def write_notes(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        words = " ".join(WORDS[number % len(WORDS) :] + WORDS[: number % len(WORDS)])
        (folder / f"note{number:03}.md").write_text(f"# Note {number}\n\n" + f"{words} {number}.\n\n" * 30)
    return folder


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_odd_names_are_read_reported_and_never_obeyed(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    names = ["line\nbreak.md", "tab\tname.md", "back\\slash.md", "emoji 🎲.md", "-dash.md", "--json.md", "[red]x.md"]
    for name in names:
        (folder / name).write_text(f"# About\n\nThe lantern of {names.index(name)}.\n")
    (folder / "\x1b[31mred\n[bold].mobi").write_text("x")
    (folder / os.fsdecode(b"bad\xff.md")).write_text("x")
    (folder / "notes.md").mkdir()
    (folder / "notes.md" / "inner.md").write_text("An inner note.")
    (folder / "self").symlink_to(".")
    (folder / "up").symlink_to("..")
    (folder / "lost.md").symlink_to("nowhere.md")
    (folder / "loop").symlink_to("loop")

    done = command("ingest", str(folder), "--json")
    shown = command("ingest", str(folder))

    report = json.loads(done.stdout)
    assert report["documents"]["added"] == len(names) + 1
    assert {failure["path"]: failure["reason"] for failure in report["failures"]} == {
        "\x1b[31mred\n[bold].mobi": "no reader for .mobi",
        "bad\\xff.md": "a name that is not valid UTF-8; rename it",
        "up": "a link that leads out of the source's folder; ingest what it leads to by itself",
        "lost.md": "a link to 'nowhere.md', which does not exist; fix or remove it",
    }
    assert "␛[31mred␊[bold].mobi: no reader for .mobi" in shown.stdout
    assert "\x1b" not in shown.stdout


@linux_only
def test_paths_that_are_no_files_are_named_so(command: Command, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")

    done = command("ingest", str(tmp_path / "pipe.md"), "/dev/null", "--json")

    reasons = [failure["reason"] for failure in json.loads(done.stdout)["failures"]]
    assert reasons == ["a named pipe, not a file", "a device, not a file"]


def test_a_path_that_can_not_be_used_stops_the_command_before_anything_is_read(
    command: Command, tmp_path: Path
) -> None:
    write_notes(tmp_path / "one", 1)

    done = command("ingest", str(tmp_path / "one"), str(tmp_path / "none"))

    assert (done.returncode, done.stdout) == (1, "")
    assert "does not exist" in done.stderr
    assert command.stored() == 0


def test_a_kind_is_forced_and_an_unknown_one_is_answered_with_those_there_are(command: Command, tmp_path: Path) -> None:
    (tmp_path / "pump.log").write_text("The pump failed at dawn.")

    assert "use auto, markdown" in command("ingest", str(tmp_path / "pump.log"), "--kind", "mobi").stderr
    done = command("ingest", str(tmp_path / "pump.log"), "--kind", "text", "--json")

    assert json.loads(done.stdout)["documents"]["added"] == 1
    assert json.loads(command("search", "pump", "--kind", "text", "--json").stdout)["hits"]


@pytest.mark.parametrize("arguments", [("search", b"\xff"), ("--workspace", b"\xff", "documents"), ("ask", b"a\xc3")])
def test_arguments_that_are_no_text_are_refused(command: Command, arguments: "tuple[str | bytes, ...]") -> None:
    done = command(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert "isn't valid UTF-8" in done.stderr


def test_a_data_directory_that_is_a_file_is_said_to_be_one(command: Command) -> None:
    command.data_dir.write_text("")

    done = command("documents")

    assert (done.returncode, done.stdout) == (1, "")
    assert "choose another data directory" in done.stderr


def test_a_terminal_without_utf8_gets_escapes_and_valid_json(command: Command, tmp_path: Path) -> None:
    (tmp_path / "Zoë 🎲.md").write_text("# Zoë\n\nThe café is open…\n")
    ascii_only = {"PYTHONIOENCODING": "ascii", "LANG": "C", "LC_ALL": "C"}
    command("ingest", str(tmp_path / "Zoë 🎲.md"), env=ascii_only)

    shown = command("search", "café", env=ascii_only)
    found = command("search", "café", "--json", env=ascii_only)

    assert (shown.returncode, found.returncode) == (0, 0)
    assert "Zo\\xeb" in shown.stdout
    assert json.loads(found.stdout)["hits"][0]["document"] == "Zoë 🎲.md"


@linux_only
@pytest.mark.parametrize("as_json", [True, False])
def test_output_that_can_not_be_written_ends_in_a_sentence(library: Command, as_json: bool) -> None:
    with Path("/dev/full").open("w") as full:
        done = library("documents", *["--json"] * as_json, stdout=full)

    assert done.returncode == 1
    assert "No space left" in done.stderr


@linux_only
def test_output_that_nobody_reads_ends_quietly(library: Command) -> None:
    process = library.start("documents", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()

    assert process.wait(60) == 1
    assert process.stderr.read() == ""
    process.stderr.close()
    assert library("documents", "--json", stdout=None, preexec_fn=lambda: os.close(1)).returncode == 0


def test_a_busy_index_is_waited_for_and_then_explained(library: Command, tmp_path: Path) -> None:
    write_notes(tmp_path / "two", 1)
    holds = (
        "import sys, time, portalocker; file = open(sys.argv[1], 'a'); portalocker.lock(file, portalocker.LOCK_EX);"
        "print('held', flush=True); time.sleep(float(sys.argv[2]))"
    )
    lock = str(library.data_dir / INDEX_FOLDER / "lock")
    for seconds, code in ((60.0, 1), (1.5, 0)):
        holder = subprocess.Popen([sys.executable, "-c", holds, lock, str(seconds)], stdout=subprocess.PIPE)
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"

        done = library("search", "lantern", "--json")

        holder.kill()
        holder.communicate()
        assert done.returncode == code
        assert ("Another Footnote process is using the search index" in done.stderr) == bool(code)
        assert bool(done.stdout) == (not code)


@linux_only
def test_a_killed_ingest_leaves_no_dead_hits_and_the_next_completes(command: Command, tmp_path: Path) -> None:
    notes = str(write_notes(tmp_path / "notes", 40))
    process = command.start("ingest", notes, start_new_session=True)
    until(lambda: command.stored() > 0 or process.poll() is not None)
    process.kill()
    process.communicate()
    between = command.stored()

    found = json.loads(command("search", "lantern harbor", "--limit", "20", "--json").stdout)["hits"]
    assert 0 < len(found) <= between
    assert command("page", found[-1]["page_id"]).returncode == 0
    assert json.loads(command("ingest", notes, "--json").stdout)["documents"]["added"] == 40 - between
    assert json.loads(command("ingest", notes, "--json").stdout)["documents"]["unchanged"] == 40
    pages = [hit["page_id"] for hit in json.loads(command("search", "tide", "--limit", "20", "--json").stdout)["hits"]]
    assert len(set(pages)) == len(pages) == 20


@linux_only
@pytest.mark.parametrize("begun", [False, True])
def test_ctrl_c_ends_an_ingest_with_a_sentence_and_no_child(command: Command, tmp_path: Path, begun: bool) -> None:
    notes = str(write_notes(tmp_path / "notes", 40))
    process = command.start("ingest", notes, start_new_session=True)
    until((lambda: command.stored() > 0) if begun else (lambda: (command.data_dir / DATABASE_FILE).exists()))

    os.killpg(process.pid, signal.SIGINT)
    out, error = process.communicate(timeout=60)

    assert (process.returncode, out) == (130, "")
    assert error.splitlines() == [
        "Documents stored so far are kept. Run the command again to continue.",
        "footnote: stopped",
    ]
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert command("ingest", notes).returncode == 0
    assert command.stored() == 40
