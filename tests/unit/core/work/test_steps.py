import asyncio

import pytest

from core.domain.jobs import Job, JobKind, JobStatus
from core.errors import StorageError, ToolFailed
from core.work.steps import CALL, GATHER_SECONDS, KEPT, NO_STEPS, Step, Steps
from storage.database.repositories.jobs import SqlJobRepository
from tests.fakes import ManualClock
from tests.stores import InMemoryDatabase, Stores


@pytest.fixture
def repository() -> SqlJobRepository:
    return Stores().jobs


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def steps(repository: SqlJobRepository, clock: ManualClock) -> Steps:
    return Steps(repository, clock, "local")


async def test_a_step_is_stored_while_it_runs_and_done_with_its_output_after(steps, repository, clock):
    async with steps.step(JobKind.REQUEST, "answer", input={"question": "q"}, key="r1") as request:
        await request.flush()
        running = await repository.get("r1", "local")
        assert (running.status, running.input, running.completed_at) == (JobStatus.RUNNING, {"question": "q"}, None)
        clock.advance(1.5)
        request.output = {"status": "answered"}
    done = await repository.get("r1", "local")
    assert (done.status, done.output, done.duration_ms) == (JobStatus.DONE, {"status": "answered"}, 1500)
    assert done.root_id == "r1" and done.parent_id is None


async def test_steps_opened_inside_others_are_their_children_with_ids_that_repeat(steps):
    async with steps.step(JobKind.REQUEST, "answer", key="r") as request:
        async with request.step(JobKind.TOOL, "search") as search, search.step(JobKind.TOOL, "nested"):
            pass
        async with request.step(JobKind.TOOL, "search") as search, search.step(JobKind.SYNTHESIS, "write", key="last"):
            pass
    assert [(job.id, job.parent_id) for job in steps.jobs] == [
        ("r", None),
        ("r/t0", "r"),
        ("r/t0/t0", "r/t0"),
        ("r/t1", "r"),
        ("r/t1/last", "r/t1"),
    ]
    assert {job.root_id for job in steps.jobs} == {"r"}


async def test_parallel_steps_have_the_same_parent(steps):
    async def work(name: str, parent: Step) -> None:
        async with parent.step(JobKind.TOOL, name) as job:
            await asyncio.sleep(0)
            async with job.step(JobKind.TOOL, f"in {name}"):
                await asyncio.sleep(0)

    async with steps.step(JobKind.REQUEST, "answer", key="r") as request:
        await asyncio.gather(work("a", request), work("b", request))
    assert [(job.id, job.name, job.parent_id) for job in steps.jobs[1:]] == [
        ("r/t0", "a", "r"),
        ("r/t1", "b", "r"),
        ("r/t0/t0", "in a", "r/t0"),
        ("r/t1/t0", "in b", "r/t1"),
    ]


async def test_a_failure_is_recorded_in_words_and_goes_on(steps):
    with pytest.raises(ToolFailed):
        async with steps.step(JobKind.REQUEST, "answer") as request, request.step(JobKind.TOOL, "search"):
            raise ToolFailed("The index is closed.")
    assert [job.status for job in steps.jobs] == [JobStatus.FAILED, JobStatus.FAILED]
    assert steps.jobs[1].error == "The index is closed."


async def test_a_bug_is_recorded_with_its_type(steps):
    with pytest.raises(KeyError):
        async with steps.step(JobKind.REQUEST, "answer"):
            raise KeyError("x")
    assert steps.jobs[0].error == "KeyError: 'x'"


async def test_cancelling_is_recorded_all_the_way_up(steps, repository):
    async def run() -> None:
        async with steps.step(JobKind.REQUEST, "answer", key="r") as request, request.step(JobKind.TOOL, "search"):
            await asyncio.Event().wait()

    task = asyncio.create_task(run())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [job.status for job in await repository.list_tree("r")] == [JobStatus.CANCELLED, JobStatus.CANCELLED]


class SlowRepository(SqlJobRepository):
    def __init__(self, error: StorageError | None = None) -> None:
        super().__init__(InMemoryDatabase())
        self.saves = 0
        self.error = error

    async def save(self, *jobs: Job) -> None:
        self.saves += 1
        await asyncio.sleep(0.01)
        if self.error is not None:
            raise self.error
        await super().save(*jobs)


