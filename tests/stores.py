"""The real SQL repositories over one SQLite database in memory: no file, no thread, a millisecond to open."""

import asyncio
import sqlite3
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, StaticPool, create_engine

from bot.presentation.direct_threads import is_direct_thread
from core.access.identity import Sessions
from core.ports import Clock
from storage.database import Commit, Database, stores
from storage.database.database import Work
from storage.database.repositories.inbox import LEASE_SECONDS, SqlInboxStore
from storage.database.repositories.installations import SqlOneTimeCodes
from storage.database.repositories.statistics import SqlAskedRepository
from storage.database.tables import METADATA

T = TypeVar("T")

# Statements compiled for one database serve all of them: compiling takes longer than running.
_COMPILED: dict[Any, Any] = {}


class InMemoryDatabase(Database):
    """A Database that does its work at once, in the caller's thread, on one connection."""

    def __init__(self) -> None:
        template, schema = _template()
        connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        connection.deserialize(schema)
        connection.execute("PRAGMA foreign_keys=ON")
        weakref.finalize(self, connection.close)
        options = {"compiled_cache": _COMPILED}
        engine = Engine(StaticPool(lambda: connection), template.dialect, template.url, execution_options=options)
        super().__init__(engine, "in memory")
        self._writer = _ImmediateWriter(self._commit)

    async def _in_reader(self, work: Callable[[], T]) -> T:
        return work()


class _ImmediateWriter:
    """A Writer without a thread."""

    def __init__(self, run: Callable[[list[Work], Commit], list[Any]]) -> None:
        self._run = run

    def put(self, work: Callable[[Connection], T], commit: Commit, *, is_shared: bool) -> "asyncio.Future[T]":
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        try:
            [result] = self._run([work], commit)
            done.set_result(result)
        except Exception as error:
            done.set_exception(error)
        return done

    def close(self) -> None: ...


class Stores(stores.Stores):
    """All repositories over one empty database; those that refer to each other's rows have to share it."""

    def __init__(self) -> None:
        super().__init__(InMemoryDatabase(), is_direct_thread)

    def asked(self, clock: Clock) -> SqlAskedRepository:
        return SqlAskedRepository(self.database, clock, is_direct_thread)

    def sessions(self, clock: Clock, key: str = "a key for tests only") -> Sessions:
        return Sessions(self.identity, SqlOneTimeCodes(self.database, clock), clock, key)

    def inbox(self, clock: Clock, lease_seconds: float = LEASE_SECONDS) -> SqlInboxStore:
        """Another owner at each call, as of another process."""
        return SqlInboxStore(self.database, clock, lease_seconds)


@cache
def _template() -> tuple[Engine, bytes]:
    """An engine whose dialect all databases share, and the empty schema as bytes."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    METADATA.create_all(engine)
    with engine.connect() as connection:
        driver = connection.connection.dbapi_connection
        assert isinstance(driver, sqlite3.Connection)
        return engine, driver.serialize()
