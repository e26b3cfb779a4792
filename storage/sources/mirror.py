"""The local folder of a remote source: its files, and the state of the last fetch.

<mirror>/files/         ingested into the library
<mirror>/memory.json    by path: revision, validators, link; and cursors of the whole source

The memory is stored with the files, not in the database: it is only valid for these files, and is deleted with them.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeVar

from core.domain.sources import FETCHED
from core.errors import SourceUnavailable
from core.ports.documents import Fetched, FetchProgress

T = TypeVar("T")

SAVE_EVERY = 50  # files between two writes of the memory
MEMORY_FILE = "memory.json"
FILES_FOLDER = FETCHED
MEMORY_VERSION = 1
_OF = "of"  # the cursor with the mirrored origin
LONGEST_NAME_BYTES = 120  # of one part of a path; file systems allow 255, archives less
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\/]+')


@dataclass(slots=True, kw_only=True)
class Kept:
    """The state of one file."""

    revision: str = ""  # identifies the source's state of the file: a version, a hash
    etag: str = ""
    modified: str = ""  # Last-Modified, as the server wrote it
    link: str = ""  # its web address, for people
    key: str = ""  # the file's name in the source: an address, an id


@dataclass(slots=True)
class Memory:
    files: dict[str, Kept] = field(default_factory=dict)  # by path
    cursors: dict[str, str] = field(default_factory=dict)


class Mirror:
    """One fetch over a mirror. Blocking: small files, on this machine."""

    def __init__(self, folder: Path, *, of: str = "", force: bool = False) -> None:
        """Create the folder. `of` names the mirrored origin, as a source may get another origin under the same name.

        With `force`, or for another origin, known files are fetched again.
        Raises SourceUnavailable when the folder can't be written.
        """
        self._folder = folder
        self.root = folder / FILES_FOLDER
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error
        memory = _read_memory(folder / MEMORY_FILE)
        if force or memory.cursors.get(_OF, "") != of:
            memory = Memory(
                {path: Kept(key=kept.key, link=kept.link) for path, kept in memory.files.items()}, {_OF: of}
            )
        memory.files = {path: kept for path, kept in memory.files.items() if (self.root / path).is_file()}
        self.memory = memory
        self.changed = 0
        self.removed = 0

    def by_key(self) -> dict[str, str]:
        """Return the paths by the files' names in the source."""
        return {kept.key: path for path, kept in self.memory.files.items()}

    def fetched(self, warnings: Iterable[str] = ()) -> Fetched:
        """Return the report of this fetch."""
        return Fetched(
            root=self.root,
            changed=self.changed,
            removed=self.removed,
            warnings=tuple(warnings),
            links={path: kept.link for path, kept in self.memory.files.items() if kept.link},
        )

    async def fill(
        self,
        items: Mapping[str, T],
        fetch: Callable[[str, T], Awaitable[str | None]],
        known: Mapping[str, str],
        progress: FetchProgress,
        warnings: list[str],
    ) -> None:
        """Fetch all items, by their keys in the source; remove all other files.

        `fetch` gets key and item, writes a file and returns its path, or None if nothing of it belongs to the source.
        An item that is unavailable now becomes a warning, and stays at its `known` path. Raises SourceUnavailable, with
        an unchanged mirror, when all items are.
        """
        wanted, failures = list[str | None](), list[str]()
        for number, (key, item) in enumerate(items.items(), start=1):
            try:
                wanted.append(await fetch(key, item))
            except SourceUnavailable as error:
                failures.append(str(error))
                wanted.append(known.get(key))
            progress(number, len(items), key)
            if number % SAVE_EVERY == 0:
                self.save()
        if failures and len(failures) == len(items):
            raise SourceUnavailable(f"Not one of {len(items)} pages could be read. {failures[0]}")
        warnings += failures
        self.keep_only([path for path in wanted if path])
        self.save()

    def write(self, path: str, content: bytes, kept: Kept) -> None:
        """Make `path` hold `content`; a file that does already keeps its time."""
        target = self.root / path
        try:
            if not target.is_file() or target.read_bytes() != content:
                self._make_way(target)
                target.parent.mkdir(parents=True, exist_ok=True)
                _replace(target, content)
                self.changed += 1
        except OSError as error:
            raise self._unwritable(error) from error
        self.memory.files[path] = kept

    def keep_only(self, paths: Collection[str], under: str = "") -> None:
        """Remove every file of the folder `under` (the whole mirror) that is not one of `paths`, remembered or not."""
        wanted = set(paths)
        for file in [item for item in (self.root / under).rglob("*") if item.is_file() or item.is_symlink()]:
            path = file.relative_to(self.root).as_posix()
            if path not in wanted:
                file.unlink()
                self.memory.files.pop(path, None)
                self.removed += 1

    def save(self) -> None:
        """Write the memory at the end, and during a long fetch, which can then continue after an interruption."""
        plain = {"version": MEMORY_VERSION, "cursors": self.memory.cursors}
        plain["files"] = {
            path: {k: v for k, v in asdict(kept).items() if v} for path, kept in self.memory.files.items()
        }
        try:
            _replace(self._folder / MEMORY_FILE, json.dumps(plain).encode())
        except OSError as error:
            raise self._unwritable(error) from error

    def _make_way(self, target: Path) -> None:
        """Make room for a path: a file may have become a folder, or the other way round."""
        if target.is_dir():
            shutil.rmtree(target)
        for parent in target.parents:
            if parent == self.root:
                return
            if parent.is_file():
                parent.unlink()

    def _unwritable(self, error: OSError) -> SourceUnavailable:
        reason = error.strerror or str(error)
        return SourceUnavailable(f"The mirror {str(self._folder)!r} can't be written ({reason}): mend that, then sync")


def safe_part(text: str, fallback: str = "page") -> str:
    """One part of a path, made of any text: no separator, no control character, no dot in front, never empty."""
    text = text.encode("utf-8", "replace").decode()
    cleaned = _UNSAFE.sub("-", text).strip(" .-") or fallback
    if len(cleaned.encode()) > LONGEST_NAME_BYTES:
        mark = hashlib.sha256(text.encode()).hexdigest()[:8]
        cut = cleaned.encode()[: LONGEST_NAME_BYTES - 9].decode("utf-8", "ignore").rstrip(" .-")
        cleaned = f"{cut}-{mark}"
    return cleaned


def safe_path(path: str) -> str | None:
    """Return a path of the source as a path of the mirror; None if it leads out of it, or is hidden."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or any(part.startswith(".") or "\x00" in part for part in parts):
        return None
    return "/".join(parts)


def _replace(target: Path, content: bytes) -> None:
    """In one step: a kill leaves the old file or the new one."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _read_memory(file: Path) -> Memory:
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
        if plain["version"] != MEMORY_VERSION:
            return Memory()
        files = {path: Kept(**kept) for path, kept in plain["files"].items()}
        return Memory(files=files, cursors=dict(plain["cursors"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # missing or damaged: fetch everything again
        return Memory()