async def test_a_run_does_not_wait_for_its_records_but_its_end_does(clock):
    repository = SlowRepository()
    steps = Steps(repository, clock, "local")
    async with steps.step(JobKind.REQUEST, "answer", key="r") as request:
        for _ in range(3):
            async with request.step(JobKind.TOOL, "search"):
                pass
        assert repository.saves <= 1

    assert [job.status for job in await repository.list_tree("r")] == [JobStatus.DONE] * 4
    assert repository.saves < 8  # begin and end of a quick step are one write


async def test_steps_that_end_at_once_are_one_write_with_their_begin_and_long_ones_are_seen_while_they_run(clock):
    writes: list[list[tuple[str, JobStatus]]] = []

    class Counted(SqlJobRepository):
        async def save(self, *jobs: Job) -> None:
            writes.append([(job.id, job.status) for job in jobs])
            await super().save(*jobs)

    async with Steps(Counted(InMemoryDatabase()), clock, "local").step(JobKind.REQUEST, "answer", key="r") as request:
        await asyncio.sleep(0.01)
        for _ in range(3):
            async with request.step(JobKind.TOOL, "search"):
                await asyncio.sleep(0)
        async with request.step(JobKind.TOOL, "wait", key="long"):
            await asyncio.sleep(5 * GATHER_SECONDS)

    short = [(f"r/t{number}", JobStatus.DONE) for number in range(3)]
    assert writes == [
        [("r", JobStatus.RUNNING)],
        [*short, ("r/long", JobStatus.RUNNING)],
        [("r/long", JobStatus.DONE), ("r", JobStatus.DONE)],
    ]


async def test_records_that_cannot_be_written_fail_the_run_at_its_end(clock):
    steps = Steps(SlowRepository(StorageError("the disk is full")), clock, "local")
    with pytest.raises(StorageError, match="disk is full"):
        async with steps.step(JobKind.REQUEST, "answer"):
            pass


async def test_what_could_not_be_written_for_a_while_is_written_with_what_comes_next(clock):
    repository = SlowRepository(StorageError("the disk is full"))
    steps = Steps(repository, clock, "local")
    async with steps.step(JobKind.REQUEST, "answer", key="r") as request:
        async with request.step(JobKind.TOOL, "search"):
            pass
        with pytest.raises(StorageError, match="disk is full"):
            await request.flush()
        repository.error = None

    assert [job.status for job in await repository.list_tree("r")] == [JobStatus.DONE] * 2


async def test_a_cancelled_run_is_stored_as_cancelled_all_the_same(clock):
    repository = SlowRepository()
    steps = Steps(repository, clock, "local")

    async def run() -> None:
        async with steps.step(JobKind.REQUEST, "answer", key="r"):
            await asyncio.sleep(60)

    task = asyncio.create_task(run())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await repository.get("r", "local")).status is JobStatus.CANCELLED


async def test_watchers_hear_of_each_beginning_and_end(repository, clock):
    heard: list[tuple[str, JobStatus]] = []
    steps = Steps(repository, clock, "local", on_change=lambda job: heard.append((job.name, job.status)))
    async with steps.step(JobKind.REQUEST, "answer"):
        pass
    assert heard == [("answer", JobStatus.RUNNING), ("answer", JobStatus.DONE)]


async def test_a_step_may_become_another_kind_when_its_end_shows_what_it_was(steps):
    async with (
        steps.step(JobKind.REQUEST, "answer", key="r") as request,
        request.step(JobKind.PLANNING, "plan", key="m0") as model_call,
    ):
        model_call.become(JobKind.SYNTHESIS, "answer")
    assert (steps.jobs[1].id, steps.jobs[1].kind, steps.jobs[1].name) == ("r/m0", JobKind.SYNTHESIS, "answer")


async def test_two_trees_do_not_mix(repository, clock, steps):
    other = Steps(repository, clock, "local")
    async with steps.step(JobKind.REQUEST, "one", key="a") as one, other.step(JobKind.REQUEST, "two", key="b") as two:
        async with two.step(JobKind.TOOL, "search"):
            pass
        async with one.step(JobKind.TOOL, "late"):
            pass
    assert [job.id for job in steps.jobs] == ["a", "a/t0"]
    assert [job.id for job in other.jobs] == ["b", "b/t0"]


