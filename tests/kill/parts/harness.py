"""Kills a process that answers questions, again and again, and counts what it lost, repeated or confused.

The harness is the platform's side of the deal: it delivers events in each thread's order, delivers again what was not
acknowledged, and some of what was. Every random choice comes from one seed; when exactly a kill hits does not.
"""

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from sqlalchemy import Connection, text

from storage.database.engines import build_engine
from tests.kill.parts.service import read_posts

ROOT = Path(__file__).parents[3]
ROUND_SECONDS = (0.05, 0.9)  # how long a process lives after it is ready
EARLY_SHARE = 0.15  # of kills, at any moment from the process's start on, ready or not
EARLY_SECONDS = 1.5
RIVAL_SECONDS = (1.5, 5.0)
FINISH_SECONDS = 120.0  # for the last process to answer what is left
SHUTDOWN_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    questions: int
    threads: int
    kills: int
    seed: int = 1
    repeated: float = 0.3  # share of events that are delivered twice
    ending: signal.Signals = signal.SIGKILL
    database: str | None = None  # a PostgreSQL URL; then a second process works, and is killed, beside the first


@dataclass(kw_only=True)
class Report:
    questions: int
    threads: int
    repeats: int
    kills: int
    signal_name: str
    lost: list[str]
    duplicates: int
    out_of_order: list[str]
    history_faults: list[str]
    longest_shutdown: float

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.duplicates or self.out_of_order or self.history_faults)

    def __str__(self) -> str:
        return (
            f"{self.questions} questions, {self.threads} threads, {self.repeats} repeated events, {self.kills} times "
            f"{self.signal_name}: {len(self.lost)} lost, {self.duplicates} duplicate posts, "
            f"{len(self.out_of_order)} out of order, {len(self.history_faults)} faults in the history"
        )


@dataclass
class Feed:
    """What has to be delivered: each thread's events in order, with repeats strewn in."""

    waiting: list[dict[str, str]]
    acknowledged: set[str] = field(default_factory=set)
    sent: list[dict[str, str]] = field(default_factory=list)  # by the running process, without an acknowledgement

    def begin(self) -> None:
        """A new process: what the last one did not acknowledge comes again, before all else."""
        unsettled = [event for event in self.sent if event["id"] not in self.acknowledged]
        self.waiting = unsettled + self.waiting
        self.sent = []


