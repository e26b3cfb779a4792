"""One process at a time: over all that share a PostgreSQL database (an advisory lock on a connection of its own), or
over all of this machine that share a SQLite file (a lock file beside it).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import IO

import portalocker
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from core.errors import StorageError
from core.thread_work import opened, to_its_end
from storage.database.driver_errors import to_storage_error
from storage.database.engines import build_engine

PAUSE_SECONDS = 0.5  # between looks whether the other process has left

_TAKE = text("SELECT pg_try_advisory_lock(hashtextextended(:place, 0))")


@asynccontextmanager
async def alone(location: Path | str, place: str, *, with_file: bool = False) -> AsyncIterator[None]:
    """While it is open, no other process on the database is in the same place: it waits outside.

    A SQLite file (a Path) has one process that writes for long, and nothing is locked there, but `with_file` a file
    beside it. Raises StorageError when the server can't be asked, or the file can't be made. Who loses the connection
    loses the place without a word. Whoever is cancelled, at whatever moment, leaves neither file nor connection open.
    """
    async with _door(location, place, with_file=with_file) as enter:
        while not await enter():  # noqa: ASYNC110 - another process leaves
            await asyncio.sleep(PAUSE_SECONDS)
        yield


@asynccontextmanager
async def alone_if_free(location: Path | str, place: str, *, with_file: bool = False) -> AsyncIterator[bool]:
    """As `alone`, without waiting: False where somebody is in the place, in this process or another."""
    async with _door(location, place, with_file=with_file) as enter:
        yield await enter()


Enter = Callable[[], Awaitable[bool]]  # takes the place, if nobody is in it


@asynccontextmanager
async def _door(location: Path | str, place: str, *, with_file: bool) -> AsyncIterator[Enter]:
    """What was entered is left at the end."""
    if isinstance(location, Path):
        async with _door_of_file(location.parent, place) if with_file else nullcontext(_always_free) as enter:
            yield enter
        return
    engine, name = build_engine(location)
    try:
        async with opened(lambda: _connect(engine), lambda made: made.close()) as connection:
            yield lambda: to_its_end(lambda: _take(connection, place))
    except DBAPIError as error:
        raise to_storage_error(error, name) from error
    finally:
        await to_its_end(engine.dispose)


async def _always_free() -> bool:
    return True


@asynccontextmanager
async def _door_of_file(folder: Path, place: str) -> AsyncIterator[Enter]:
    async with opened(lambda: _lock_file(folder, place), lambda file: file.close()) as handle:
        is_in = False

        async def enter() -> bool:
            nonlocal is_in
            is_in = _lock(handle)
            return is_in

        try:
            yield enter
        finally:
            if is_in:
                portalocker.unlock(handle)


def _connect(engine: Engine) -> Connection:
    """Outside transactions: the place may be held for minutes."""
    return engine.connect().execution_options(isolation_level="AUTOCOMMIT", pool_reset_on_return=None)


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
