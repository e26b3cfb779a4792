"""Ends the service again and again while questions come in, then counts from outside what became of each.

Counted twice: in the raw tables, and in the threads as the web chat shows them.
"""

import asyncio
import random
import signal
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kill.served.counting import Faults, Said, judge
from tests.kill.served.feed import Door, Question, build_questions
from tests.kill.served.process import Served
from tests.kill.served.tables import Moment, Records, read_moment, read_records, to_answer

# A process lives, after it is ready, for up to this many times what its start took: so a slower machine answers as much
# in a life. Most questions need no more than a few lives; after ten they are given up.
LONGEST_LIFE = 4.5
EARLY_SHARE = 0.15  # of ends, while it still starts
LAST_BURST_SECONDS = (0.02, 0.25)  # before the end more questions come, so that work is under way on any machine
HEAD_START = 2  # questions a thread that come at once
FINISH_SECONDS = 600.0  # for the last process to answer what is left
SHUTDOWN_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    questions: int
    threads: int
    ends: int
    seed: int = 1
    repeated: float = 0.3  # share of events that are delivered twice
    ending: signal.Signals = signal.SIGKILL
    longest_life: float = LONGEST_LIFE


@dataclass(slots=True, kw_only=True)
class Report:
    plan: Plan
    faults: Faults
    statuses: dict[str, int]
    complaints: list[str]
    repeats: int = 0
    broken: int = 0
    early: int = 0
    hits: list[int] = field(default_factory=list)  # of each end: answers that were under way
    ends_seconds: list[float] = field(default_factory=list)
    starts_seconds: list[float] = field(default_factory=list)

    @property
    def asked(self) -> int:
        return self.plan.questions

    @property
    def longest_end(self) -> float:
        return max(self.ends_seconds)

    @property
    def wrong(self) -> list[str]:
        """A line for each thing that must not be."""
        stops = self.ends_seconds if self.plan.ending is signal.SIGTERM else []
        slow = [f"a stop took {seconds:.1f} s" for seconds in stops if seconds >= SHUTDOWN_SECONDS]
        return [*self.faults.details(), *self.complaints, *slow]

    def __str__(self) -> str:
        found = ", ".join(f"{count} {status}" for status, count in sorted(self.statuses.items()))
        return (
            f"{self.plan.questions} questions in {self.plan.threads} threads, {self.repeats} repeated events, "
            f"{self.broken} sent again after a broken connection; {self.plan.ends} times {self.plan.ending.name}, "
            f"{self.early} of them while it started, {sum(map(bool, self.hits))} in the middle of answers "
            f"({sum(self.hits)}); a start took up to {max(self.starts_seconds):.1f} s, "
            f"an end up to {self.longest_end:.1f} s\n{found}: {self.faults}"
        )


class Harness:
    def __init__(self, plan: Plan, folder: Path) -> None:
        self._plan = plan
        self._choices = random.Random(plan.seed)
        self._questions = build_questions(plan.questions, plan.threads, plan.repeated, self._choices)
        self._served = Served(folder)
        self._pace = asyncio.Semaphore(0)
        self._left = plan.questions  # not yet let go
        self._moment = Moment(running=frozenset(), cut_off=frozenset())
        self._report = Report(plan=plan, faults=Faults(), statuses={}, complaints=[])

    async def run(self) -> Report:
        await self._served.ingest()
        door = Door(self._served.url)
        threads: dict[int, list[Question]] = defaultdict(list)
        for question in self._questions:
            threads[question.thread].append(question)
        feeders = [asyncio.create_task(door.feed(own, self._pace)) for own in threads.values()]
        try:
            self._release(HEAD_START * self._plan.threads)
            for number in range(self._plan.ends):
                await self._round(self._left // (self._plan.ends - number + 1) + 1)
                for feeder in feeders:
                    if feeder.done():
                        feeder.result()
            await self._last_round(door, feeders)
        finally:
            for feeder in feeders:
                feeder.cancel()
            await self._served.close()
            await door.close()
        self._report.repeats, self._report.broken = door.repeats, door.broken
        self._report.complaints += self._served.complaints()
        return self._report

    def _release(self, count: int) -> None:
        """Let so many more questions be asked."""
        count = min(count, self._left)
        self._left -= count
        for _ in range(count):
            self._pace.release()

    async def _round(self, share: int) -> None:
        """One life of the service: a burst of questions at its start, another before its end."""
        await self._served.start()
        self._release(share // 2)
        if self._report.starts_seconds and self._choices.random() < EARLY_SHARE:
            self._report.early += 1
            await asyncio.sleep(self._choices.uniform(0, min(self._report.starts_seconds)))
        else:
            self._report.starts_seconds.append(await self._served.ready())
            life = self._choices.uniform(0, self._plan.longest_life * self._report.starts_seconds[-1])
            last = min(life, self._choices.uniform(*LAST_BURST_SECONDS))
            await asyncio.sleep(life - last)
            self._release(share - share // 2)
            await asyncio.sleep(last)
        await self._end()

    async def _end(self) -> None:
        self._report.ends_seconds.append(await self._served.end(self._plan.ending))
        before, self._moment = self._moment, read_moment(self._served.data_dir)
        hit = (self._moment.running - before.running) | (self._moment.cut_off - before.cut_off)
        self._report.hits.append(len(hit))

    async def _last_round(self, door: Door, feeders: list[asyncio.Task[str]]) -> None:
        """The process that may finish; then the counting."""
        await self._served.start()
        await self._served.ready()
        self._release(self._left)
        names = await asyncio.wait_for(asyncio.gather(*feeders), FINISH_SECONDS)
        await wait_until_idle(door, FINISH_SECONDS)
        seen = {name: await door.show(name) for name in names}  # in the threads' order
        await self._served.end(signal.SIGTERM)
        if self._served.process.returncode != 0:
            self._report.complaints.append(f"the last process ended with {self._served.process.returncode}")
        self._count(read_records(self._served.data_dir), seen)

    def _count(self, records: Records, seen: dict[str, Any]) -> None:
        """Judge each thread twice: as the tables have it, and as the page shows it."""
        wanted: dict[str, list[str]] = {name: [] for name in seen}
        for question in self._questions:
            wanted[list(seen)[question.thread]].append(question.text)
        report = self._report
        report.statuses = records.statuses
        for name, texts in wanted.items():
            report.faults.add(judge(records.threads.get(name, []), texts))
            report.faults.add(judge(to_told(seen[name]["messages"], records), texts))
            report.complaints += [f"{name} shows {item} as waiting" for item in seen[name]["waiting"]]
        report.complaints += [f"nobody opened thread {name}" for name in records.threads.keys() - seen.keys()]
        report.complaints += records.complaints(self._plan.questions)


def to_told(messages: Sequence[dict[str, Any]], records: Records) -> list[Said]:
    """A thread as the chat page shows it."""
    told: list[Said] = []
    for item in messages:
        if item["role"] == "user":
            told.append(Said(item["text"], is_answer=False))
        else:
            told.append(to_answer(told, records.asked.get(item["job"])))
    return told


async def wait_until_idle(door: Door, seconds: float) -> None:
    """Until nothing waits for its answer any more. TimeoutError."""
    async with asyncio.timeout(seconds):
        while not await door.is_idle():  # noqa: ASYNC110 - it is asked over HTTP
            await asyncio.sleep(0.1)
