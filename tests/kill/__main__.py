"""`make kill-test`: python -m tests.kill [--questions N] [--threads N] [--kills N] [--seed N] [--signal KILL|TERM]

With FOOTNOTE_TEST_POSTGRES_URL and --postgres, in a schema of its own there, with a second process beside the first.
"""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from sqlalchemy import create_engine, make_url, text

from tests.kill.parts.harness import SHUTDOWN_SECONDS, Harness, Plan


@contextmanager
def own_schema() -> Iterator[str]:
    """A URL with a new schema, dropped at the end."""
    server = make_url(os.environ["FOOTNOTE_TEST_POSTGRES_URL"])
    schema = f"footnote_kill_{os.getpid()}"
    engine = create_engine(server.set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    yield server.update_query_dict({"options": f"-csearch_path={schema}"}).render_as_string(False)
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    engine.dispose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--threads", type=int, default=20)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--signal", choices=("KILL", "TERM"), default="KILL")
    parser.add_argument("--postgres", action="store_true")
    given = parser.parse_args()
    plan = Plan(
        questions=given.questions,
        threads=given.threads,
        kills=given.kills,
        seed=given.seed,
        ending=signal.Signals[f"SIG{given.signal}"],
    )
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, own_schema() if given.postgres else nullcontext() as url:
        plan = replace(plan, database=url)
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
