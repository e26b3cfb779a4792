"""The SQL database: one writer thread, a few readers, and driver errors as StorageError.

SQLite is the default (one file, write-ahead log); PostgreSQL works through the same code.
"""

import asyncio
import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, Executable, Table, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from core.errors import StorageError
from core.thread_work import to_its_end
from storage.database.engines import BUSY_TIMEOUT_SECONDS, READERS, build_engine, to_storage_error
from storage.database.schema import bring_to_head

_log = logging.getLogger(__name__)
T = TypeVar("T")
Work = Callable[[Connection], Any]

BUSY_PAUSE_SECONDS = 0.01  # between attempts to switch a new file to its write-ahead log, which takes about 1 ms
MOST_TOGETHER = 32  # writes in one commit: about 10 ms of work, which the first of them waits for
LATER_SECONDS = 1.0  # until rows of `write_later` are committed
LATELY_SECONDS = 1.0  # how long rows are kept in memory, should another process change them
MOST_KEPT = 1_000  # results in memory
WRITING = "footnote_writes"  # execution option of the engines that the writer uses
DURABLE = "footnote_durable"  # execution option of the engine whose commits survive a power cut


class Commit(IntEnum):
    """The durability of a commit. A group of writes uses the strongest of its members."""

    RECORD = 0  # doesn't wait: a power cut may lose it
    NORMAL = 1  # as the database is configured: PostgreSQL waits for the disk, SQLite doesn't
    DURABLE = 2  # waits for the disk on every database


class Database:
    """An opened database. Cancelling a caller does not undo a write that has begun."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.name = name  # for people: the file's path, or the URL without its password
        self.is_postgres = engine.dialect.name == "postgresql"
        if not self.is_postgres:
            event.listen(engine, "connect", _prepare_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
        self._engine = engine
        self._writing_engine = engine.execution_options(**{WRITING: True})
        self._durable_engine = engine.execution_options(**{WRITING: True, DURABLE: True})
        self._writer = Writer(self._commit)
        self._later: dict[Executable, list[Mapping[str, Any]]] = {}  # rows of `write_later`
        self._timer: asyncio.TimerHandle | None = None  # runs while there are any
        self._latest: asyncio.Future[Any] | None = None  # their last commit
        self._kept: dict[tuple[Any, ...], tuple[int, float, list[Any]]] = {}  # results of `rows_lately`
        self._changes = 0  # beginnings and ends of this process's writes
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="sql-read")
        self._closed = False

    @classmethod
    async def open(cls, location: Path | str) -> "Database":
        """Open and migrate a SQLite file (created with its folder if missing) or a `postgresql://` URL.

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
        """The address for drivers, password included: not for people."""
        return self._engine.url

    def insert(self, table: Table) -> Any:
        """Return an INSERT of the database's dialect, which can handle conflicts."""
        return (postgresql if self.is_postgres else sqlite).insert(table)

    def upsert(self, table: Table, *, keep: Container[str] = ()) -> Any:
        """Return an INSERT that replaces the row with the same primary key, in one statement without a read.

        A row that exists keeps its columns named in `keep`.
        """
        statement = self.insert(table)
        changed = [column.name for column in table.c if not column.primary_key and column.name not in keep]
        others = {name: statement.excluded[name] for name in changed}
        return statement.on_conflict_do_update(index_elements=[*table.primary_key], set_=others)

    async def write(
        self, work: Callable[[Connection], T], commit: Commit = Commit.NORMAL, *, is_shared: bool = True
    ) -> T:
        """Run `work` in the writer thread, in one transaction: committed when it returns, rolled back when it raises.

        Writes that wait together share a commit, unless one takes long (`is_shared` is False). A shared one may run
        twice, the first time rolled back, so it must change nothing but the database.
        """

        async def run() -> T:
            self._commit_later()
            self._changes += 1
            try:
                return await self._writer.put(work, commit, is_shared=is_shared)
            finally:
                self._changes += 1

        return await self._call(run)

    def write_later(self, statement: Executable, row: Mapping[str, Any]) -> None:
        """Add a row to a statement without waiting for its commit, such as a note of a message left alone.

        Every later read and write sees it, other processes after at most LATER_SECONDS. A kill before that loses it,
        and a failure is only logged.
        """
        self._later.setdefault(statement, []).append(row)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LATER_SECONDS, self._commit_later)

    def _commit_later(self) -> None:
        """Queue the rows of `write_later`."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        later, self._later = self._later, {}
        if not later:
            return

        def work(connection: Connection) -> None:
            for statement, rows in later.items():
                connection.execute(statement, rows)

        self._latest = self._writer.put(work, Commit.RECORD, is_shared=True)
        self._latest.add_done_callback(lambda done: self._report(done, sum(map(len, later.values()))))

    def _report(self, done: "asyncio.Future[Any]", rows: int) -> None:
        if not done.cancelled() and (error := done.exception()) is not None:
            _log.error("%d rows that could wait were not saved in %s: %s", rows, self.name, error)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a reader thread. On SQLite all its queries see one state of the database."""

        def transaction() -> T:
            with self._engine.connect() as connection:
                return work(connection)

        async def run() -> T:
            self._commit_later()
            if self._latest is not None and not self._latest.done():
                await asyncio.wait({self._latest})  # a cancelled reader doesn't cancel it
            return await self._in_reader(transaction)

        return await self._call(run)

    async def rows(self, query: Executable, values: Mapping[str, Any] | None = None) -> list[Any]:
        """Return all rows of one query."""
        return await self.read(lambda connection: [*connection.execute(query, values)])

    async def rows_lately(self, query: Executable, values: Mapping[str, Any]) -> list[Any]:
        """Return the rows as they are by this process's writes, and were at most LATELY_SECONDS ago by others'.

        `values` must be hashable.
        """
        key, now = (query, *values.items()), time.monotonic()
        kept = self._kept.get(key)
        if kept is not None and kept[0] == self._changes and now - kept[1] < LATELY_SECONDS:
            return kept[2]
        changes = self._changes
        rows = await self.rows(query, values)
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        self._kept[key] = (changes, now, rows)
        return rows

    async def change(
        self, statement: Executable, values: Mapping[str, Any] | None = None, commit: Commit = Commit.NORMAL
    ) -> int:
        """Run one statement; return the number of rows that it changed."""
        return await self.write(lambda connection: connection.execute(statement, values).rowcount, commit)

    async def erase_log(self) -> None:
        """Empty SQLite's write-ahead log, which holds pages with texts that were deleted since.

        PostgreSQL's server removes dead rows itself, with its next vacuum.
        """
        if not self.is_postgres:
            await self._call(lambda: self._in_reader(self._erase_log))

    def _erase_log(self) -> None:
        with self._engine.connect() as connection:
            driver: Any = connection.connection.dbapi_connection
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # waits for readers as long as for a lock

    async def close(self) -> None:
        """Finish the current work and release the files; safe to repeat."""
        if not self._closed:
            self._commit_later()
        self._closed = True
        await to_its_end(self._release)

    def _release(self) -> None:
        self._writer.close()
        self._readers.shutdown()
        self._engine.dispose()

    def _commit(self, works: Sequence[Work], commit: Commit) -> list[Any]:
        """Run all works in one transaction, in the writer thread."""
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


