"""A run of the tests that a shell started in the background: what its tests interrupt hears it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ASK = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
RUN = f"""
import subprocess, sys
from tests.conftest import pytest_configure
pytest_configure()
subprocess.run([sys.executable, "-c", {ASK!r}], check=True)
"""


@pytest.mark.parametrize("shell", ["", "trap '' INT; "], ids=["in front", "in the background"])
def test_processes_that_tests_start_can_be_interrupted(shell: str) -> None:
    command = ["sh", "-c", f'{shell}exec "$0" "$@"', sys.executable, "-c", RUN]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout == "True\n"
