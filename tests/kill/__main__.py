"""`make kill-test`: python -m tests.kill [--questions N] [--threads N] [--kills N] [--seed N] [--signal KILL|TERM]"""

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.kill.harness import SHUTDOWN_SECONDS, Harness, Plan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--threads", type=int, default=20)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--signal", choices=("KILL", "TERM"), default="KILL")
    given = parser.parse_args()
    plan = Plan(
        questions=given.questions,
        threads=given.threads,
        kills=given.kills,
        seed=given.seed,
        ending=signal.Signals[f"SIG{given.signal}"],
    )
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(Harness(plan, Path(folder)).run())
    slow = plan.ending is signal.SIGTERM and report.longest_shutdown > SHUTDOWN_SECONDS
    print(f"{time.monotonic() - started:.0f} s; the longest end of a process took {report.longest_shutdown:.1f} s")  # noqa: T201 - a report for the terminal
    for name, what in (
        ("lost", report.lost),
        ("out of order", report.out_of_order),
        ("history", report.history_faults),
    ):
        if what:
            print(f"{name}: {', '.join(what[:20])}")  # noqa: T201 - a report for the terminal
    print(report)  # noqa: T201 - a report for the terminal
    sys.exit(not report.is_clean or slow)


if __name__ == "__main__":
    main()
