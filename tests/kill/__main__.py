"""`make kill-test`: python -m tests.kill [--questions N] [--threads N] [--kills N] [--stops N] [--seed N]

The real service: SIGTERM again and again, a full disk, then kill -9 again and again; the last line sums up.
`--kills 0` and `--stops 0` leave a part out. With --parts, the small process instead (see tests/kill/__init__.py); with
--parts --postgres, in a schema of its own in the database of FOOTNOTE_TEST_POSTGRES_URL, with a second process beside
the first.
"""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from sqlalchemy import create_engine, make_url, text

from tests.kill.parts.harness import Harness as PartsHarness
from tests.kill.parts.harness import Plan as PartsPlan
from tests.kill.served.disk import DiskReport, FullDisk
from tests.kill.served.harness import Harness, Plan, Report

STOPS_SHARE = 5  # stops see a question for every so many that kills see
MOST_LINES = 20  # of what went wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--threads", type=int, default=20)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--stops", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", action="store_true", help="the small process instead of the service")
    parser.add_argument("--postgres", action="store_true", help="with --parts: two processes on PostgreSQL")
    given = parser.parse_args()
    sys.exit(kill_parts(given) if given.parts else kill_service(given))


def kill_service(given: argparse.Namespace) -> int:
    """All that happens to the real service; the exit code."""
    kills = Plan(questions=given.questions, threads=given.threads, ends=given.kills, seed=given.seed)
    stops = replace(kills, questions=given.questions // STOPS_SHARE, ends=given.stops, ending=signal.SIGTERM)
    reports: list[Report | DiskReport] = []
    if stops.ends:
        reports.append(show("stopped", lambda folder: Harness(stops, folder).run()))
    reports.append(show("out of disk", lambda folder: FullDisk(folder, seed=given.seed).run()))
    reports.append(show("out of disk and killed", lambda folder: FullDisk(folder, seed=given.seed, dies=True).run()))
    if kills.ends:
        reports.append(show("killed", lambda folder: Harness(kills, folder).run()))
    asked = sum(report.asked for report in reports)
    faults = [report.faults for report in reports]
    say(
        f"{asked} questions in all: {sum(len(item.lost) for item in faults)} lost, "
        f"{sum(len(item.duplicate) for item in faults)} duplicate, "
        f"{sum(len(item.disordered) for item in faults)} out of order"
    )
    return int(any(report.wrong for report in reports))


def show(what: str, run: Callable[[Path], Coroutine[None, None, Report | DiskReport]]) -> Report | DiskReport:
    """Run one part in a folder of its own, and say what came of it."""
    say(f"The service is {what} ...")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(run(Path(folder)))
    for line in report.wrong[:MOST_LINES]:
        say(f"wrong: {line[:500]}")
    say(f"{report} ({time.monotonic() - started:.0f} s)\n")
    return report


def kill_parts(given: argparse.Namespace) -> int:
    """The same for the small process; the exit code."""
    plan = PartsPlan(questions=given.questions, threads=given.threads, kills=given.kills, seed=given.seed)
    with tempfile.TemporaryDirectory() as folder, own_schema() if given.postgres else nullcontext() as url:
        report = asyncio.run(PartsHarness(replace(plan, database=url), Path(folder)).run())
    for what in (report.lost, report.out_of_order, report.history_faults):
        if what:
            say(f"wrong: {', '.join(what[:MOST_LINES])}")
    say(str(report))
    return int(not report.is_clean)


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


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a report for the terminal


if __name__ == "__main__":
    main()
