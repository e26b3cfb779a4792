"""Listing, cancelling and retrying job trees."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.incoming import ThreadAddress
from core.domain.jobs import RETENTION, JobKind, JobStatus
from core.errors import InvalidState, NotFound
from core.service.jobs import Jobs
from tests.builders import build_conversation, build_job, build_message
from tests.fakes import ManualClock
from tests.stores import Stores


class Office:
    def __init__(self) -> None:
        stores = Stores()
        self.store = stores.jobs
        self.conversations = stores.conversations
        self.clock = ManualClock()
        self.jobs = Jobs(self.store, self.conversations, self.clock)


@pytest.fixture
async def office() -> Office:
    office = Office()
    await office.store.save(build_job("r"))
    await office.store.save(build_job("r/t0", parent_id="r", root_id="r", kind=JobKind.TOOL))
    await office.store.save(build_job("r/t00", parent_id="r", root_id="r", kind=JobKind.TOOL))
    await office.store.save(build_job("r/t1", parent_id="r", root_id="r", kind=JobKind.TOOL, status=JobStatus.DONE))
    return office


async def test_a_tree_is_found_by_any_of_its_jobs(office: Office) -> None:
    assert [job.id for job in await office.jobs.tree("r/t1", "local")] == ["r", "r/t0", "r/t00", "r/t1"]
    assert [[job.id for job in tree] for tree in await office.jobs.recent("local")] == [["r", "r/t0", "r/t00", "r/t1"]]
    with pytest.raises(NotFound):
        await office.jobs.tree("r", "elsewhere")


async def test_cancelling_ends_what_has_not_ended(office: Office) -> None:
    tree = await office.jobs.cancel("r", "local")

    assert [job.status for job in tree] == [JobStatus.CANCELLED] * 3 + [JobStatus.DONE]
    with pytest.raises(InvalidState, match="cancelled already"):
        await office.jobs.cancel("r", "local")


async def test_cancelling_a_step_leaves_its_request_running(office: Office) -> None:
    tree = await office.jobs.cancel("r/t0", "local")

    assert [job.status for job in tree] == [JobStatus.RUNNING, JobStatus.CANCELLED, JobStatus.RUNNING, JobStatus.DONE]


async def test_a_run_that_no_question_made_is_not_asked_again(office: Office) -> None:
    await office.store.save(build_job("x", kind=JobKind.EXTRACTION, name="extract", status=JobStatus.FAILED))

    with pytest.raises(InvalidState, match="a run of extraction: give its command again"):
        await office.jobs.question_of("x", "local")


@pytest.mark.parametrize(("job_id", "part"), [("r", "only failed or cancelled"), ("r/t0", "retry its request 'r'")])
async def test_only_failed_requests_can_be_retried(office: Office, job_id: str, part: str) -> None:
    with pytest.raises(InvalidState, match=part):
        await office.jobs.question_of(job_id, "local")


async def test_a_question_that_is_gone_cannot_be_asked_again(office: Office) -> None:
    await office.conversations.add(build_conversation("c1"))
    await office.store.save(
        build_job("x", status=JobStatus.FAILED, input={"conversation_id": "c1", "message_id": "gone"})
    )
    with pytest.raises(InvalidState, match="no longer"):
        await office.jobs.question_of("x", "local")


@pytest.mark.parametrize(
    ("key", "platform", "thread"),
    [
        ("web:local:general:7", "web", "t1"),
        ("terminal:local:cli:7", "terminal", "c1"),
        ("made without a platform", "web", "t1"),
    ],
)
async def test_a_question_is_asked_again_in_the_same_post_and_where_it_was_asked(
    office: Office, key: str, platform: str, thread: str
) -> None:
    address = ThreadAddress(platform="web", workspace="local", channel="general", thread="t1")
    await office.conversations.add(replace(build_conversation("c1"), address=address))
    await office.conversations.append("c1", [build_message("m1", author="ada", content="Where is the key?")])
    asked = {"conversation_id": "c1", "message_id": "m1", "message_key": key, "document": "house.md"}
    await office.store.save(build_job("x", status=JobStatus.FAILED, input=asked))
    first, second = [await office.jobs.question_of("x", "local") for _ in range(2)]

    assert (first.text, first.author, first.document, first.conversation_id) == (
        "Where is the key?",
        "ada",
        "house.md",
        "c1",
    )
    assert (first.address.platform, first.address.thread) == (platform, thread)
    assert first.message_key == second.message_key == key
    assert first.event_key != second.event_key
    assert first.event_key.startswith(f"{key}@")


async def test_old_trees_are_forgotten_and_a_link_to_one_says_so(office: Office) -> None:
    assert await office.jobs.tidy() == 0
    office.clock.advance((RETENTION + timedelta(days=1)).total_seconds())
    assert await office.jobs.tidy() == 4
    with pytest.raises(NotFound, match="its tree was deleted, as all are 90 days after their end"):
        await office.jobs.tree("r/t1", "local")
