"""What a service costs that nobody asks anything.

    python -m tests.benchmarks.bench_service [--passages N] [--seconds S]

The real process, over a made-up library; goals: under 1 % of a core, under 400 MB with 10,000 passages. Then the time
to start, a search through the running service from a process of its own, and the time to stop.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from bot.config import Config
from bot.wiring.parts import open_parts
from tests.benchmarks.bench_search import RandomPassages
from tests.e2e.serving import ColdServiceProcess

PASSAGES = 10_000
SECONDS = 30.0
SETTLE_SECONDS = 5.0  # after the start: models load, first polls
NOTES = 250  # files the library is split into
WORDS_A_PASSAGE = 67
COMMANDS = 5
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--passages", type=int, default=PASSAGES)
    arguments.add_argument("--seconds", type=float, default=SECONDS, help="how long it is left alone")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        stored = asyncio.run(build_library(data_dir, chosen.passages))
        row = measure(data_dir, chosen.seconds)
    table = Table("passages", *row, title="An idle service")
    table.add_row(f"{stored:,}", *row.values())
    Console().print(table)


async def build_library(data_dir: Path, passages: int) -> int:
    """Notes in one source, with random vectors in the place of the model's; gives the passages stored."""
    notes = data_dir.parent / "notes"
    notes.mkdir()
    sentence = "The crew of boat {n} reports that buoy {m} was seen again near the harbour of Ondar this week. "
    each = passages // NOTES * WORDS_A_PASSAGE // len(sentence.split())
    for note in range(NOTES):
        lines = (sentence.format(n=note, m=number) for number in range(each * 2))
        (notes / f"note-{note}.md").write_text(f"# Note {note}\n\n{''.join(lines)}\n")
    async with open_parts(Config(data_dir=data_dir)) as app:
        vars(app)["embedder"] = RandomPassages(app.embedder)
        report = await app.ingests.add(
            [notes], app.workspace, source="notes", kind="auto", force=False, progress=lambda progress: None
        )
    return report.passages


def measure(data_dir: Path, seconds: float) -> dict[str, str]:
    began = time.perf_counter()
    with ColdServiceProcess(data_dir) as service:
        service.wait_ready()
        ready = time.perf_counter() - began
        searches = [_search(data_dir) for _ in range(COMMANDS)]
        time.sleep(SETTLE_SECONDS)
        before = _cpu_seconds(service.process.pid)
        time.sleep(seconds)
        used = _cpu_seconds(service.process.pid) - before
        memory = _memory(service.process.pid)
        _, ending = service.end()
    return {
        "ready in": f"{ready:.1f} s",
        "processor": f"{100 * used / seconds:.2f} %",
        "memory": f"{memory:.0f} MB",
        "a search command": f"{median(searches):.2f} s",
        "stopped in": f"{ending:.2f} s",
    }


def _search(data_dir: Path) -> float:
    command = [sys.executable, "-m", "bot", "--data-dir", str(data_dir), "search", "buoys near the harbour", "--json"]
    began = time.perf_counter()
    found = subprocess.run(command, capture_output=True, check=True)
    took = time.perf_counter() - began
    if not json.loads(found.stdout)["hits"]:
        raise RuntimeError("the search found nothing")
    return took


def _cpu_seconds(pid: int) -> float:
    """User and system time so far; Linux alone."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _memory(pid: int) -> float:
    """Resident, in MB."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("the process has ended")


if __name__ == "__main__":
    main()
