"""`.ci/install`, which `make setup` and `make demo` run: its progress, and its end when a package can't be fetched."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCK = "".join(f"package{number}==1.0 \\\n    --hash=sha256:0\n" for number in range(45))


def install(folder: Path, *, pip: str) -> "subprocess.CompletedProcess[str]":
    """Run it on a lock of 45 packages, in an environment whose Python is a shell script that plays pip."""
    (folder / "all.lock").write_text(LOCK)
    commands = folder / "environment/bin"
    commands.mkdir(parents=True)
    for name in ("python", "pip"):
        (commands / name).write_text(f"#!/bin/sh\n{pip}")
        (commands / name).chmod(0o755)
    command = [ROOT / ".ci/install", folder / "all.lock", folder / "environment"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)


@pytest.fixture
def collecting() -> str:
    return "".join(f"echo 'Collecting package{number}==1.0'\n" for number in range(45))


def test_progress_is_plain_lines(tmp_path: Path, collecting: str) -> None:
    big = "echo '  Downloading package7-1.0.whl (34.1 MB)'\necho '  Downloading package8-1.0.whl (1.9 MB)'\n"
    run = install(tmp_path, pip=f"{collecting}{big}echo 'Installing collected packages: package0'\n")
    lines = run.stdout.splitlines()[:6]
    assert run.returncode == 0
    assert lines[0].startswith("Fetching the 45 packages of ")
    assert lines[1:5] == ["  20 of 45", "  40 of 45", "  Downloading package7-1.0.whl (34.1 MB)", "Unpacking them"]


def test_a_failure_shows_why_and_stops_make(tmp_path: Path, collecting: str) -> None:
    run = install(tmp_path, pip=f"{collecting}echo 'ERROR: no file of package45 has this hash' >&2\nexit 1\n")
    assert run.returncode == 1
    assert "ERROR: no file of package45 has this hash" in run.stderr
