"""The SQL database: one writer thread, a few readers, every driver's error in one sentence.

SQLite is the default (one file, write-ahead log); a PostgreSQL URL works through the same code.
"""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, OperationalError
from sqlalchemy.orm import Session

from core.errors import StorageError
from core.finishing import to_its_end
from storage.schema import bring_to_head
from storage.writing import Commit, Work, Writer

T = TypeVar("T")

READERS = 4  # threads; reads are short, and more would only wait for the interpreter's lock
BUSY_TIMEOUT_SECONDS = (
    15.0  # how long to wait for another process's write: the longest, a big document's switch, takes about 2 s
)
BUSY_PAUSE_SECONDS = 0.01  # between tries to switch a new file to its write-ahead log, which takes about 1 ms
PAUSE_SECONDS = 1.0  # a PostgreSQL connection that was used so lately is not asked whether it is still there
LAST_USED = "footnote_last_used"  # key of a connection's info
WRITING = "footnote_writes"  # execution option of the engines that the writer uses
DURABLE = "footnote_durable"  # execution option of the one whose commits survive a power cut

# What SQLite's error codes mean for people, by the beginning of their names (https://sqlite.org/rescode.html).
_SQLITE_ERRORS = {
    "SQLITE_NOTADB": "is not a Footnote database; move the file away or choose another data directory",
    "SQLITE_CORRUPT": "is damaged; move it away and bring a backup back with `footnote db restore`, or ingest again",
    "SQLITE_FULL": "can't grow, the disk is full; free some space and try again",
    "SQLITE_CANTOPEN": "can't be opened; check that its folder exists and may be written",
    "SQLITE_READONLY": "can't be written; check the permissions of the file and its folder",
    "SQLITE_PERM": "can't be written; check the permissions of the file and its folder",
    "SQLITE_BUSY": f"is locked by another process since {BUSY_TIMEOUT_SECONDS:g} seconds; try again when it is done",
    "SQLITE_IOERR": "can't be read or written; check the disk",
}


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


def build_engine(location: Path | str) -> tuple[Engine, str]:
    """A SQLAlchemy engine, and the database's name for people; connects to nothing yet."""
    if isinstance(location, Path):
        return _sqlite_engine(location), str(location)
    try:
        url = make_url(location)
    except ArgumentError as error:
        raise StorageError("The database URL can't be read; write postgresql://user:password@host:port/name") from error
    if url.get_backend_name() != "postgresql":
        raise StorageError(f"No database of kind {url.drivername!r} is known; give a postgresql:// URL or none at all")
    return _postgres_engine(url), url.set(query={}).render_as_string()  # a query may hold a password, too


def to_storage_error(error: DBAPIError, name: str) -> StorageError:
    """One sentence on what the driver said about the database called `name`."""
    code = getattr(error.orig, "sqlite_errorname", "")
    for prefix, meaning in _SQLITE_ERRORS.items():
        if code.startswith(prefix):
            return StorageError(f"The database {name} {meaning}")
    reason = (str(error.orig).strip().splitlines() or [type(error.orig).__name__])[0]
    if isinstance(error, OperationalError) and getattr(error.orig, "sqlstate", "") is None:  # PostgreSQL said nothing
        return StorageError(
            f"The database {name} can't be reached ({reason}); check that the server runs, its URL and its password"
        )
    return StorageError(f"The database {name} refused: {reason}")


def _sqlite_engine(path: Path) -> Engine:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"The folder {path.parent} can't be made ({error.strerror}); choose another data directory"
        ) from error
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        pool_size=READERS + 1,
        connect_args={"timeout": BUSY_TIMEOUT_SECONDS},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None  # the driver begins no transactions: _begin_sqlite does
    _use_write_ahead_log(connection)
    connection.execute("PRAGMA synchronous=NORMAL")  # a power cut may cost the last commits, never the file
    connection.execute("PRAGMA foreign_keys=ON")


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Waits by itself: when two processes switch a new file at once, SQLite refuses one of them without waiting."""
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
    """A write takes the lock at its start: taken after a read, it fails if another process wrote in between."""
    options = connection.get_execution_options()
    writes = options.get(WRITING, False)
    wanted = "FULL" if options.get(DURABLE, False) else "NORMAL"
    if writes and connection.info.get("synchronous", "NORMAL") != wanted:
        connection.exec_driver_sql(f"PRAGMA synchronous={wanted}")
        connection.info["synchronous"] = wanted
    if writes:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    elif (driver := connection.connection.dbapi_connection) is not None:
        driver.cursor().execute("BEGIN")  # which takes no lock and can't fail: a tenth of what SQLAlchemy's way costs


def _postgres_engine(url: URL) -> Engine:
    try:
        engine = create_engine(url.set(drivername="postgresql+psycopg"), pool_size=READERS + 1)
    except ModuleNotFoundError as error:
        raise StorageError("PostgreSQL needs its driver; install it with: pip install 'footnote[postgres]'") from error
    event.listen(engine, "checkout", _ask_after_a_pause)
    event.listen(engine, "checkin", _note_use)
    return engine


def _ask_after_a_pause(connection: Any, record: Any, _proxy: Any) -> None:
    """Is it still there? A server that was restarted meanwhile has left the pool's connections dead: take new ones."""
    if time.monotonic() - record.info.get(LAST_USED, 0.0) < PAUSE_SECONDS:
        return
    try:
        connection.execute("SELECT 1")
        connection.rollback()
    except connection.OperationalError as error:
        raise DisconnectionError from error


def _note_use(_connection: Any, record: Any) -> None:
    record.info[LAST_USED] = time.monotonic()
