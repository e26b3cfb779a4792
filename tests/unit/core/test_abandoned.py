"""What a killed process left running is ended, as failed and with all below it."""

from core.abandoned import CUT_OFF, end_abandoned
from core.domain.jobs import JobKind, JobStatus
from storage.memory.jobs import MemoryJobRepository
from tests.builders import build_job
from tests.fakes import ManualClock


async def test_only_what_still_says_that_it_runs_is_ended() -> None:
    jobs, clock = MemoryJobRepository(), ManualClock()
    run = {"kind": JobKind.EXTRACTION, "status": JobStatus.RUNNING}
    await jobs.save(
        build_job("r", name="extract", workspace="elsewhere", **run),
        build_job("r/e0", parent_id="r", root_id="r", **{**run, "status": JobStatus.DONE}),
        build_job("r/e1", parent_id="r", root_id="r", **run),
        build_job("other", name="extract by model", **run),
    )
    assert await end_abandoned(jobs, clock, JobKind.EXTRACTION, "extract") == 1
    root, done, running = await jobs.list_tree("r")
    assert (root.status, root.error, root.completed_at) == (JobStatus.FAILED, CUT_OFF, clock.now())
    assert (done.status, running.status, running.error) == (JobStatus.DONE, JobStatus.FAILED, CUT_OFF)
    assert (await jobs.get("other", "local")).status is JobStatus.RUNNING
    assert await end_abandoned(jobs, clock, JobKind.EXTRACTION, "extract") == 0
