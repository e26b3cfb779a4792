"""The data directory, which only its owner may read: it holds private conversations, documents and secrets."""

import logging
import os
from pathlib import Path

from core.errors import StorageError

OTHERS = 0o077  # permission bits of everybody but the owner, and the umask that keeps them off

_log = logging.getLogger(__name__)


def create_private_files() -> None:
    """Let only the owner read what this process creates from now on, whatever its umask was."""
    os.umask(OTHERS)


def open_data_directory(folder: Path) -> None:
    """Create the data directory, or close one that others can read, with everything in it.

    Logs a warning if it can't be closed, such as that of another user. Raises StorageError if it can't be created.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"Can't write to data directory {str(folder)!r} ({error.strerror}). Choose another one."
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
