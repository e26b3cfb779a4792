"""The worker while a platform is away."""

import asyncio

from core.domain.service import InboxStatus
from core.errors import PlatformUnreachable
from core.service.worker import POST_TRIES, Worker
from tests.fakes import RealClock
from tests.unit.core.service.test_worker import Office, WallPlatform


async def test_an_answer_waits_for_its_platform_to_come_back():
    office = Office()
    office.wall.failures, office.wall.failing = 3 * POST_TRIES, PlatformUnreachable
    await office.accept("a")
    async with office.working():
        await office.all_done()
    assert office.wall.posts == {"a": "Yes."}
    assert office.wall.raw == {"a": 1}


async def test_the_entries_of_a_platform_without_connection_wait_until_it_is_there():
    office = Office()
    platforms: dict[str, WallPlatform] = {}
    worker = Worker(office.store, office.answers, platforms, RealClock(), pause_scale=0.001)
    await office.accept("a")
    task = asyncio.create_task(worker.run())
    try:
        await asyncio.sleep(0.05)
        assert (await office.status("a"), office.wall.posts) == (InboxStatus.QUEUED, {})
        platforms["web"] = office.wall
        worker.wake()
        await office.all_done()
    finally:
        await worker.stop()
        await task
    assert office.wall.posts == {"a": "Yes."}
