"""What a killed process left running is ended, as failed and with all below it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.domain.jobs import JobKind, JobStatus
from core.domain.service import Decision
from core.work.orphaned_jobs import (
    CUT_OFF,
    CUT_OFF_QUESTION,
    AbandonedRuns,
    Runs,
    end_abandoned,
    end_abandoned_questions,
)
from tests.builders import build_incoming, build_job
from tests.fakes import ManualClock
from tests.stores import Stores


async def test_only_what_still_says_that_it_runs_is_ended() -> None:
    jobs, clock = Stores().jobs, ManualClock()
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


async def test_without_a_name_runs_of_all_names_are_ended() -> None:
    jobs, clock = Stores().jobs, ManualClock()
    for name in ("sync notes", "sync wiki"):
        await jobs.save(build_job(name, name=name, kind=JobKind.SYNC, status=JobStatus.RUNNING))
    assert await end_abandoned(jobs, clock, JobKind.SYNC) == 2
    assert await jobs.list_running(JobKind.SYNC) == []


async def test_a_run_is_settled_when_nobody_is_in_its_place() -> None:
    jobs, clock, free = Stores().jobs, ManualClock(), {"sync": False, "extraction": True}
    looked: list[str] = []

    @asynccontextmanager
    async def if_free(place: str) -> AsyncIterator[bool]:
        looked.append(place)
        yield free[place]

    kinds = {"sync": JobKind.SYNC, "extraction": JobKind.EXTRACTION}
    runs = [Runs(kind=kind, place_if_free=lambda place=place: if_free(place)) for place, kind in kinds.items()]
    abandoned = AbandonedRuns(jobs, clock, runs)
    await jobs.save(build_job("s", name="sync notes", kind=JobKind.SYNC, status=JobStatus.RUNNING))

    assert await abandoned.settle() == 0
    assert (await jobs.get("s", "local")).status is JobStatus.RUNNING
    free["sync"] = True
    assert await abandoned.settle() == 1
    assert (await jobs.get("s", "local")).error == CUT_OFF
    assert looked == ["sync", "sync"]  # a place is tried only for what says that it runs


async def test_a_question_of_a_killed_command_is_ended_and_one_of_the_inbox_is_not() -> None:
    stores = Stores()
    jobs, clock = stores.jobs, ManualClock()
    inbox = stores.inbox(clock)
    entry, _ = await inbox.accept(build_incoming(), Decision(accepted=True, code="asked", sentence="It asks."))
    key = {"message_key": entry.message_key}
    await jobs.save(build_job("waits", kind=JobKind.REQUEST, status=JobStatus.RUNNING, input=key))
    await jobs.save(build_job("lost", kind=JobKind.REQUEST, status=JobStatus.RUNNING, input={"message_key": "x"}))
    await jobs.save(build_job("old", kind=JobKind.REQUEST, status=JobStatus.RUNNING, input={}))

    assert await end_abandoned_questions(jobs, clock, inbox) == 2
    assert (await jobs.get("lost", "local")).error == CUT_OFF_QUESTION
    assert (await jobs.get("waits", "local")).status is JobStatus.RUNNING
