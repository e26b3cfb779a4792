"""Ticks: done when they are due, and again after a failure."""

import asyncio
import logging
from datetime import timedelta

import pytest

from bot.service.schedule import Schedule, Tick
from core.errors import StorageError

SOON = timedelta(milliseconds=10)


async def test_a_tick_is_done_again_and_again_and_says_what_it_did(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "bot.service.schedule")
    done = asyncio.Semaphore(0)
    said = iter(["Forgot 3 messages", None])

    async def work() -> str | None:
        done.release()
        return next(said, None)

    schedule = Schedule([Tick(name="tidy", work=work, every=SOON, first_after=SOON)])
    schedule.start()
    async with asyncio.timeout(60):
        for _ in range(3):
            await done.acquire()
    await schedule.stop()

    assert caplog.messages == ["Forgot 3 messages"]


async def test_a_failed_tick_is_logged_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    done = asyncio.Semaphore(0)

    async def work() -> None:
        done.release()
        raise StorageError("The disk is full.")

    schedule = Schedule([Tick(name="sweep", work=work, every=SOON, first_after=SOON)])
    schedule.start()
    async with asyncio.timeout(60):
        for _ in range(2):
            await done.acquire()
    await schedule.stop()
    await schedule.stop()

    assert "The tick 'sweep' failed" in caplog.messages[0]
    assert "The disk is full." in caplog.messages[0]


async def test_a_crontab_line_is_kept_in_utc_with_its_jitter() -> None:
    async def work() -> None: ...

    schedule = Schedule([Tick(name="sync", work=work, cron="30 4 * * *", jitter_seconds=60)])
    schedule.start()
    job = schedule._scheduler.get_job("sync")
    await schedule.stop()

    next_time = job.next_run_time
    half_past = next_time.replace(hour=4, minute=30, second=0, microsecond=0)
    assert abs(next_time - half_past) <= timedelta(seconds=60)
    assert job.trigger.jitter == 60
    assert job.next_run_time.utcoffset() == timedelta(0)


async def test_a_tick_that_is_cut_off_has_let_go_of_everything_when_the_schedule_has_stopped() -> None:
    begun, events = asyncio.Event(), []

    async def work() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)  # a child process ends, a file is closed
            events.append("let go")

    schedule = Schedule([Tick(name="sync", work=work, every=SOON, first_after=SOON)])
    schedule.start()
    await asyncio.wait_for(begun.wait(), 5)
    await schedule.stop()

    assert events == ["let go"]
