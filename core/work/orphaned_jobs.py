"""Runs that a killed process left behind: their jobs would look running for ever."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from core.domain.jobs import Job, JobKind, JobStatus
from core.ports import Clock
from core.ports.service import InboxStore, JobRepository

CUT_OFF = "cut off: its process ended; what it left undone is taken up by the next run"
CUT_OFF_QUESTION = "cut off: its process ended before there was an answer; ask again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Trees of a kind (of one name, or of all) that only who is in a place writes to."""

    kind: JobKind
    name: str | None = None
    place_if_free: Callable[[], AbstractAsyncContextManager[bool]]  # doesn't wait: False if the lock is taken


class AbandonedRuns:
    """Clean-up of jobs that are marked as running although their lock is free. For every list of jobs."""

    def __init__(self, jobs: JobRepository, clock: Clock, runs: Sequence[Runs]) -> None:
        self._jobs = jobs
        self._clock = clock
        self._runs = runs

    async def settle(self) -> int:
        """How many were ended; safe to repeat, by any number of processes. Raises StorageError."""
        ended = 0
        for each in self._runs:
            if not await self._jobs.list_running(each.kind, each.name):
                continue
            async with each.place_if_free() as is_free:
                if is_free:
                    ended += await end_abandoned(self._jobs, self._clock, each.kind, each.name)
        return ended


async def end_abandoned(jobs: JobRepository, clock: Clock, kind: JobKind, name: str | None = None) -> int:
    """Fail the running trees of this kind and name (None: every name); return how many.

    Only for the holder of the lock: no other process writes to these trees.
    """
    return await _end(jobs, clock, await jobs.list_running(kind, name), CUT_OFF)


async def end_abandoned_questions(jobs: JobRepository, clock: Clock, inbox: InboxStore) -> int:
    """Fail running questions of commands, which the inbox doesn't have; return how many.

    Inbox questions are resumed. Only for the single process of a database.
    """
    roots = await jobs.list_running(JobKind.REQUEST)
    lost = [root for root in roots if not await inbox.find_open(str(root.input.get("message_key", "")))]
    return await _end(jobs, clock, lost, CUT_OFF_QUESTION)


async def _end(jobs: JobRepository, clock: Clock, roots: Sequence[Job], reason: str) -> int:
    now = clock.now()
    for root in roots:
        tree = [job for job in await jobs.list_tree(root.id) if not job.status.is_final]
        await jobs.save(*[replace(job, status=JobStatus.FAILED, error=reason, completed_at=now) for job in tree])
    return len(roots)