async def first_try(repository: SqlJobRepository, clock: ManualClock) -> list[Job]:
    """A try that finished one of two calls and was cut off."""
    steps = Steps(repository, clock, "local")
    with pytest.raises(StorageError):
        async with steps.step(JobKind.REQUEST, "answer", key="r") as request:
            async with request.step(JobKind.TOOL, "search") as done:
                done.output = {"passages": 1, CALL: "abc", KEPT: {"text": "found"}}
            async with request.step(JobKind.TOOL, "search"):
                raise StorageError("The disk is full.")
    return await repository.list_tree("r")


async def test_what_an_earlier_try_finished_is_found_by_what_it_was_and_taken_over_as_it_is(repository, clock):
    earlier = await first_try(repository, clock)
    clock.advance(60)
    steps = Steps(repository, clock, "local", attempt=2, earlier=earlier)
    async with steps.step(JobKind.REQUEST, "answer", key="r") as request:
        assert request.finished_before(JobKind.TOOL, "other") is None
        assert request.finished_before(JobKind.PLANNING, "abc") is None
        async with request.step(JobKind.TOOL, "get_page"):
            pass
        done = request.finished_before(JobKind.TOOL, "abc")
        request.adopt(done)
        assert done.output[KEPT] == {"text": "found"}
    tree = {job.id: job for job in await repository.list_tree("r")}
    assert (tree["r/t0"].name, tree["r/t0"].attempts, tree["r/t0"].created_at) == ("search", 1, done.created_at)
    assert (tree["r/t1"].name, tree["r/t1"].attempts) == ("get_page", 2)


async def test_what_is_kept_for_another_try_is_forgotten_with_the_answer_and_not_before(repository, clock):
    earlier = await first_try(repository, clock)
    assert earlier[1].output[KEPT]
    steps = Steps(repository, clock, "local", attempt=2, earlier=earlier)
    async with steps.step(JobKind.REQUEST, "answer", key="r"):
        pass
    assert [job.output for job in (await repository.list_tree("r"))[1:]] == [{"passages": 1}, {}]


async def test_a_queued_job_is_shown_and_taken_over_by_the_step_with_its_key(steps, repository, clock):
    async with steps.step(JobKind.REQUEST, "answer", key="r") as request:
        request.queue(JobKind.TOOL, "search", input={"query": "a"}, key="c1")
        request.queue(JobKind.TOOL, "get_page", input={}, key="c2")
        await request.flush()
        waiting = await repository.get("r/c1", "local")
        assert (waiting.status, waiting.started_at, waiting.parent_id) == (JobStatus.QUEUED, None, "r")
        clock.advance(5)
        async with request.step(JobKind.TOOL, "search", input={"query": "a"}, key="c1"):
            pass
    first, second = (await repository.list_tree("r"))[1:]
    assert (first.status, first.created_at) == (JobStatus.DONE, waiting.created_at)
    assert first.started_at > first.created_at
    assert second.status is JobStatus.CANCELLED and second.completed_at is not None


async def test_queueing_leaves_what_an_earlier_try_finished_alone(repository, clock):
    steps = Steps(repository, clock, "local")
    with pytest.raises(StorageError):
        async with steps.step(JobKind.REQUEST, "answer", key="r") as request:
            async with request.step(JobKind.TOOL, "search", key="c1") as done:
                done.output = {CALL: "abc"}
            raise StorageError("The disk is full.")
    again = Steps(repository, clock, "local", attempt=2, earlier=await repository.list_tree("r"))
    async with again.step(JobKind.REQUEST, "answer", key="r") as request:
        request.queue(JobKind.TOOL, "search", input={}, key="c1")
        await request.flush()
        assert (await repository.get("r/c1", "local")).status is JobStatus.DONE


async def test_without_a_tree_nothing_is_recorded_queued_or_found():
    async with NO_STEPS.step(JobKind.TOOL, "search") as lonely:
        lonely.output = {"passages": 3}
        lonely.note({"passages": 1})
        async with lonely.step(JobKind.TOOL, "nested"):
            lonely.queue(JobKind.TOOL, "search", input={}, key="c1")
            await lonely.flush()
    assert NO_STEPS.finished_before(JobKind.TOOL, "abc") is None
    assert NO_STEPS.output == {}
