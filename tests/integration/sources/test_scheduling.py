"""Syncs by the clock and by changes: when they are due, and what is said of them."""

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.service.schedule import SOONEST, sync_ticks, watch_folder, watched
from core.domain.sources import Cron, Every, FolderOrigin, GitOrigin, SourceSpec
from core.errors import SourceUnavailable
from tests.integration.sources.place import FilesFetcher, SyncPlace

WIKI = SourceSpec(
    name="wiki",
    workspace="local",
    origin=GitOrigin(url="https://git.example.org/wiki.git"),
    schedule=Every(seconds=3600),
)


@pytest.fixture
def place(tmp_path: Path) -> SyncPlace:
    made = SyncPlace(tmp_path)
    made.fetchers["wiki"] = FilesFetcher({"a.txt": "One."})
    return made


async def test_a_source_without_schedule_and_a_disabled_one_have_no_tick(place: SyncPlace) -> None:
    place.specs = [replace(WIKI, schedule=None), replace(WIKI, name="off", enabled=False)]
    assert await sync_ticks(place.syncs, place.clock) == []


async def test_what_was_never_synced_comes_at_once_and_what_is_overdue_soon_after_the_start(place: SyncPlace) -> None:
    place.specs = [WIKI]
    [never] = await sync_ticks(place.syncs, place.clock)
    await place.syncs.sync("local")
    place.clock.advance(600)
    [recent] = await sync_ticks(place.syncs, place.clock)
    place.clock.advance(7200)
    [overdue] = await sync_ticks(place.syncs, place.clock)

    assert [tick.first_after for tick in (never, recent, overdue)] == [timedelta(0), timedelta(seconds=3000), SOONEST]
    assert never.every == timedelta(hours=1)


async def test_a_crontab_line_and_a_jitter_go_to_the_clock(place: SyncPlace) -> None:
    place.specs = [replace(WIKI, schedule=Cron(line="30 4 * * *"), jitter_seconds=90)]
    [tick] = await sync_ticks(place.syncs, place.clock)

    assert (tick.cron, tick.jitter_seconds) == ("30 4 * * *", 90)


async def test_a_tick_leaves_out_what_another_process_has_just_done(place: SyncPlace) -> None:
    place.specs = [WIKI]
    fetcher = place.fetchers["wiki"] = FilesFetcher({"a.txt": "One."})
    [tick] = await sync_ticks(place.syncs, place.clock)
    await place.syncs.sync("local")
    place.clock.advance(20)
    await tick.work()
    assert len(fetcher.forced) == 1
    place.clock.advance(3600)
    await tick.work()
    assert len(fetcher.forced) == 2


async def test_changes_and_failures_are_in_the_log(place: SyncPlace, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "bot.service.schedule")
    place.specs = [WIKI]
    fetcher = place.fetchers["wiki"] = FilesFetcher({"a.txt": "One."})
    [tick] = await sync_ticks(place.syncs, place.clock)
    await tick.work()
    place.clock.advance(3600)
    await tick.work()  # nothing changed: nothing to say, but that nobody may read it yet
    place.clock.advance(3600)
    fetcher.error = SourceUnavailable("The server is down.")
    await tick.work()

    unread, synced, still_unread, failed = caplog.messages
    assert "Nobody may read 'wiki' in chats yet" in unread == still_unread
    assert "'added': 1" in synced
    assert "The server is down." in failed and "'wiki'" in failed


async def test_only_enabled_folders_that_want_it_are_watched(tmp_path: Path) -> None:
    folder = replace(WIKI, name="notes", origin=FolderOrigin(path=tmp_path), watch=True)
    specs = [WIKI, folder, replace(folder, enabled=False), replace(folder, watch=False), replace(WIKI, watch=True)]
    assert watched(specs) == [(folder, tmp_path)]


@pytest.mark.slow
async def test_a_changed_file_of_a_watched_folder_is_synced(place: SyncPlace, tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "a.txt").write_text("One.")
    spec = SourceSpec(name="notes", workspace="local", origin=FolderOrigin(path=root), watch=True)
    place.specs = [spec]
    await place.syncs.sync("local")
    task = asyncio.create_task(watch_folder(place.syncs, spec, root))
    async with asyncio.timeout(60):
        number = 0
        while len(await place.texts("notes")) < 2:  # the watch may begin after the first of these changes
            number += 1
            (root / "b.txt").write_text(f"Two, {number}.")
            await asyncio.sleep(0.3)
    task.cancel()
    await asyncio.wait([task])

    assert list(await place.texts("notes")) == ["a.txt", "b.txt"]


async def test_a_watched_folder_that_is_not_there_is_told(
    place: SyncPlace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spec = SourceSpec(name="notes", workspace="local", origin=FolderOrigin(path=tmp_path / "none"), watch=True)
    task = asyncio.create_task(watch_folder(place.syncs, spec, tmp_path / "none"))
    async with asyncio.timeout(60):
        while not caplog.messages:  # noqa: ASYNC110 - a log has no event
            await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])

    assert "'notes' of workspace 'local' is not watched" in caplog.messages[0]
