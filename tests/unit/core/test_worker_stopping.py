"""A worker that is told to stop at an odd moment."""

import asyncio

from core.domain.inbox import InboxStatus
from tests.unit.core.test_worker import Office


async def test_a_worker_that_is_stopped_before_it_begins_never_begins():
    office = Office()
    await office.accept("one")
    worker = office.worker()
    working = asyncio.create_task(worker.run())
    await worker.stop()
    async with asyncio.timeout(10):
        await working
    assert await office.status("one") is InboxStatus.QUEUED
