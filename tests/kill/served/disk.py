"""A disk that fills up under the running service, and has room again.

From outside, without a hook: the process may not make files longer than they are (RLIMIT_FSIZE), as on a full disk.
"""

import asyncio
import resource
import signal
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.kill.served.counting import Faults, judge
from tests.kill.served.feed import Door, Question, Refused, build_questions
from tests.kill.served.harness import FINISH_SECONDS, to_told, wait_until_idle
from tests.kill.served.process import Served
from tests.kill.served.tables import LOG, read_records

FULL_SECONDS = 2.5  # long enough for some tries of the worker
API = "/api/v1/workspaces/local/chat"
NOT_TAKEN = "I couldn't save this message. Send it again later. The database "  # and what is the matter with it


@dataclass(slots=True, kw_only=True)
class DiskReport:
    asked: int
    refused: int = 0  # posts; what they held was sent again when there was room
    sentences: set[str] = field(default_factory=set)  # what people were told
    statuses: dict[str, int] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    complaints: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        """A line for each thing that must not be."""
        return [*self.faults.details(), *self.complaints, *([] if self.refused else ["nothing was refused"])]

    def __str__(self) -> str:
        found = ", ".join(f"{count} {status}" for status, count in sorted(self.statuses.items()))
        told = " / ".join(sorted(self.sentences))
        return (
            f"disk full: {self.refused} times refused ({told}), all sent again when there was room\n"
            f"{found}: {self.faults}"
        )


class FullDisk:
    """A third of the questions comes before the disk is full, a third while it is, a third after."""

    def __init__(
        self, folder: Path, *, questions: int = 60, threads: int = 4, seed: int = 1, dies: bool = False
    ) -> None:
        """`dies`: it is killed while the disk is full, and another process finds room again."""
        self._dies = dies
        self._served = Served(folder)
        self._questions = build_questions(questions, threads, 0.0, Random(seed))
        self._names: dict[int, str] = {}  # of threads
        self._order: dict[int, list[str]] = defaultdict(list)  # texts, by thread, as they were accepted
        self._report = DiskReport(asked=questions)

    async def run(self) -> DiskReport:
        await self._served.ingest()
        door = Door(self._served.url)
        third = len(self._questions) // 3
        try:
            await self._served.start()
            await self._served.ready()
            await self._deliver(door, self._questions[:third])
            with full_disk(self._served):
                refused = await self._try(door, self._questions[third : 2 * third])
                await asyncio.sleep(FULL_SECONDS)
                refused = await self._try(door, refused)
                await self._look_round(door)
                if self._dies:
                    await self._served.end(signal.SIGKILL)
            if self._dies:
                await self._served.start()
                await self._served.ready()
            await self._deliver(door, [*refused, *self._questions[2 * third :]])
            await wait_until_idle(door, FINISH_SECONDS)
            seen = {number: await door.show(name) for number, name in self._names.items()}
            await self._served.end(signal.SIGTERM)
        finally:
            await self._served.close()
            await door.close()
        self._count(seen)
        return self._report

    async def _deliver(self, door: Door, questions: Sequence[Question]) -> None:
        for question in questions:
            self._names[question.thread] = await door.deliver(question, self._names.get(question.thread, ""))
            self._order[question.thread].append(question.text)

    async def _try(self, door: Door, questions: Sequence[Question]) -> list[Question]:
        """Post each once; gives what was refused."""
        refused = []
        for question in questions:
            try:
                receipt = await door.post(question, self._names.get(question.thread, ""))
            except Refused as refusal:
                refused.append(question)
                self._report.refused += 1
                self._report.sentences.add(str(refusal))
            else:
                self._names[question.thread] = receipt["thread"]
                self._order[question.thread].append(question.text)
        return refused

    async def _look_round(self, door: Door) -> None:
        """What needs no room still works."""
        for path in ("/", "/healthz", "/chat/home", "/library"):
            async with door.session.get(path, cookies=door.cookies) as reply:
                if reply.status != 200:
                    self._report.complaints.append(f"{path} got {reply.status} while the disk was full")
        sent = {"json": {"message": "Where is the key of house 1?"}, "cookies": door.cookies}
        async with door.session.post(API, **sent) as reply:
            told = await reply.text()
            if reply.status != 503 or NOT_TAKEN not in told:
                self._report.complaints.append(f"the API said {reply.status} {told} while the disk was full")

    def _count(self, seen: dict[int, Any]) -> None:
        records = read_records(self._served.data_dir)
        report = self._report
        report.statuses = records.statuses
        for number, wanted in self._order.items():
            report.faults.add(judge(records.threads.get(self._names[number], []), wanted))
            report.faults.add(judge(to_told(seen[number]["messages"], records), wanted))
        if set(records.threads) != set(self._names.values()):
            report.complaints.append("there are threads that nobody opened")
        report.complaints += records.complaints(report.asked)
        report.complaints += self._served.complaints()


@contextmanager
def full_disk(served: Served) -> Iterator[None]:
    """No file of the running service can grow beyond its write-ahead log."""
    process = served.process.pid
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, ((served.data_dir / LOG).stat().st_size, before[1]))
    try:
        yield
    finally:
        if served.process.returncode is None:
            resource.prlimit(process, resource.RLIMIT_FSIZE, before)
