"""How long a person waits while another one floods the bot: the inbox, the worker and a scripted model.

One person asks 500 questions at once, then another person asks one. Told is the time from that event's arrival to its
post, and how many answers of the flood came in between.

    python -m tests.benchmarks.bench_flood [--questions N] [--parallel N] [--seconds S] [--database URL]

Goal: under 2 s, with answers of `--seconds`.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bot.config import Config
from core.answering.run import RunObserver
from core.domain.answer import Draft, Evidence
from core.domain.chat import ChatMessage
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.limits import ParallelLimits
from core.domain.replies import CitedText
from core.ports import ProgressSink, Tools
from core.service.inbox import STANDARD_GATES, Inbox
from core.service.worker import Worker
from storage.database import Database
from storage.database.repositories.inbox import SqlInboxStore
from tests.benchmarks.bench_inbox import Ear
from tests.fakes import RealClock
from tests.kill.parts.service import PLATFORM, build_answers
from tests.unit.core.library_builder import Shelf


class SlowModel:
    """A strategy that takes so many seconds."""

    name = "slow model"

    def __init__(self, seconds: float, _: RunObserver) -> None:
        self._seconds = seconds

    async def draft(
        self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools, progress: ProgressSink
    ) -> Draft:
        await asyncio.sleep(self._seconds)
        return Draft(segments=(CitedText(text="Yes."),), evidence=Evidence())


async def measure(location: Path | str, questions: int, parallel: int, seconds: float) -> tuple[float, int]:
    """Seconds that the other person waited, and the answers of the flood in between."""
    database, shelf, clock, ear = await Database.open(location), Shelf(), RealClock(), Ear()
    await shelf.add("boat.md", "# Boat\n\nIt is red.")
    limits = ParallelLimits(person=Config().limits.person.parallel, platforms={PLATFORM})
    store = SqlInboxStore(database, clock, parallel=limits)
    worker = Worker(store, build_answers(database, clock, shelf, partial(SlowModel, seconds)), {PLATFORM: ear}, clock,
                    parallel=parallel)  # fmt: skip
    inbox = Inbox(store, STANDARD_GATES, clock, worker.wake)

    async def ask(person: str, key: str) -> asyncio.Future[float]:
        address = ThreadAddress(platform=PLATFORM, workspace="local", channel="c", thread=key)
        posted = ear.heard[key] = asyncio.get_running_loop().create_future()
        await inbox.receive(IncomingMessage(address=address, author=person, text="Is it?", event_key=key))
        return posted

    work = asyncio.create_task(worker.run())
    flood = await asyncio.gather(*(ask("ada", f"flood {number}") for number in range(questions)))
    before, started = sum(item.done() for item in flood), time.perf_counter()
    waited = await (await ask("ben", "one question")) - started
    between = sum(item.done() for item in flood) - before
    await worker.stop()
    await work
    await database.close()
    return waited, between


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--parallel", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--database", help="a PostgreSQL URL; a new SQLite file without one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        location = given.database or Path(folder) / "footnote.db"
        waited, between = asyncio.run(measure(location, given.questions, given.parallel, given.seconds))
    table = Table("", "goal", "measured")
    table.add_row("the other person's answer", "< 2 s", f"{waited:.2f} s")
    table.add_row("answers of the flood in between", "", str(between))
    Console().print(table)


if __name__ == "__main__":
    main()
