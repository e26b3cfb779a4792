"""Questions that wait are seen as jobs, and can be cancelled by their ids; only the inbox knows of them."""

from datetime import timedelta
from typing import Any

import pytest

from core.answering.answers.stored import stored_ids
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.jobs import Job, JobKind, JobStatus
from core.domain.service import ACCEPTED, Decision, InboxStatus
from core.errors import InvalidState, NotFound
from core.service.jobs import Jobs
from tests.builders import build_job
from tests.fakes import ManualClock
from tests.stores import Stores


def message(id: str = "1", thread: str = "t") -> IncomingMessage:
    address = ThreadAddress(platform="web", workspace="local", channel="c", thread=thread)
    key = f"web:local:c:{id}"
    return IncomingMessage(address=address, author="ada", text=f"Question {id}?", event_key=key, message_key=key)


def request_of(id: str) -> str:
    return stored_ids(message(id)).request


class Office:
    def __init__(self) -> None:
        self.clock = ManualClock()
        stores = Stores()
        self.inbox = stores.inbox(self.clock)
        self.store = stores.jobs
        self.jobs = Jobs(self.store, stores.conversations, self.clock, self.inbox)

    async def accept(self, id: str, thread: str = "t") -> int:
        self.clock.advance(1)
        entry, _ = await self.inbox.accept(message(id, thread), ACCEPTED)
        return entry.seq

    async def begin(self, id: str, status: JobStatus = JobStatus.RUNNING, **fields: Any) -> Job:
        """What work on a question records."""
        root = build_job(request_of(id), status=status, input={"message_key": f"web:local:c:{id}"}, **fields)
        step = build_job(f"{root.id}/t0", root_id=root.id, parent_id=root.id, kind=JobKind.TOOL)
        await self.store.save(root, step)
        return root

    async def shown(self) -> list[tuple[str, JobStatus]]:
        names = {request_of(id): id for id in "12345"}
        return [(names[tree[0].id], tree[0].status) for tree in await self.jobs.recent("local")]


@pytest.fixture
def office() -> Office:
    return Office()


async def test_a_question_that_waits_is_a_request_without_steps(office: Office) -> None:
    await office.accept("1")
    await office.inbox.accept(message("2"), Decision(code="no", sentence="No.", accepted=False))

    assert await office.shown() == [("1", JobStatus.QUEUED)]
    [job] = await office.jobs.tree(request_of("1"), "local")
    assert (job.kind, job.parent_id, job.input["question"], job.attempts) == (
        JobKind.REQUEST,
        None,
        "Question 1?",
        0,
    )
    with pytest.raises(NotFound):
        await office.jobs.tree(request_of("1"), "elsewhere")
    with pytest.raises(NotFound):
        await office.jobs.tree(request_of("2"), "local")


async def test_waiting_questions_stand_beside_running_ones_newest_first(office: Office) -> None:
    for id in "123":
        await office.accept(id)
    await office.inbox.claim(1, {"web"})
    await office.begin("1", created_at=office.clock.now() - timedelta(hours=1))

    assert await office.shown() == [("3", JobStatus.QUEUED), ("2", JobStatus.QUEUED), ("1", JobStatus.RUNNING)]
    assert [len(tree) for tree in await office.jobs.recent("local")] == [1, 1, 2]
    assert len(await office.jobs.recent("local", limit=2)) == 2


async def test_a_failed_try_waits_for_the_next_one_and_says_when_and_why(office: Office) -> None:
    seq = await office.accept("1")
    await office.inbox.claim(1, {"web"})
    await office.begin("1", JobStatus.FAILED, error="It broke.")
    await office.inbox.retry(seq, delay_seconds=4, error="The model is busy.")

    root, step = await office.jobs.tree(f"{request_of('1')}/t0", "local")
    assert (root.status, root.error, root.completed_at) == (JobStatus.WAITING, "The model is busy.", None)
    assert root.output["next_try_at"] == (office.clock.now() + timedelta(seconds=4)).isoformat()
    assert step.status is JobStatus.QUEUED


async def test_a_request_runs_until_its_post_is_made(office: Office) -> None:
    seq = await office.accept("1")
    await office.inbox.claim(1, {"web"})
    await office.begin("1", JobStatus.DONE)
    assert (await office.jobs.tree(request_of("1"), "local"))[0].status is JobStatus.RUNNING

    await office.inbox.finish(seq, InboxStatus.DONE)
    assert (await office.jobs.tree(request_of("1"), "local"))[0].status is JobStatus.DONE


@pytest.mark.parametrize("begun", [False, True])
async def test_a_question_that_waits_is_cancelled_by_its_id(office: Office, begun: bool) -> None:
    await office.accept("1")
    if begun:
        await office.begin("1", JobStatus.CANCELLED)
    tree = await office.jobs.cancel(request_of("1"), "local")

    assert tree[0].status is JobStatus.CANCELLED
    [entry] = await office.inbox.claim(1, {"web"})  # whoever claims it says so in its thread
    assert entry.cancelled_by == "ada"


async def test_a_question_that_runs_is_cancelled_where_it_runs(office: Office) -> None:
    seq = await office.accept("1")
    await office.inbox.claim(1, {"web"})
    await office.begin("1")
    tree = await office.jobs.cancel(request_of("1"), "local")

    assert tree[0].status is JobStatus.RUNNING  # until its worker has noticed
    assert await office.inbox.renew([seq]) == {seq: "ada"}
    await office.inbox.finish(seq, InboxStatus.CANCELLED)
    await office.begin("1", JobStatus.CANCELLED)
    with pytest.raises(InvalidState, match="cancelled already"):
        await office.jobs.cancel(request_of("1"), "local")
