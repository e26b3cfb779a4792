"""The SQL database: one writer thread, a few readers, every driver's error in one sentence.

SQLite is the default (one file, write-ahead log); a PostgreSQL URL works through the same code.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from core.errors import StorageError
from core.thread_work import to_its_end
from storage.database.driver_errors import to_storage_error
from storage.database.engines import DURABLE, READERS, WRITING, build_engine
from storage.database.schema import bring_to_head
from storage.database.writing import Commit, Work, Writer

T = TypeVar("T")


class Database:
    """An opened database. Cancelling a caller does not undo a write that has begun."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.name = name  # for people: the file's path, or the URL without its password
        self.is_postgres = engine.dialect.name == "postgresql"
        self._engine = engine
        self._writing_engine = engine.execution_options(**{WRITING: True})
        self._durable_engine = engine.execution_options(**{WRITING: True, DURABLE: True})
        self._writer = Writer(self._commit)
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="sql-read")
        self._closed = False

    @classmethod
    async def open(cls, location: Path | str) -> "Database":
        """Open a SQLite file (made when it is missing, with its folder) or a `postgresql://` URL, and migrate it.

        Raises StorageError when it can't be reached, read or written, is no database, or is a newer Footnote's.
        """
        engine, name = build_engine(location)
        database = cls(engine, name)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(database.close)
            await database._call(lambda: database._in_reader(lambda: bring_to_head(database._writing_engine, name)))
            stack.pop_all()
        return database

    @property
    def url(self) -> URL:
        """How drivers reach it, password included: not for people."""
        return self._engine.url

    async def write(self, work: Callable[[Session], T], *, durable: bool = False) -> T:
        """Run `work` in the writer thread, in one transaction: committed when it returns, undone when it raises.

        `durable`: on the disk when it returns, so that not even a power cut takes it back. SQLite waits for the disk
        only then; PostgreSQL always does, as it is configured.
        """

        def flushed(connection: Connection) -> T:
            with Session(connection, expire_on_commit=False) as session:
                result = work(session)
                session.flush()
                return result

        commit = Commit.DURABLE if durable else Commit.NORMAL
        return await self._call(lambda: self._writer.write(flushed, commit, is_shared=False))

    async def write_rows(self, work: Callable[[Connection], T], commit: Commit = Commit.NORMAL) -> T:
        """As `write`, for short writes there are many of: without the ORM, and those that wait share a commit.

        `work` may be run twice, the first time undone: it changes nothing but the database.
        """
        return await self._call(lambda: self._writer.write(work, commit, is_shared=True))

    async def read(self, work: Callable[[Session], T]) -> T:
        """Run `work` in a reader thread. On SQLite all its queries see one state of the database."""

        def transaction() -> T:
            with Session(self._engine) as session:
                return work(session)

        return await self._call(lambda: self._in_reader(transaction))

    async def read_rows(self, work: Callable[[Connection], T]) -> T:
        """As `read`, without the ORM."""

        def transaction() -> T:
            with self._engine.connect() as connection:
                return work(connection)

        return await self._call(lambda: self._in_reader(transaction))

    async def close(self) -> None:
        """Finish the work in hand and release the files; safe to repeat."""
        self._closed = True
        await to_its_end(self._release)

    def _release(self) -> None:
        self._writer.close()
        self._readers.shutdown()
        self._engine.dispose()

    def _commit(self, works: Sequence[Work], commit: Commit) -> list[Any]:
        """In the writer thread: all works in one transaction."""
        engine = self._durable_engine if commit is Commit.DURABLE else self._writing_engine
        with engine.begin() as connection:
            if self.is_postgres and commit is Commit.RECORD:
                connection.exec_driver_sql("SET LOCAL synchronous_commit TO off")
            return [work(connection) for work in works]

    async def _in_reader(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    async def _call(self, run: Callable[[], Awaitable[T]]) -> T:
        if self._closed:
            raise StorageError(f"The database {self.name} is closed; start Footnote again")
        try:
            return await run()
        except DBAPIError as error:
            raise to_storage_error(error, self.name) from error
