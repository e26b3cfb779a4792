"""Job trees in memory."""

from core.domain.jobs import Job
from core.errors import NotFound
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
            raise NotFound(f"There is no job {job_id!r}; `footnote jobs` lists them")
        return job

    async def list_roots(self, workspace: str, limit: int = 50) -> list[Job]:
        roots = [job for job in self._jobs.values() if job.workspace == workspace and job.parent_id is None]
        roots.sort(key=lambda job: job.id)
        return sorted(roots, key=lambda job: job.created_at, reverse=True)[:limit]

    async def list_tree(self, root_id: str) -> list[Job]:
        tree = [job for job in self._jobs.values() if job.root_id == root_id]
        return sorted(tree, key=lambda job: (job.id != root_id, job.created_at, job.id))
