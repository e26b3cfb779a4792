"""How SQLite and PostgreSQL are reached: an engine of each, its connections as the writer and the readers need them."""

import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError

from core.errors import StorageError

READERS = 4  # threads; reads are short, and more would only wait for the interpreter's lock
BUSY_TIMEOUT_SECONDS = (
    15.0  # how long to wait for another process's write: the longest, a big document's switch, takes about 2 s
)
BUSY_PAUSE_SECONDS = 0.01  # between tries to switch a new file to its write-ahead log, which takes about 1 ms
PAUSE_SECONDS = 1.0  # a PostgreSQL connection that was used so lately is not asked whether it is still there
LAST_USED = "footnote_last_used"  # key of a connection's info
WRITING = "footnote_writes"  # execution option of the engines that the writer uses
DURABLE = "footnote_durable"  # execution option of the one whose commits survive a power cut


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
