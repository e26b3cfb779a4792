"""The writer's queue: one thread, first come first served; writes that wait side by side share a commit.

A commit costs more than most writes, most of all one that waits for the disk. Sharing it changes nothing for a caller:
when one write of a group fails, the whole group is undone and each is done again by itself.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeVar

from sqlalchemy import Connection

T = TypeVar("T")
Work = Callable[[Connection], Any]

MOST_TOGETHER = 32  # writes in a commit: some 10 ms of work, which the first of them waits for


class Commit(IntEnum):
    """What a commit waits for. A group's is the strongest of its writes."""

    RECORD = 0  # for nothing: what a power cut takes was only to be looked at
    NORMAL = 1  # as the database is configured: PostgreSQL waits for the disk, SQLite does not
    DURABLE = 2  # for the disk, on every database


@dataclass(frozen=True, slots=True)
class Write:
    """One write that waits for its turn. `is_shared`: it may stand in a group, and then may be done twice."""

    work: Work
    commit: Commit
    is_shared: bool
    done: "asyncio.Future[Any]"


class Writer:
    """`run` does a group of works in one transaction, in the writer's thread, and gives their results."""

    def __init__(self, run: Callable[[Sequence[Work], Commit], list[Any]]) -> None:
        self._run = run
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sql-write")
        self._lock = threading.Lock()  # of the two below
        self._waiting: deque[Write] = deque()
        self._is_draining = False

    async def write(self, work: Callable[[Connection], T], commit: Commit, *, is_shared: bool) -> T:
        """Raises what the work or its commit raises. A write whose caller was cancelled before its turn is left out."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._lock:
            self._waiting.append(Write(work, commit, is_shared, done))
            if not self._is_draining:
                self._thread.submit(self._drain)
                self._is_draining = True
        return await done

    def close(self) -> None:
        """Wait for all that was asked for."""
        self._thread.shutdown()

    def _drain(self) -> None:
        while group := self._take():
            try:
                results = self._run([write.work for write in group], max(write.commit for write in group))
            except Exception as error:
                if len(group) == 1:
                    _tell(group, [error], failed=True)
                else:
                    self._run_each(group)
            else:
                _tell(group, results, failed=False)

    def _run_each(self, group: Sequence[Write]) -> None:
        for write in group:
            try:
                result = self._run([write.work], write.commit)
            except Exception as error:
                _tell([write], [error], failed=True)
            else:
                _tell([write], [result[0]], failed=False)

    def _take(self) -> list[Write]:
        """The next write, with those behind it that may share its commit; none: the thread has ended its work."""
        group: list[Write] = []
        with self._lock:
            while self._waiting and len(group) < MOST_TOGETHER:
                if group and not (group[0].is_shared and self._waiting[0].is_shared):
                    break
                write = self._waiting.popleft()
                if not write.done.cancelled():
                    group.append(write)
            self._is_draining = bool(group)
        return group


def _tell(group: Sequence[Write], outcomes: Sequence[Any], *, failed: bool) -> None:
    """All in one call into the callers' event loop: waking it costs more than a small write."""

    def settle() -> None:
        for write, outcome in zip(group, outcomes, strict=True):
            if write.done.cancelled():
                continue
            if failed:
                write.done.set_exception(outcome)
            else:
                write.done.set_result(outcome)

    group[0].done.get_loop().call_soon_threadsafe(settle)
