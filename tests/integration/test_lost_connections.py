"""A PostgreSQL server that was restarted: its connections are dead, and nobody has to know."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import Connection, text

from core.errors import StorageError
from storage.database import Database, engines
from tests.postgres import postgres_schema


@pytest.fixture
async def two() -> AsyncIterator[tuple[Database, Database]]:
    """Two processes' views of one database."""
    with postgres_schema() as url:
        one, other = await Database.open(url), await Database.open(url)
        yield one, other
        await one.close()
        await other.close()


def own_pid(connection: Connection) -> int:
    return connection.execute(text("SELECT pg_backend_pid()")).scalar_one()


async def end(pid: int, by: Database) -> None:
    """As a restart of the server ends it; when this returns, the server has."""

    def work(connection: Connection) -> None:
        connection.execute(text("SELECT pg_terminate_backend(:pid, 10000)"), {"pid": pid})

    await by.read(work)


async def test_connections_that_died_while_nobody_used_them_are_replaced(two, monkeypatch):
    monkeypatch.setattr(engines, "IDLE_SECONDS", 0.0)
    one, other = two
    pid = await one.write(own_pid)
    await end(pid, other)
    assert await one.write(own_pid) != pid


async def test_a_connection_that_dies_in_use_is_one_clear_error_and_the_next_one_works(two, monkeypatch):
    monkeypatch.setattr(engines, "IDLE_SECONDS", 60.0)
    one, other = two
    loop = asyncio.get_running_loop()

    def die(connection: Connection) -> None:
        asyncio.run_coroutine_threadsafe(end(own_pid(connection), other), loop).result(30)
        connection.execute(text("SELECT 1"))

    with pytest.raises(StorageError, match="The database postgresql"):
        await one.write(die)
    assert await one.write(own_pid) > 0
