"""What the service adds to a question: inbox, job tree, history and post, with five recorded steps that do nothing.

Times are told from the event's arrival to its post; on a machine that does other things, look at the processor's.

    python -m tests.benchmarks.bench_inbox [--questions N] [--at-once N] [--database URL]

Goals on SQLite: median under 15 ms a question, each in its own thread; 200 at once at 100 a second or more.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from core.answering.run import RunObserver
from core.domain.answer import Draft, Evidence
from core.domain.chat import ChatMessage
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.jobs import JobKind
from core.domain.replies import CitedText
from core.domain.service import InboxEntry
from core.ports import ProgressSink, Tools
from core.service.inbox import STANDARD_GATES, Inbox
from core.service.worker import Worker
from core.work.progress import SilentProgress
from storage.database import Database
from storage.database.repositories.inbox import SqlInboxStore
from storage.database.repositories.jobs import SqlJobRepository
from tests.fakes import RealClock
from tests.kill.parts.service import PLATFORM, build_answers
from tests.unit.core.library_builder import Shelf

STEPS = 5


class NoWork:
    """A strategy of five recorded steps."""

    name = "no work"

    def __init__(self, observer: RunObserver) -> None:
        self._observer = observer

    async def draft(
        self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools, progress: ProgressSink
    ) -> Draft:
        for number in range(STEPS):
            async with self._observer.root.step(JobKind.TOOL, f"step {number}", input={"query": question.text}) as done:
                done.output = {"passages": number}
        return Draft(segments=(CitedText(text="Yes."),), evidence=Evidence())


class Ear:
    """A platform that only notes when each answer came."""

    name = PLATFORM

    def __init__(self) -> None:
        self.heard: dict[str, asyncio.Future[float]] = {}

    async def open(self, entry: object) -> SilentProgress:
        return SilentProgress()

    async def post(self, address: ThreadAddress, message_key: str, answer: object, *, look_first: bool) -> str:
        self.heard[message_key].set_result(time.perf_counter())
        return message_key

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> str:
        raise AssertionError(sentence)

    async def remove(self, entry: InboxEntry) -> None:
        raise AssertionError(entry)

    async def redact(self, entry: InboxEntry, sentence: str) -> None:
        raise AssertionError(entry)


class Bench:
    def __init__(self, database: Database, shelf: Shelf) -> None:
        """`shelf` needs a document: an empty library is answered without any step."""
        clock = RealClock()
        self.ear = Ear()
        store = SqlInboxStore(database, clock)
        answers, jobs = build_answers(database, clock, shelf, NoWork), SqlJobRepository(database)
        self.worker = Worker(store, answers, {PLATFORM: self.ear}, clock, jobs=jobs)
        self._inbox = Inbox(store, STANDARD_GATES, clock, self.worker.wake)

    async def ask(self, thread: str) -> float:
        """Milliseconds from the event's arrival to its post."""
        key = uuid.uuid4().hex
        address = ThreadAddress(platform=PLATFORM, workspace="local", channel="c", thread=thread)
        self.ear.heard[key] = asyncio.get_running_loop().create_future()
        started = time.perf_counter()
        await self._inbox.receive(IncomingMessage(address=address, author="ada", text="Is it?", event_key=key))
        return (await self.ear.heard[key] - started) * 1000


async def measure(location: Path | str, questions: int, at_once: int) -> tuple[list[float], float, float]:
    """Milliseconds of each question asked alone, those of the processor, and questions a second with many at once."""
    database = await Database.open(location)
    shelf = Shelf()
    await shelf.add("boat.md", "# Boat\n\nIt is red.")
    bench = Bench(database, shelf)
    work = asyncio.create_task(bench.worker.run())
    busy = time.process_time()
    alone = [await bench.ask(f"alone {number}") for number in range(questions)]
    busy = (time.process_time() - busy) * 1000 / questions
    started = time.perf_counter()
    await asyncio.gather(*(bench.ask(f"together {number}") for number in range(at_once)))
    rate = at_once / (time.perf_counter() - started)
    await bench.worker.stop()
    await work
    await database.close()
    return alone, busy, rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--database", help="a PostgreSQL URL; a new SQLite file without one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        location = given.database or Path(folder) / "footnote.db"
        alone, busy, rate = asyncio.run(measure(location, given.questions, given.at_once))
    table = Table("", "goal", "measured")
    table.add_row("median, one after another", "< 15 ms", f"{statistics.median(alone):.1f} ms")
    table.add_row("p95", "", f"{statistics.quantiles(alone, n=20)[-1]:.1f} ms")
    table.add_row("fastest", "", f"{min(alone):.1f} ms")
    table.add_row("processor time", "", f"{busy:.1f} ms")
    table.add_row(f"{given.at_once} at once", "≥ 100/s", f"{rate:.0f}/s")
    Console().print(table)


if __name__ == "__main__":
    main()
