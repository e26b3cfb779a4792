"""What the drivers' errors mean for people, each in one sentence."""

from sqlalchemy.exc import DBAPIError, OperationalError

from core.errors import StorageError
from storage.database.engines import BUSY_TIMEOUT_SECONDS

# What SQLite's error codes mean, by the beginning of their names (https://sqlite.org/rescode.html).
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
