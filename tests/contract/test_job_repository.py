"""The contract of JobRepository, on every database."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from core.domain.jobs import JobKind, JobStatus
from core.errors import NotFound
from core.ports.service import JobRepository
from storage.database import Database
from storage.database.repositories.jobs import SqlJobRepository
from tests.builders import NOON, build_job


@pytest.fixture
def jobs(database: Database) -> JobRepository:
    return SqlJobRepository(database)


async def test_a_job_comes_back_as_it_went_in(jobs):
    job = build_job(
        status=JobStatus.FAILED,
        input={"query": "Schlüssel", "limit": 3, "nested": {"a": [1, 2.5, None, True]}},
        output={"passages": ["p1"]},
        error="it broke",
        attempts=3,
        started_at=NOON,
        completed_at=NOON + timedelta(seconds=2, microseconds=3),
    )
    await jobs.save(job)
    assert await jobs.get("j1", "local") == job


async def test_saving_a_job_again_replaces_it(jobs):
    job = build_job(status=JobStatus.QUEUED, attempts=0, input={"a": 1})
    await jobs.save(job)
    done = replace(job, status=JobStatus.DONE, attempts=1, completed_at=NOON, input={}, output={"b": 2})
    await jobs.save(done)
    assert await jobs.get("j1", "local") == done
    assert await jobs.list_tree("j1") == [done]


async def test_every_kind_and_status_is_kept(jobs):
    saved = [
        build_job(f"{kind}-{status}", parent_id="root", kind=kind, status=status)
        for kind, status in product(JobKind, JobStatus)
    ]
    for job in saved:
        await jobs.save(job)
    assert await jobs.list_tree("root") == sorted(saved, key=lambda job: job.id)


async def test_unknown_jobs_and_those_of_other_workspaces_are_not_found(jobs):
    await jobs.save(build_job())
    for job_id, workspace in [("j2", "local"), ("j1", "elsewhere")]:
        with pytest.raises(NotFound, match=job_id):
            await jobs.get(job_id, workspace)


async def test_roots_are_listed_newest_first_up_to_the_limit(jobs):
    for minute, id in enumerate(["first", "second", "third"]):
        await jobs.save(build_job(id, created_at=NOON + timedelta(minutes=minute)))
    await jobs.save(build_job("child", parent_id="third", created_at=NOON + timedelta(hours=1)))
    await jobs.save(build_job("foreign", workspace="elsewhere"))
    assert [job.id for job in await jobs.list_roots("local")] == ["third", "second", "first"]
    assert [job.id for job in await jobs.list_roots("local", limit=2)] == ["third", "second"]
    assert await jobs.list_roots("nowhere") == []


async def test_roots_that_run_are_listed_by_kind_and_name_over_all_workspaces(jobs):
    run = {"kind": JobKind.EXTRACTION, "name": "extract", "status": JobStatus.RUNNING}
    await jobs.save(build_job("late", created_at=NOON + timedelta(minutes=1), **run))
    await jobs.save(build_job("early", workspace="elsewhere", **run))
    await jobs.save(build_job("step", parent_id="early", root_id="early", **run))
    await jobs.save(build_job("done", **{**run, "status": JobStatus.DONE}))
    await jobs.save(
        build_job("named", **{**run, "name": "another"}), build_job("sync", **{**run, "kind": JobKind.SYNC})
    )
    assert [job.id for job in await jobs.list_running(JobKind.EXTRACTION, "extract")] == ["early", "late"]
    await jobs.save(build_job("latest", created_at=NOON + timedelta(minutes=2), **{**run, "name": "other"}))
    assert {job.id for job in await jobs.list_running(JobKind.EXTRACTION)} == {"early", "late", "named", "latest"}
    assert [job.id for job in await jobs.list_running(JobKind.SYNC)] == ["sync"]


async def test_a_tree_has_its_root_first_then_the_rest_by_creation(jobs):
    await jobs.save(build_job("late", parent_id="root", created_at=NOON + timedelta(seconds=2)))
    await jobs.save(build_job("early", parent_id="root", created_at=NOON - timedelta(seconds=2)))
    await jobs.save(build_job("below", parent_id="late", root_id="root", created_at=NOON + timedelta(seconds=3)))
    await jobs.save(build_job("root"))
    await jobs.save(build_job("another"))
    assert [job.id for job in await jobs.list_tree("root")] == ["root", "early", "late", "below"]
    assert await jobs.list_tree("unknown") == []


async def test_what_no_database_can_keep_becomes_a_replacement_character(jobs):
    await jobs.save(build_job(error="a\x00b", input={"x": "\ud800"}, output={"y": "\x00"}))
    job = await jobs.get("j1", "local")
    assert (job.error, job.input, job.output) == ("a\ufffdb", {"x": "\ufffd"}, {"y": "\ufffd"})


async def test_many_jobs_are_saved_in_one_go(jobs):
    await jobs.save()
    await jobs.save(build_job("root"))
    await jobs.save(build_job("root", status=JobStatus.DONE), build_job("below", parent_id="root"))
    assert [(job.id, job.status) for job in await jobs.list_tree("root")] == [
        ("root", JobStatus.DONE),
        ("below", JobStatus.RUNNING),
    ]


async def test_a_purge_forgets_whole_trees_that_ended_before_or_never_ended(jobs):
    old, young = NOON - timedelta(days=2), NOON + timedelta(minutes=1)
    await jobs.save(
        build_job("ended", created_at=old, completed_at=old, status=JobStatus.DONE),
        build_job("below", parent_id="ended", created_at=old, completed_at=young, status=JobStatus.DONE),
        build_job("cut off", created_at=old),
        build_job("long", created_at=old, completed_at=young, status=JobStatus.DONE),
        build_job("young", created_at=young),
        build_job("foreign", workspace="elsewhere", created_at=old),
    )
    assert await jobs.purge(old) == 0
    assert await jobs.purge(NOON) == 4
    assert [job.id for job in await jobs.list_roots("local")] == ["young", "long"]
    assert await jobs.list_tree("ended") == []


async def test_a_purge_takes_no_end_of_trees(jobs):
    await jobs.save(*(build_job(f"j{number}") for number in range(1_100)))
    assert await jobs.purge(NOON + timedelta(days=1)) == 1_100
    assert await jobs.list_roots("local") == []


async def test_many_old_steps_of_what_is_young_hide_nothing_old_from_a_purge(jobs):
    old, young = NOON - timedelta(days=2), NOON + timedelta(minutes=1)
    steps = [build_job(f"{number:04}", parent_id="young", created_at=old, completed_at=old) for number in range(600)]
    await jobs.save(build_job("young", created_at=old, completed_at=young), *steps, build_job("z", created_at=old))
    assert await jobs.purge(NOON) == 1
    assert [job.id for job in await jobs.list_roots("local")] == ["young"]
