"""The data directory is for its owner alone, whatever the process's umask, and whatever an earlier version left."""

import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

OTHERS = 0o077


def run(data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process that lets everybody read and write its files."""
    command = [sys.executable, "-m", "bot", "--data-dir", str(data_dir), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, umask=0)


def open_paths(folder: Path) -> list[tuple[str, str]]:
    """The folder and everything in it that others may read, write or enter."""
    found = [(path, stat.S_IMODE(path.stat().st_mode)) for path in (folder, *folder.rglob("*"))]
    return [(str(path.relative_to(folder)), oct(mode)) for path, mode in found if mode & OTHERS]


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "fleet.md").write_text("# Fleet\n\nThe ferry Marigold carries forty bicycles.\n")
    yield folder


def test_only_the_owner_can_read_what_a_command_writes(tmp_path: Path, notes: Path) -> None:
    run(tmp_path / "data", "ingest", str(notes))
    run(tmp_path / "data", "ask", "How many bicycles does the Marigold carry?")
    run(tmp_path / "data", "db", "backup", str(tmp_path / "data" / "copy.zip"))

    assert (tmp_path / "data" / "footnote.db").exists()
    assert open_paths(tmp_path / "data") == []


def test_a_directory_that_was_left_open_is_closed(tmp_path: Path, notes: Path) -> None:
    data = tmp_path / "data"
    run(data, "ingest", str(notes))
    for path in (data, *data.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    outside = tmp_path / "elsewhere.txt"
    outside.write_text("mine")
    outside.chmod(0o644)
    (data / "link.txt").symlink_to(outside)

    run(data, "documents")

    assert [item for item in open_paths(data) if item[0] != "link.txt"] == []
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644
