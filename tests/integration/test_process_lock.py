"""One process at a time beside a SQLite file: who comes second waits until the first has left, however it leaves."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

import pytest

from core.errors import StorageError
from storage.database import process_lock as lock_module
from storage.database.process_lock import process_lock, try_process_lock

# Holds the place until it is killed.
HOLDER = """
import asyncio, sys
from pathlib import Path
from storage.database.process_lock import process_lock

async def main():
    async with process_lock(Path(sys.argv[1]), "sync", with_file=True):
        print("in", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_a_place_is_for_one_process_and_free_when_that_is_killed(tmp_path: Path) -> None:
    place = tmp_path / "data" / "footnote.db"
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(place), stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"in\n"

    async def enter() -> None:
        async with process_lock(place, "sync", with_file=True):
            pass

    async def is_free() -> bool:
        async with try_process_lock(place, "sync", with_file=True) as entered:
            return entered

    waiting = asyncio.create_task(enter())
    assert not await is_free()
    done, _ = await asyncio.wait([waiting], timeout=0.7)
    assert not done
    async with process_lock(place, "other", with_file=True):  # another place is free
        pass
    async with process_lock(place, "sync"):  # and so is it for who locks nothing there
        pass
    holder.kill()
    async with asyncio.timeout(60):
        await waiting
        await holder.wait()
    assert [await is_free(), await is_free()] == [True, True]  # and who looked has left
    async with process_lock(place, "sync", with_file=True):
        assert not await is_free()  # held by this very process


async def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="can't be written"):
        async with process_lock(tmp_path / "file" / "footnote.db", "sync", with_file=True):
            pass


async def test_who_is_cancelled_while_the_file_is_opened_leaves_it_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, go_on, done = threading.Event(), threading.Event(), threading.Event()
    handles: list[IO[str]] = []
    open_file = lock_module._open_file

    def slow(folder: Path, place: str) -> IO[str]:
        opening.set()
        assert go_on.wait(30)
        handles.append(open_file(folder, place))
        done.set()
        return handles[0]

    async def visit() -> None:
        async with process_lock(tmp_path / "footnote.db", "extraction", with_file=True):
            raise AssertionError("nobody is let in")

    monkeypatch.setattr(lock_module, "_open_file", slow)
    visiting = asyncio.create_task(visit())
    await asyncio.to_thread(opening.wait, 30)
    for _ in range(2):  # by its caller, and when the service stops
        visiting.cancel()
        await asyncio.sleep(0)
    go_on.set()
    await asyncio.wait({visiting})
    await asyncio.to_thread(done.wait, 30)

    assert visiting.cancelled()
    assert [handle.closed for handle in handles] == [True]
