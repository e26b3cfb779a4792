"""A backup of a data directory: one zip file with the database and further files that can't be derived from it.

It holds a manifest (format, schema and time), a consistent copy of the database, and the named files and folders. The
search index, models and copies of sources are left out, as Footnote can create them again.
"""

import json
import os
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from core.errors import InvalidState, StorageError
from storage.database.schema import HEAD

FORMAT = 1
MANIFEST = "manifest.json"
OWNER_ONLY = 0o600


def write_backup(database: Path, others: Sequence[str], target: Path) -> int:
    """Write the file `target` atomically; return its size in bytes.

    `others` names files and folders in the database's folder; missing ones are skipped. SQLite copies its pages in one
    read transaction: later writes are not in the copy. Raises InvalidState when the target exists, StorageError when it
    can't be written.
    """
    if target.exists():
        raise InvalidState(f"{str(target)!r} exists already: name a new file.")
    with _errors(target, "written"), tempfile.TemporaryDirectory(dir=target.parent, prefix=".backup-") as folder:
        copy, archive = Path(folder, database.name), Path(folder, "backup.zip")
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(copy)) as into:
            source.backup(into)
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            made = {"format": FORMAT, "schema": HEAD, "created_at": datetime.now(UTC).isoformat(timespec="seconds")}
            file.writestr(MANIFEST, json.dumps(made))
            file.write(copy, database.name)
            for path in _files(database.parent, others):
                with suppress(FileNotFoundError):  # removed meanwhile
                    file.write(path, path.relative_to(database.parent).as_posix())
        archive.chmod(OWNER_ONLY)
        os.replace(archive, target)
        return target.stat().st_size


def restore_backup(file: Path, database: Path, others: Sequence[str]) -> list[str]:
    """Unpack a backup into the folder of a new database; return the names of the files.

    The database comes last, so that an interrupted restore can be repeated. Raises InvalidState if the database exists,
    StorageError for a file that is no backup or can't be unpacked.
    """
    if database.exists():
        raise InvalidState(f"{str(database)!r} is there already: choose an empty --data-dir, or move it away first.")
    folder = database.parent
    with _errors(file, "read"), zipfile.ZipFile(file) as archive:
        names = _names(archive, file, database.name, others)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".restore-") as unpacked:
            for name in names:
                _unpack(archive, name, Path(unpacked, name))
            for name in sorted(names, key=lambda name: name == database.name):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                os.replace(Path(unpacked, name), folder / name)
    return names


def _files(folder: Path, others: Sequence[str]) -> Iterator[Path]:
    for name in others:
        place = folder / name
        found = sorted(path for path in (place, *place.rglob("*")) if path.is_file())
        # Hidden files are unfinished ones.
        yield from (path for path in found if not any(part.startswith(".") for part in path.relative_to(place).parts))


def _names(archive: zipfile.ZipFile, file: Path, database: str, others: Sequence[str]) -> list[str]:
    """Return the names of all files except the manifest. Raises StorageError for a file that no backup has."""
    names = archive.namelist()
    manifest = json.loads(archive.read(MANIFEST)) if MANIFEST in names else None
    if not isinstance(manifest, dict) or database not in names:
        raise StorageError(f"{str(file)!r} is not a Footnote backup. Choose a file that `footnote db backup` created.")
    if manifest.get("format") != FORMAT:
        raise StorageError(f"{str(file)!r} was made by a newer Footnote: update Footnote, then restore it.")
    unknown = [name for name in names if not _is_ours(name, (MANIFEST, database, *others))]
    if unknown:
        raise StorageError(
            f"{str(file)!r} holds {unknown[0]!r}, which no backup does: it was changed; use another one."
        )
    return [name for name in names if name != MANIFEST]


def _is_ours(name: str, roots: Sequence[str]) -> bool:
    """Return whether it is a file at or below one of the roots."""
    parts = PurePosixPath(name).parts
    return "\\" not in name and ".." not in parts and not name.endswith("/") and parts[:1] in [(r,) for r in roots]


def _unpack(archive: zipfile.ZipFile, name: str, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    with os.fdopen(handle, "wb") as into, archive.open(name) as packed:
        shutil.copyfileobj(packed, into)


@contextmanager
def _errors(file: Path, what: str) -> Iterator[None]:
    """Raise errors of the system, SQLite and the archive as StorageError."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, json.JSONDecodeError, EOFError) as error:
        raise StorageError(
            f"{str(file)!r} is not a complete backup. Choose one that `footnote db backup` created."
        ) from error
    except sqlite3.Error as error:
        raise StorageError(
            f"The database can't be copied ({error}): `footnote db check` shows what is wrong."
        ) from error
    except OSError as error:
        raise StorageError(
            f"{str(file)!r} can't be {what} ({error.strerror or error}): check path and disk."
        ) from error
