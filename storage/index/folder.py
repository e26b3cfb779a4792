"""The folder of an embedded index: held by one process at a time, and made for one embedding model.

<folder>/lock          held while open
<folder>/index.json    the model its vectors come from
<folder>/<engine>/     the engine's own files
<folder>/deleted       while the engine's files hold bytes of deleted points
"""

import json
import os
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import portalocker

from core.errors import StorageError

# How long an opener waits for another process to let go: longer than a search takes.
LOCK_WAIT_SECONDS = 5.0
LOCK_PAUSE_SECONDS = 0.05
# Free space below which writes are refused: the engine maps its files before using them (215 MB when empty), and a
# process that touches a mapped page without space on the disk is killed (SIGBUS), with no error to catch.
MIN_FREE_BYTES = 256 * 1024 * 1024
REBUILD = "`footnote db reindex --from-scratch`"
FORMAT = 1  # of the payload and the BM25 weights; raised when stored points stop fitting new code


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMeta:
    """The format and the embedding model of the stored vectors."""

    format: int
    model: str
    dimensions: int


class IndexFolder:
    """A folder that is locked from `acquire` to `release`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[str] | None = None

    def acquire(self, meta: IndexMeta) -> None:
        """Create the folder if missing, lock it, and compare its notes with `meta`.

        Blocks up to LOCK_WAIT_SECONDS while another process has it. Raises StorageError when any of it fails.
        """
        self._take_lock()
        try:
            self._check(meta)
        except StorageError:
            self.release()
            raise

    def clear(self) -> None:
        """Delete everything but the lock, which is held meanwhile; the notes go first, so that no rest of it is opened.

        Raises StorageError when it is in use, or can't be deleted.
        """
        self._take_lock()
        try:
            (self.path / "index.json").unlink(missing_ok=True)
            for place in self.path.iterdir():
                if place.is_dir():
                    shutil.rmtree(place)
                elif place.name != "lock":
                    place.unlink()
        except OSError as error:
            raise StorageError(
                f"The search index in {str(self.path)!r} can't be deleted ({error.strerror}): check its rights."
            ) from error
        finally:
            self.release()

    def _take_lock(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            handle = (self.path / "lock").open("a", encoding="utf-8")
        except OSError as error:
            raise StorageError(
                f"The search index in {str(self.path)!r} can't be opened ({error.strerror}):"
                " check that the data directory may be written."
            ) from error
        try:
            _lock(handle)
        except portalocker.LockException as error:
            handle.close()
            raise StorageError(
                f"Another Footnote process is using the search index in {str(self.path)!r}, which is for one at a time:"
                " try again when it is done, stop it, or give this one its own --data-dir. Processes that share a"
                " PostgreSQL database share the index through a Qdrant server ([index] url)."
            ) from error
        self._lock = handle

    def require_space(self) -> None:
        """Raise StorageError when the disk is so full that a write could kill the process."""
        free = shutil.disk_usage(self.path).free
        if free < MIN_FREE_BYTES:
            mebibytes, wanted = free // 1024**2, MIN_FREE_BYTES // 1024**2
            raise StorageError(
                f"The disk of the search index in {str(self.path)!r} is nearly full ({mebibytes} MB free, {wanted} MB "
                "are needed): free some space and try again; what was stored stays."
            )

    def release(self) -> None:
        """Let the next opener in; safe to repeat."""
        handle, self._lock = self._lock, None
        if handle is not None:
            handle.close()

    def _check(self, meta: IndexMeta) -> None:
        file = self.path / "index.json"
        if not file.exists():
            _write(file, meta)
            return
        try:
            stored = parse_meta(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise StorageError(damaged(self.path, "index.json can't be read")) from error
        if stored != meta:
            raise StorageError(mismatch(f"The search index in {str(self.path)!r}", stored, meta))


def parse_meta(stored: object) -> IndexMeta:
    """Return the notes of an index about itself. Raises ValueError for anything else."""
    match stored:
        case {"format": int(number), "model": str(model), "dimensions": int(dimensions)}:
            return IndexMeta(format=number, model=model, dimensions=dimensions)
    raise ValueError("not the notes of a search index")


def mismatch(index: str, stored: IndexMeta, wanted: IndexMeta, rebuild: str = f"rebuild it with {REBUILD}") -> str:
    """Return one sentence with the difference and the two solutions."""
    if stored.format != wanted.format:
        what = "was made by another version of Footnote"
    else:
        what = (
            f"was made with the embedding model {stored.model!r} ({stored.dimensions} dimensions), "
            f"but {wanted.model!r} ({wanted.dimensions}) is configured"
        )
    return f"{index} {what}: set that model again, or {rebuild}."


def damaged(path: Path, reason: str) -> str:
    return f"The search index in {str(path)!r} is damaged ({reason}): rebuild it from the database with {REBUILD}."


def _lock(handle: IO[str]) -> None:
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while True:
        try:
            return portalocker.lock(handle, portalocker.LOCK_EX | portalocker.LOCK_NB)
        except portalocker.LockException:
            if time.monotonic() > deadline:
                raise
        time.sleep(LOCK_PAUSE_SECONDS)


def _write(file: Path, meta: IndexMeta) -> None:
    fresh = file.with_suffix(".new")
    try:
        fresh.write_text(json.dumps(asdict(meta)), encoding="utf-8")
        os.replace(fresh, file)
    except OSError as error:
        raise StorageError(f"The search index in {str(file.parent)!r} can't be written ({error.strerror}).") from error
