"""Runs that a killed process left behind: their jobs would look running for ever."""

from dataclasses import replace

from core.domain.jobs import JobKind, JobStatus
from core.ports import Clock
from core.service_ports import JobRepository

CUT_OFF = "cut off: its process ended; what it left undone is taken up by the next run"


async def end_abandoned(jobs: JobRepository, clock: Clock, kind: JobKind, name: str) -> int:
    """End the trees of such runs that say that they run, as failed; how many those were.

    For who is the only one that may run such now, over all processes: nobody writes to these trees any more.
    """
    roots = await jobs.list_running(kind, name)
    now = clock.now()
    for root in roots:
        tree = [job for job in await jobs.list_tree(root.id) if not job.status.is_final]
        ended = [replace(job, status=JobStatus.FAILED, error=CUT_OFF, completed_at=now) for job in tree]
        await jobs.save(*ended)
    return len(roots)
