"""Files of uploads on disk, each with a note of its readers: put in their place durably, deleted, listed. All of it may
block.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from core.domain.read_limits import MEBIBYTE
from core.domain.readers import Narrowing
from core.errors import BadInput, InvalidState, StorageError
from core.knowledge.attachments import safe_name

DRAFTS = ".incoming"  # hidden, so that no ingest reads unfinished files
NOTES = ".readers"
LONGEST_PATH = 1_000  # bytes, below the folder
_SEPARATORS = re.compile(r"[/\\]")


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


def note_readers(root: Path, path: str, readers: frozenset[str] | None) -> None:
    """Note durably who may read a file, before it is put in its place; None: all readers of uploads."""
    place = _note(root, path)
    if readers is None:
        place.unlink(missing_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_suffix(".new")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(sorted(readers), file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, place)
    _flush(place.parent)
    _flush(root)


def noted_readers(root: Path, path: str) -> frozenset[str] | None:
    """Return who may read a file; nobody if its note is damaged."""
    try:
        return frozenset(map(str, json.loads(_note(root, path).read_text("utf-8"))))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError):
        return frozenset()


def noted_limits(root: Path, paths: Iterable[str]) -> dict[str, Narrowing]:
    """Return the limits of the files with a note, by path."""
    noted = ((path, noted_readers(root, path)) for path in paths)
    return {path: frozenset({readers}) for path, readers in noted if readers is not None}


def _note(root: Path, path: str) -> Path:
    return root / NOTES / f"{hashlib.sha256(path.encode()).hexdigest()}.json"


def delete_file(root: Path, path: str) -> None:
    place = root / path
    try:
        place.unlink(missing_ok=True)
        _note(root, path).unlink(missing_ok=True)
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
    return sorted(path.as_posix() for path in found if path.parts[0] not in (DRAFTS, NOTES))


def size_words(size: int) -> str:
    return f"{size / MEBIBYTE:,.0f} MB" if size >= MEBIBYTE else f"{max(1, size // 1024):,} kB"


def clean_path(name: str) -> str:
    """Return the path of an upload below its folder: every part a file name that every disk accepts.

    Raises BadInput, with the end of a sentence, for a hidden file, and for a path that is empty or too long.
    """
    parts = [part for part in _SEPARATORS.split(name) if part.strip() not in ("", ".", "..")]
    if not parts:
        raise BadInput("it needs a name")
    if any(part.startswith(".") for part in parts):
        raise BadInput("hidden files are left out")
    path = "/".join(map(safe_name, parts))
    if len(path.encode()) > LONGEST_PATH:
        raise BadInput("its folders have too long names; shorten them")
    return path
