"""Files of uploads on disk: put in their place durably, deleted, listed. All of it may block."""

import os
import shutil
from pathlib import Path

from core.errors import InvalidState, StorageError

DRAFTS = ".incoming"  # hidden, so that no ingest reads unfinished files


def put_file(draft: Path, root: Path, path: str) -> None:
    """Move a draft to its place, and flush the folders that name it."""
    place = root / path
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(draft, place)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise InvalidState("a folder and a file can't have the same name; rename it") from error
    folder = place.parent
    while folder.is_relative_to(root):
        _flush(folder)
        folder = folder.parent


def _flush(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):  # Windows can't flush a folder
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def delete_file(place: Path) -> None:
    try:
        place.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{str(place)!r} can't be deleted ({error.strerror or error}).") from error


def list_files(root: Path, own_drafts: str) -> list[str]:
    """Return the paths of all finished files, and remove unfinished ones, except in the folder `own_drafts`."""
    for left in (root / DRAFTS).glob("*"):
        if left.name == own_drafts:
            continue
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if path.parts[0] != DRAFTS)
