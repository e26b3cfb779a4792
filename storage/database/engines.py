"""Engines for SQLite and PostgreSQL, and the meaning of their drivers' errors."""

import time
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, OperationalError

from core.errors import StorageError

READERS = 4  # threads; reads are short, and more would only wait for the interpreter's lock
BUSY_TIMEOUT_SECONDS = 15.0  # for another process's write: the longest, a big document's switch, takes about 2 s
IDLE_SECONDS = 1.0  # a PostgreSQL connection that was idle for longer is checked before use
LAST_USED = "footnote_last_used"  # key of a connection's info


def build_engine(location: Path | str) -> tuple[Engine, str]:
    """Return a SQLAlchemy engine and the database's name for people, without connecting."""
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
            f"The folder {path.parent} can't be created ({error.strerror}); choose another data directory"
        ) from error
    return create_engine(
        URL.create("sqlite", database=str(path)),
        pool_size=READERS + 1,
        connect_args={"timeout": BUSY_TIMEOUT_SECONDS},
    )


def _postgres_engine(url: URL) -> Engine:
    try:
        engine = create_engine(url.set(drivername="postgresql+psycopg"), pool_size=READERS + 1)
    except ModuleNotFoundError as error:
        raise StorageError("PostgreSQL needs its driver; install it with: pip install 'footnote[postgres]'") from error
    event.listen(engine, "checkout", _check_after_idling)
    event.listen(engine, "checkin", _note_use)
    return engine


def _check_after_idling(connection: Any, record: Any, _proxy: Any) -> None:
    """Replace a dead connection: after a restart of the server, all connections of the pool are dead."""
    if time.monotonic() - record.info.get(LAST_USED, 0.0) < IDLE_SECONDS:
        return
    try:
        connection.execute("SELECT 1")
        connection.rollback()
    except connection.OperationalError as error:
        raise DisconnectionError from error


def _note_use(_connection: Any, record: Any) -> None:
    record.info[LAST_USED] = time.monotonic()


# Meanings of SQLite's error codes, by the beginning of their names (https://sqlite.org/rescode.html).
_SQLITE_ERRORS = {
    "SQLITE_NOTADB": "is not a Footnote database; move the file away or choose another data directory",
    "SQLITE_CORRUPT": "is damaged; move it away and restore a backup with `footnote db restore`, or ingest again",
    "SQLITE_FULL": "can't grow, the disk is full; free some space and try again",
    "SQLITE_CANTOPEN": "can't be opened; check that its folder exists and may be written",
    "SQLITE_READONLY": "can't be written; check the permissions of the file and its folder",
    "SQLITE_PERM": "can't be written; check the permissions of the file and its folder",
    "SQLITE_BUSY": f"has been locked by another process for {BUSY_TIMEOUT_SECONDS:g} seconds; try again when that "
    "process finishes",
    "SQLITE_IOERR": "can't be read or written; check the disk",
}


def to_storage_error(error: DBAPIError, name: str) -> StorageError:
    """Return one sentence about a driver's error in the database called `name`."""
    code = getattr(error.orig, "sqlite_errorname", "")
    for prefix, meaning in _SQLITE_ERRORS.items():
        if code.startswith(prefix):
            return StorageError(f"The database {name} {meaning}")
    reason = (str(error.orig).strip().splitlines() or [type(error.orig).__name__])[0]
    if isinstance(error, OperationalError) and getattr(error.orig, "sqlstate", "") is None:  # no reply from PostgreSQL
        return StorageError(
            f"The database {name} can't be reached ({reason}); check that the server runs, its URL and its password"
        )
    return StorageError(f"The database {name} refused: {reason}")