class Harness:
    def __init__(self, plan: Plan, folder: Path) -> None:
        self._plan = plan
        self._folder = folder
        self._random = random.Random(plan.seed)
        self._questions = [
            {"id": f"q{number}", "thread": f"t{number % plan.threads}", "text": f"Where is key {number}?"}
            for number in range(plan.questions)
        ]
        self._feed = Feed(self._with_repeats())
        self._longest_shutdown = 0.0

    async def run(self) -> Report:
        rival = asyncio.create_task(self._rival()) if self._plan.database else None
        for number in range(self._plan.kills):
            share = len(self._feed.waiting) // (self._plan.kills - number + 1) + 1
            await self._round(share)
        await self._last_round()
        if rival is not None:
            rival.cancel()
            await asyncio.wait({rival})
        return self._report()

    async def _rival(self) -> None:
        """A process that is fed nothing and takes work from the others, until it is killed and another comes."""
        choices = random.Random(self._plan.seed + 1)
        while True:
            process = await self._spawn()
            try:
                await asyncio.sleep(choices.uniform(*RIVAL_SECONDS))
            finally:
                process.kill()
                await process.communicate()

    def _with_repeats(self) -> list[dict[str, str]]:
        events = list(self._questions)
        for event in self._random.sample(self._questions, round(self._plan.repeated * len(events))):
            place = events.index(event)
            events.insert(min(len(events), place + self._random.randint(1, 40)), event)
        return events

    async def _round(self, share: int) -> None:
        """A process lives for a while, is fed meanwhile, and is killed."""
        process, started = await self._start(), time.monotonic()
        if self._random.random() < EARLY_SHARE:
            deadline = started + self._random.uniform(0, EARLY_SECONDS)
        else:
            await process.stdout.readline()
            deadline = time.monotonic() + self._random.uniform(*ROUND_SECONDS)
        listen = asyncio.create_task(self._listen(process))
        events = [self._feed.waiting.pop(0) for _ in range(min(share, len(self._feed.waiting)))]
        for event in events:
            await self._send(process, event)
            await asyncio.sleep(max(0.0, deadline - time.monotonic()) / (len(events) + 1) * self._random.random())
        await asyncio.sleep(max(0.0, deadline - time.monotonic()))
        await self._end(process)
        await listen

    async def _last_round(self) -> None:
        process = await self._start()
        listen = asyncio.create_task(self._listen(process))
        while self._feed.waiting:
            await self._send(process, self._feed.waiting.pop(0))
        deadline = time.monotonic() + FINISH_SECONDS
        while time.monotonic() < deadline and not self._is_finished():  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        await process.wait()
        await listen

    async def _start(self) -> asyncio.subprocess.Process:
        self._feed.begin()
        return await self._spawn()

    async def _spawn(self) -> asyncio.subprocess.Process:
        given = [str(self._folder), *([self._plan.database] if self._plan.database else [])]
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.kill.parts.child", *given, cwd=ROOT,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": "0"},
        )  # fmt: skip

    async def _send(self, process: asyncio.subprocess.Process, event: dict[str, str]) -> None:
        self._feed.sent.append(event)
        try:
            process.stdin.write(json.dumps(event).encode() + b"\n")
            await process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            return  # it is dead: the event comes again

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        while line := await process.stdout.readline():
            if line.startswith(b"ack ") and line.endswith(b"\n"):
                self._feed.acknowledged.add(line.split()[1].decode())

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        started = time.monotonic()
        if process.returncode is None:
            process.send_signal(self._plan.ending)
        await process.wait()
        self._longest_shutdown = max(self._longest_shutdown, time.monotonic() - started)

    def _is_finished(self) -> bool:
        return len({post["key"] for post in read_posts(self._folder / "posts.jsonl")}) >= self._plan.questions

    def _report(self) -> Report:
        posts = read_posts(self._folder / "posts.jsonl")
        raw = Counter(post["key"].rpartition(":")[2] for post in posts)
        place = {key: n for n, key in enumerate(dict.fromkeys(post["key"].rpartition(":")[2] for post in posts))}
        confused = []
        for thread in range(self._plan.threads):
            own = [event["id"] for event in self._questions if event["thread"] == f"t{thread}" and event["id"] in place]
            confused += [later for earlier, later in pairwise(own) if place[earlier] > place[later]]
        return Report(
            questions=self._plan.questions,
            threads=self._plan.threads,
            repeats=round(self._plan.repeated * self._plan.questions),
            kills=self._plan.kills,
            signal_name=self._plan.ending.name,
            lost=[event["id"] for event in self._questions if event["id"] not in raw],
            duplicates=sum(raw.values()) - len(raw),
            out_of_order=confused,
            history_faults=self._history_faults(),
            longest_shutdown=self._longest_shutdown,
        )

    def _history_faults(self) -> list[str]:
        """What the history or the job trees do not tell as it was."""
        engine, _ = build_engine(self._plan.database or self._folder / "footnote.db")
        try:
            with engine.connect() as connection:
                return [*self._threads_told_wrong(connection), *self._trees_left_open(connection)]
        finally:
            engine.dispose()

    def _trees_left_open(self, connection: Connection) -> list[str]:
        """A line where not each question has one request that is done, with one post under it that is done."""
        query = (
            "SELECT count(*) FROM job r JOIN job p ON p.parent_id = r.id AND p.kind = 'post' AND p.status = 'done'"
            " WHERE r.parent_id IS NULL AND r.kind = 'request' AND r.status = 'done'"
        )
        whole = connection.execute(text(query)).scalar_one()
        roots = connection.execute(text("SELECT count(*) FROM job WHERE parent_id IS NULL")).scalar_one()
        asked = len(self._questions)
        return [] if whole == roots == asked else [f"{asked} questions, {roots} trees, {whole} of them whole"]

    def _threads_told_wrong(self, connection: Connection) -> list[str]:
        """Threads whose history is not: each question in order, each followed by exactly one answer."""
        query = (
            "SELECT c.thread, m.role, m.content FROM message m JOIN conversation c ON c.id = m.conversation_id"
            " WHERE m.role <> 'tool_result' ORDER BY c.thread, m.sequence"
        )
        told: dict[str, list[str]] = {}
        for thread, role, content in connection.execute(text(query)):
            told.setdefault(thread, []).append(content if role == "user" else role)
        wanted: dict[str, list[str]] = {}
        for event in self._questions:
            wanted.setdefault(event["thread"], []).extend((event["text"], "assistant"))
        return [thread for thread in wanted if told.get(thread) != wanted[thread]]
