"""What a run is told while it works: stopped once, withdrawn for good, and neither while it posts."""

import asyncio
from dataclasses import replace

import pytest

from core.domain.service import ACCEPTED, WITHDRAWN, InboxEntry, InboxStatus
from core.work.runs import Run
from tests.builders import NOON, build_incoming

ENTRY = InboxEntry(
    seq=1,
    incoming=build_incoming(),
    message_key="k",
    status=InboxStatus.RUNNING,
    decision=ACCEPTED,
    created_at=NOON,
)


async def running(entry: InboxEntry = ENTRY) -> Run:
    run = Run(entry, 0.0, has_begun=True)
    run.task = asyncio.create_task(asyncio.sleep(60))
    return run


@pytest.mark.parametrize(
    ("stops", "is_withdrawn"),
    [(["ada"], False), ([WITHDRAWN], True), (["ada", WITHDRAWN], True), ([WITHDRAWN, "ada"], True)],
)
async def test_a_stop_ends_the_task_once_and_what_is_withdrawn_stays_so(stops, is_withdrawn):
    run = await running()
    for by in stops:
        run.stop(by)
    assert (run.is_stopped, run.is_withdrawn, run.task.cancelling()) == (True, is_withdrawn, 1)
    with pytest.raises(asyncio.CancelledError):
        await run.task


async def test_what_is_being_posted_is_not_stopped():
    run = await running()
    run.is_posting = True
    run.stop(WITHDRAWN)
    assert (run.is_stopped, run.is_withdrawn, run.task.cancelling()) == (False, False, 0)
    run.task.cancel()


async def test_a_task_that_has_not_begun_is_left_to_end_by_itself():
    run = await running()
    run.has_begun = False
    run.stop("ada")
    assert (run.is_stopped, run.task.cancelling()) == (True, 0)
    run.task.cancel()


async def test_an_entry_that_was_withdrawn_before_it_was_claimed_is_known_as_such():
    run = await running(replace(ENTRY, cancelled_by=WITHDRAWN))
    assert run.is_withdrawn
    run.task.cancel()