@dataclass(frozen=True, slots=True)
class Write:
    """A queued write. One that `is_shared` may be committed in a group, and then may run twice."""

    work: Work
    commit: Commit
    is_shared: bool
    done: "asyncio.Future[Any]"


class Writer:
    """A queue with one thread, first come first served; adjacent shared writes get one commit.

    A commit costs more than most writes, most of all one that waits for the disk. Callers don't notice the sharing:
    when one write of a group fails, the group is rolled back and each write is committed separately.

    Args:
        run: executes a group of works in one transaction, in the writer's thread, and returns their results.
    """

    def __init__(self, run: Callable[[Sequence[Work], Commit], list[Any]]) -> None:
        self._run = run
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sql-write")
        self._lock = threading.Lock()  # guards the two attributes below
        self._waiting: deque[Write] = deque()
        self._is_draining = False

    def put(self, work: Callable[[Connection], T], commit: Commit, *, is_shared: bool) -> "asyncio.Future[T]":
        """Queue a write; return its result or error. One that is cancelled before its turn is skipped."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._lock:
            self._waiting.append(Write(work, commit, is_shared, done))
            if not self._is_draining:
                self._thread.submit(self._drain)
                self._is_draining = True
        return done

    def close(self) -> None:
        """Wait for all queued writes."""
        self._thread.shutdown()

    def _drain(self) -> None:
        while group := self._take():
            try:
                results = self._run([write.work for write in group], max(write.commit for write in group))
            except Exception as error:
                if len(group) == 1:
                    _set_outcomes(group, [error], failed=True)
                else:
                    self._run_each(group)
            else:
                _set_outcomes(group, results, failed=False)

    def _run_each(self, group: Sequence[Write]) -> None:
        for write in group:
            try:
                result = self._run([write.work], write.commit)
            except Exception as error:
                _set_outcomes([write], [error], failed=True)
            else:
                _set_outcomes([write], result, failed=False)

    def _take(self) -> list[Write]:
        """Return the next write with the following ones that may share its commit; when empty, the thread is done."""
        group: list[Write] = []
        with self._lock:
            while self._waiting and len(group) < MOST_TOGETHER:
                if group and not (group[0].is_shared and self._waiting[0].is_shared):
                    break
                write = self._waiting.popleft()
                if not write.done.cancelled():
                    group.append(write)
            self._is_draining = bool(group)
        return group


def _set_outcomes(group: Sequence[Write], outcomes: Sequence[Any], *, failed: bool) -> None:
    """Resolve all futures in one call into their event loop: waking it costs more than a small write."""

    def resolve() -> None:
        for write, outcome in zip(group, outcomes, strict=True):
            if write.done.cancelled():
                continue
            if failed:
                write.done.set_exception(outcome)
            else:
                write.done.set_result(outcome)

    group[0].done.get_loop().call_soon_threadsafe(resolve)


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None  # the driver begins no transactions: Database does
    _use_write_ahead_log(connection)
    connection.execute("PRAGMA synchronous=NORMAL")  # a power cut may cost the last commits, never the file
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA secure_delete=ON")  # zeros in place of deleted rows: free pages keep no text


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Retry until a deadline: when two processes switch a new file at once, SQLite refuses one without waiting."""
    deadline = time.monotonic() + BUSY_TIMEOUT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(BUSY_PAUSE_SECONDS)


def _begin_sqlite(connection: Connection) -> None:
    """Begin a transaction. A write takes the lock now: taken after a read, it fails if another process wrote since."""
    options = connection.get_execution_options()
    writes = options.get(WRITING, False)
    wanted = "FULL" if options.get(DURABLE, False) else "NORMAL"
    if writes and connection.info.get("synchronous", "NORMAL") != wanted:
        connection.exec_driver_sql(f"PRAGMA synchronous={wanted}")
        connection.info["synchronous"] = wanted
    if writes:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    elif (driver := connection.connection.dbapi_connection) is not None:
        driver.cursor().execute("BEGIN")  # takes no lock and can't fail: a tenth of the cost of SQLAlchemy's way
