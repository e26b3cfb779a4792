"""One process at a time, over all that share a PostgreSQL database: an advisory lock on a connection of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from storage.database import build_engine, to_storage_error

PAUSE_SECONDS = 0.5  # between looks whether the other process has left

_TAKE = text("SELECT pg_try_advisory_lock(hashtextextended(:place, 0))")


@asynccontextmanager
async def alone(location: Path | str, place: str) -> AsyncIterator[None]:
    """While it is open, no other process on the database is in the same place: it waits outside.

    A SQLite file (a Path) has one process that writes for long, and nothing is locked there. Raises StorageError when
    the server can't be asked. Who loses the connection loses the place without a word.
    """
    if isinstance(location, Path):
        yield
        return
    engine, name = build_engine(location)
    try:
        async with _connection(engine) as connection:
            while not await asyncio.to_thread(_take, connection, place):  # noqa: ASYNC110 - another process leaves
                await asyncio.sleep(PAUSE_SECONDS)
            yield
    except DBAPIError as error:
        raise to_storage_error(error, name) from error
    finally:
        await asyncio.to_thread(engine.dispose)


@asynccontextmanager
async def _connection(engine: Engine) -> AsyncIterator[Connection]:
    """Outside transactions: the place may be held for minutes."""
    connection = await asyncio.to_thread(
        lambda: engine.connect().execution_options(isolation_level="AUTOCOMMIT", pool_reset_on_return=None)
    )
    try:
        yield connection
    finally:
        await asyncio.to_thread(connection.close)


def _take(connection: Connection, place: str) -> bool:
    return bool(connection.execute(_TAKE, {"place": f"footnote {place}"}).scalar_one())
