"""The worker while a platform is away."""

import asyncio
from dataclasses import replace

from core.domain.service import InboxStatus
from core.errors import PlatformUnreachable
from core.service.worker import POST_TRIES, Worker
from core.work.retries import pause
from tests.fakes import RealClock
from tests.unit.core.service.test_worker import ACCEPTED, Office, WallPlatform, message, until


async def test_an_answer_waits_for_its_platform_to_come_back():
    office = Office()
    office.wall.failures, office.wall.failing = 3 * POST_TRIES, PlatformUnreachable
    await office.accept("a")
    async with office.working():
        await office.all_done()
    assert office.wall.posts == {"a": "Yes."}
    assert office.wall.raw == {"a": 1}


async def test_ten_minutes_without_one_platform_delay_no_answer_of_another():
    office, chat = Office(), WallPlatform()
    office.wall.failures, office.wall.failing = 1_000_000, PlatformUnreachable
    tries_in_ten_minutes = next(n for n in range(100) if sum(map(pause, range(n))) >= 600)
    cut = [f"w{number}" for number in range(16)]  # more than are worked on at a time
    for text in cut:
        await office.accept(text, thread=text)
    platforms = {"web": office.wall, "chat": chat}
    worker = Worker(office.store, office.answers, platforms, RealClock(), pause_scale=0.001, parallel=4)
    task = asyncio.create_task(worker.run())
    try:
        asked = 0
        while 1_000_000 - office.wall.failures < len(cut) * tries_in_ten_minutes:
            asked += 1
            question = message(f"c{asked}", f"c{asked}")
            address = replace(question.address, platform="chat")
            await office.store.accept(replace(question, address=address), ACCEPTED)
            worker.wake()
            async with asyncio.timeout(60):
                await until(lambda: f"c{asked}" in chat.posts)  # noqa: B023 - awaited at once
        assert (asked > 1, office.wall.posts) == (True, {})
        office.wall.failures = 0
        await office.all_done()
    finally:
        await worker.stop()
        await task
    assert office.wall.raw == dict.fromkeys(cut, 1)
    assert set(chat.raw.values()) == {1}


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
