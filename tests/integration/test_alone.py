"""One process at a time beside a SQLite file: who comes second waits until the first has left, however it leaves."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import StorageError
from storage.alone import alone

# Holds the place until it is killed.
HOLDER = """
import asyncio, sys
from pathlib import Path
from storage.alone import alone

async def main():
    async with alone(Path(sys.argv[1]), "sync", with_file=True):
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
        async with alone(place, "sync", with_file=True):
            pass

    waiting = asyncio.create_task(enter())
    done, _ = await asyncio.wait([waiting], timeout=0.7)
    assert not done
    async with alone(place, "other", with_file=True):  # another place is free
        pass
    async with alone(place, "sync"):  # and so is it for who locks nothing there
        pass
    holder.kill()
    async with asyncio.timeout(10):
        await waiting
        await holder.wait()


async def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="can't be written"):
        async with alone(tmp_path / "file" / "footnote.db", "sync", with_file=True):
            pass
