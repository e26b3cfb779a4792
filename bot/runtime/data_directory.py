"""The data directory, which only its owner may read: it holds private conversations, documents and secrets."""

import logging
import os
from pathlib import Path

from core.errors import StorageError

OTHERS = 0o077  # permission bits of other users, and the umask that clears them

_log = logging.getLogger(__name__)


def create_private_files() -> None:
    """Make all files that this process creates readable only for their owner."""
    os.umask(OTHERS)


def open_data_directory(folder: Path) -> None:
    """Create the data directory, or close one that others can read, with everything in it.

    Logs a warning if it can't be closed, such as that of another user. Raises StorageError if it can't be created.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"The folder {str(folder)!r} can't be created ({error.strerror}); choose another data directory."
        ) from error
    try:
        if _is_open(folder):
            _close(folder)
    except OSError as error:
        _log.warning(
            "Other users of this machine may read the data directory (%s). Let its owner run: chmod -R go= %s",
            error.strerror,
            folder,
        )


def write_private_file(path: Path, text: str, mode: int = 0o600) -> None:
    """Replace a file, or create it with its folder; the umask can't open them to others.

    It is whole at any moment. `mode` is for a file that others read already. Raises StorageError.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if not path.parent.exists():
            path.parent.mkdir(mode=0o700, parents=True)
        fresh.unlink(missing_ok=True)  # left over from a crash
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        fresh.chmod(mode)
        fresh.replace(path)
    except OSError as error:
        raise StorageError(f"Can't write {str(path)!r} ({error.strerror}). Check its folder and the disk.") from error


def _close(folder: Path) -> None:
    """The folder itself comes last: a run that is cut off is repeated."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            if not path.is_symlink() and _is_open(path):
                path.chmod(path.stat().st_mode & ~OTHERS)
    folder.chmod(folder.stat().st_mode & ~OTHERS)


def _is_open(path: Path) -> bool:
    return bool(path.stat().st_mode & OTHERS)
