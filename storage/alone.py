"""One process at a time: over all that share a PostgreSQL database (an advisory lock on a connection of its own), or
over all of this machine that share a SQLite file (a lock file beside it).
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import IO, TypeVar

import portalocker
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from core.errors import StorageError
from storage.database import build_engine, to_storage_error

T = TypeVar("T")

PAUSE_SECONDS = 0.5  # between looks whether the other process has left

_TAKE = text("SELECT pg_try_advisory_lock(hashtextextended(:place, 0))")


@asynccontextmanager
async def alone(location: Path | str, place: str, *, with_file: bool = False) -> AsyncIterator[None]:
    """While it is open, no other process on the database is in the same place: it waits outside.

    A SQLite file (a Path) has one process that writes for long, and nothing is locked there, but `with_file` a file
    beside it. Raises StorageError when the server can't be asked, or the file can't be made. Who loses the connection
    loses the place without a word.
    """
    if isinstance(location, Path):
        async with _alone_in(location.parent, place) if with_file else nullcontext():
            yield
        return
    engine, name = build_engine(location)
    try:
        async with _connection(engine) as connection:
            while not await _to_its_end(lambda: _take(connection, place)):  # noqa: ASYNC110 - another process leaves
                await asyncio.sleep(PAUSE_SECONDS)
            yield
    except DBAPIError as error:
        raise to_storage_error(error, name) from error
    finally:
        await asyncio.to_thread(engine.dispose)


@asynccontextmanager
async def _alone_in(folder: Path, place: str) -> AsyncIterator[None]:
    with await asyncio.to_thread(_lock_file, folder, place) as handle:
        while not _lock(handle):  # noqa: ASYNC110 - another process leaves
            await asyncio.sleep(PAUSE_SECONDS)
        try:
            yield
        finally:
            portalocker.unlock(handle)


@asynccontextmanager
async def _connection(engine: Engine) -> AsyncIterator[Connection]:
    """Outside transactions: the place may be held for minutes. Closed whenever the caller is cancelled."""
    opened: list[Connection] = []

    def connect() -> Connection:
        options = {"isolation_level": "AUTOCOMMIT", "pool_reset_on_return": None}
        opened.append(engine.connect().execution_options(**options))
        return opened[0]

    try:
        yield await _to_its_end(connect)
    finally:
        for connection in opened:
            await asyncio.to_thread(connection.close)


async def _to_its_end(work: Callable[[], T]) -> T:
    """Run `work` in a thread. Who is cancelled waits for its end: a thread can't be stopped, and what it opened or uses
    can be closed only then.
    """
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait({running})
        raise


def _lock_file(folder: Path, place: str) -> IO[str]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / f"{place}.lock").open("a")
    except OSError as error:
        raise StorageError(f"The folder {str(folder)!r} can't be written ({error.strerror}): choose another") from error


def _lock(handle: IO[str]) -> bool:
    try:
        portalocker.lock(handle, portalocker.LOCK_EX | portalocker.LOCK_NB)
    except portalocker.LockException:
        return False
    return True


def _take(connection: Connection, place: str) -> bool:
    return bool(connection.execute(_TAKE, {"place": f"footnote {place}"}).scalar_one())
