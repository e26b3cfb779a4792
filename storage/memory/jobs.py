"""Job trees in memory."""

from datetime import datetime

from core.domain.jobs import Job, JobKind, JobStatus, no_such_job
from storage.storable import to_storable_value


class MemoryJobRepository:
    """JobRepository that forgets everything with the process."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    async def save(self, *jobs: Job) -> None:
        for job in jobs:
            self._jobs[job.id] = to_storable_value(job)

    async def get(self, job_id: str, workspace: str) -> Job:
        job = self._jobs.get(job_id)
        if job is None or job.workspace != workspace:
            raise no_such_job(job_id)
        return job

    async def list_roots(self, workspace: str, limit: int = 50) -> list[Job]:
        roots = [job for job in self._jobs.values() if job.workspace == workspace and job.parent_id is None]
        roots.sort(key=lambda job: job.id)
        return sorted(roots, key=lambda job: job.created_at, reverse=True)[:limit]

    async def list_running(self, kind: JobKind, name: str | None = None) -> list[Job]:
        wanted = (None, kind, JobStatus.RUNNING)
        roots = [job for job in self._jobs.values() if (job.parent_id, job.kind, job.status) == wanted]
        running = [job for job in roots if name in (None, job.name)]
        return sorted(running, key=lambda job: (job.created_at, job.id))

    async def list_tree(self, root_id: str) -> list[Job]:
        tree = [job for job in self._jobs.values() if job.root_id == root_id]
        return sorted(tree, key=lambda job: (job.id != root_id, job.created_at, job.id))

    async def purge(self, before: datetime) -> int:
        old = {
            job.id
            for job in self._jobs.values()
            if job.parent_id is None and (job.completed_at or job.created_at) < before
        }
        gone = [job.id for job in self._jobs.values() if job.root_id in old]
        for job_id in gone:
            del self._jobs[job_id]
        return len(gone)
