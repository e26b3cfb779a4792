"""Posts as people see them: a job that runs, ends or fails, and is made again under the same id."""

import asyncio
import logging

import pytest

from core.answering.answers.posting import Posting
from core.answering.answers.stored import stored_ids
from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.jobs import Job, JobKind, JobStatus
from core.domain.service import ACCEPTED, InboxEntry, InboxStatus
from core.errors import PlatformError, StorageError
from core.work.progress import SilentProgress
from storage.database.repositories.jobs import SqlJobRepository
from tests.builders import NOON, build_job
from tests.fakes import ManualClock
from tests.stores import InMemoryDatabase, Stores

INCOMING = IncomingMessage(
    address=ThreadAddress(platform="wall", workspace="local", channel="c", thread="t"),
    author="ada",
    text="Where?",
    event_key="wall:local:c:1",
    message_key="wall:local:c:1",
)
REQUEST = stored_ids(INCOMING).request
ROOT = build_job(REQUEST, kind=JobKind.REQUEST, status=JobStatus.DONE)
ANSWER = Answer(status=AnswerStatus.ANSWERED, text="There.", jobs=(ROOT,))


def entry(attempts: int = 1) -> InboxEntry:
    return InboxEntry(
        seq=1,
        incoming=INCOMING,
        message_key="wall:local:c:1",
        status=InboxStatus.RUNNING,
        decision=ACCEPTED,
        created_at=NOON,
        attempts=attempts,
    )


class Wall:
    """A platform that posts when it is let, or refuses."""

    name = "wall"

    def __init__(self) -> None:
        self.may_post = asyncio.Event()
        self.may_post.set()
        self.refusal: str | None = None
        self.looked: list[bool] = []

    async def open(self, entry: InboxEntry) -> SilentProgress:
        return SilentProgress()

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> str:
        self.looked.append(look_first)
        await self.may_post.wait()
        if self.refusal is not None:
            raise PlatformError(self.refusal)
        return "c/7"

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> str:
        return "c/8"

    async def remove(self, entry: InboxEntry) -> None:
        raise AssertionError(entry)

    async def redact(self, entry: InboxEntry, sentence: str) -> None:
        raise AssertionError(entry)


class FullDisk(SqlJobRepository):
    async def save(self, *jobs: Job) -> None:
        raise StorageError("The disk is full.")


class Place:
    def __init__(self, jobs: SqlJobRepository | None = None) -> None:
        self.wall = Wall()
        self.jobs = jobs or Stores().jobs
        self.posting = Posting({"wall": self.wall}, ManualClock(), self.jobs)

    async def post_job(self) -> Job:
        for _ in range(3):  # the record is written behind the post
            await asyncio.sleep(0)
        return await self.jobs.get(f"{REQUEST}/post", "local")


@pytest.fixture
async def place() -> Place:
    place = Place()
    await place.jobs.save(ROOT)
    return place


async def test_a_post_is_a_job_under_its_request_that_is_seen_while_it_runs(place: Place) -> None:
    place.wall.may_post.clear()
    posting = asyncio.create_task(place.posting.answer(entry(), ANSWER))
    await asyncio.sleep(0)
    running = await place.post_job()
    place.wall.may_post.set()
    assert await posting == "c/7"

    assert (running.kind, running.status, running.parent_id) == (JobKind.POST, JobStatus.RUNNING, REQUEST)
    done = await place.post_job()
    assert (done.status, done.output, done.error) == (JobStatus.DONE, {"post": "c/7"}, None)
    assert [job.id for job in await place.jobs.list_tree(REQUEST)] == [REQUEST, f"{REQUEST}/post"]


async def test_a_post_that_was_refused_says_why_and_the_next_try_asks_the_platform_again(place: Place) -> None:
    place.wall.refusal = "The wall is wet."
    with pytest.raises(PlatformError):
        await place.posting.answer(entry(), ANSWER)
    failed = await place.post_job()
    place.wall.refusal = None
    await place.posting.answer(entry(attempts=2), ANSWER)

    assert (failed.status, failed.error, failed.attempts) == (JobStatus.FAILED, "The wall is wet.", 1)
    again = await place.post_job()
    assert (again.status, again.error, again.attempts) == (JobStatus.DONE, None, 2)
    assert place.wall.looked == [False, True]


async def test_a_post_that_is_recorded_as_done_is_made_again_when_it_is_asked_for(place: Place) -> None:
    await place.posting.answer(entry(), ANSWER)
    await place.post_job()
    await place.posting.answer(entry(attempts=2), ANSWER)
    assert place.wall.looked == [False, True]


async def test_an_error_post_stands_under_its_request_or_by_itself(place: Place) -> None:
    assert await place.posting.error(entry(), "Sorry.") == "c/8"
    assert ((await place.post_job()).parent_id, (await place.post_job()).name) == (REQUEST, "error post")

    alone = Place()
    await alone.posting.error(entry(), "Sorry.")
    job = await alone.post_job()
    assert (job.parent_id, job.root_id, job.status) == (None, job.id, JobStatus.DONE)


async def test_a_post_is_made_even_where_it_cannot_be_recorded(caplog: pytest.LogCaptureFixture) -> None:
    place = Place(FullDisk(InMemoryDatabase()))
    with caplog.at_level(logging.WARNING):
        assert await place.posting.answer(entry(), ANSWER) == "c/7"
        for _ in range(3):
            await asyncio.sleep(0)
    assert "is not recorded as done: The disk is full." in caplog.text
    assert await Posting({"wall": place.wall}, ManualClock(), None).answer(entry(), ANSWER) == "c/7"
