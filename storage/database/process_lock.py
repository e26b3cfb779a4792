"""A named lock that one process at a time holds.

Processes that share a PostgreSQL database use an advisory lock, on a connection of its own; processes on this machine
that share a SQLite file use a lock file in its folder.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

import portalocker
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from core.errors import StorageError
from core.thread_work import opened, to_its_end
from storage.database.engines import build_engine, to_storage_error

PAUSE_SECONDS = 0.5  # between attempts to take the lock

_TAKE = text("SELECT pg_try_advisory_lock(hashtextextended(:name, 0))")
_RELEASE = text("SELECT pg_advisory_unlock_all()")

Acquire = Callable[[], Awaitable[bool]]  # takes the lock if it is free


@asynccontextmanager
async def process_lock(location: Path | str, name: str, *, with_file: bool = False) -> AsyncIterator[None]:
    """Hold the lock `name` of a database, after waiting for its current holder.

    A SQLite file (a Path) is locked only with `with_file`, by a file in its folder: it has one long-time writer anyway.
    Raises StorageError when the server can't be reached or the file can't be created. A lost connection releases the
    lock without notice. Cancellation never leaves a file or connection open.
    """
    async with _open_lock(location, name, with_file=with_file) as acquire:
        while not await acquire():  # noqa: ASYNC110 - another process releases it
            await asyncio.sleep(PAUSE_SECONDS)
        yield


@asynccontextmanager
async def try_process_lock(location: Path | str, name: str, *, with_file: bool = False) -> AsyncIterator[bool]:
    """Take the lock as `process_lock` does, without waiting: False if this or another process holds it."""
    async with _open_lock(location, name, with_file=with_file) as acquire:
        yield await acquire()


@asynccontextmanager
async def _open_lock(location: Path | str, name: str, *, with_file: bool) -> AsyncIterator[Acquire]:
    """Yield the function that takes the lock; the lock is released at the end."""
    if not isinstance(location, Path):
        async with _server_lock(location, name) as acquire:
            yield acquire
    elif with_file:
        async with opened(lambda: _open_file(location.parent, name), lambda file: file.close()) as handle:
            yield lambda: to_its_end(lambda: _try_lock(handle))
    else:

        async def is_free() -> bool:
            return True

        yield is_free


@asynccontextmanager
async def _server_lock(url: str, name: str) -> AsyncIterator[Acquire]:
    engine, database = build_engine(url)

    def connect() -> Connection:
        """Outside transactions: the lock may be held for minutes."""
        return engine.connect().execution_options(isolation_level="AUTOCOMMIT", pool_reset_on_return=None)

    try:
        async with opened(connect, _release) as connection:
            taking = partial(connection.execute, _TAKE, {"name": f"footnote {name}"})
            yield lambda: to_its_end(lambda: bool(taking().scalar_one()))
    except DBAPIError as error:
        raise to_storage_error(error, database) from error
    finally:
        await to_its_end(engine.dispose)


def _release(connection: Connection) -> None:
    """Release the lock before the connection closes: the server notices a closed connection only some time later."""
    try:
        with suppress(DBAPIError):  # lost, and the lock with it
            connection.execute(_RELEASE)
    finally:
        connection.close()


def _open_file(folder: Path, name: str) -> IO[str]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / f"{name}.lock").open("a")
    except OSError as error:
        raise StorageError(f"The folder {str(folder)!r} can't be written ({error.strerror}): choose another") from error


def _try_lock(handle: IO[str]) -> bool:
    try:
        portalocker.lock(handle, portalocker.LOCK_EX | portalocker.LOCK_NB)
    except portalocker.LockException:
        return False
    return True
