"""The journals around a journal: what its links and embeds may point at, found in its file, its folder, its source."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.errors import ReadError
from storage.documents.foundry.export import Journal, JournalPage, may_be_journal, read_journals
from storage.documents.texts.encodings import decode

SUFFIXES = frozenset({".json", ".yml", ".yaml"})
# Bounds of what is searched for a link's target: a source with more than this resolves links within folders only.
MAX_FILES = 2_000
MAX_FILE_BYTES = 32_000_000
# Bytes of journal files kept parsed in one process; the oldest go first.
MAX_CACHED_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class Target:
    """What a link points at, and the file it is in (relative to the source root; None: the file being read)."""

    journal: Journal
    page: JournalPage | None  # None: the whole journal
    path: str | None


class JournalCache:
    """Parsed journal files of one process, by path and time of change, so that a folder is parsed once."""

    def __init__(self) -> None:
        self._entries: dict[Path, tuple[tuple[int, int], tuple[Journal, ...]]] = {}

    def journals(self, path: Path) -> tuple[Journal, ...]:
        """The journals of a file; none when it is no journal or can't be read: it gets its own report."""
        try:
            stat = path.stat()
            stamp = (stat.st_mtime_ns, stat.st_size)
            cached = self._entries.get(path)
            if cached and cached[0] == stamp:
                return cached[1]
            journals = self._read(path) if stat.st_size <= MAX_FILE_BYTES else ()
        except OSError:
            return ()
        self._entries[path] = (stamp, journals)
        self._shrink()
        return journals

    def _read(self, path: Path) -> tuple[Journal, ...]:
        data = path.read_bytes()
        if not may_be_journal(data):
            return ()
        try:
            return read_journals(decode(data).text, is_json=path.suffix.lower() == ".json")
        except ReadError:
            return ()

    def _shrink(self) -> None:
        total = sum(stamp[1] for stamp, _ in self._entries.values())
        while total > MAX_CACHED_BYTES and len(self._entries) > 1:
            oldest = next(iter(self._entries))
            total -= self._entries.pop(oldest)[0][1]


class JournalLibrary:
    """Finds the targets of one file's links. Other files are looked at only when a target is not in this one."""

    def __init__(self, path: Path, root: Path, own: tuple[Journal, ...], cache: JournalCache) -> None:
        self._path = path
        self._root = root
        self._cache = cache
        self._journals: dict[str, Target] = {}
        self._pages: dict[tuple[str, str], Target] = {}
        self._pages_alone: dict[str, Target] = {}
        self._add(own, None)
        self._stages = [self._folder_files, self._root_files]
        self._seen = {path}

    def find(self, journal_id: str, page_id: str) -> Target | None:
        """The page (of that journal, where one is named) or the journal; None when the source does not hold it."""
        while True:
            found = self._find(journal_id, page_id)
            if found or not self._stages:
                return found
            for path in self._stages.pop(0)():
                if path not in self._seen:
                    self._seen.add(path)
                    self._add(self._cache.journals(path), path.relative_to(self._root).as_posix())

    def _find(self, journal_id: str, page_id: str) -> Target | None:
        if page_id and journal_id:
            return self._pages.get((journal_id, page_id))
        if page_id:
            return self._pages_alone.get(page_id)
        return self._journals.get(journal_id)

    def _add(self, journals: tuple[Journal, ...], path: str | None) -> None:
        for journal in journals:
            if journal.id:
                self._journals.setdefault(journal.id, Target(journal, None, path))
            for page in journal.pages:
                if page.id:
                    target = Target(journal, page, path)
                    self._pages.setdefault((journal.id, page.id), target)
                    self._pages_alone.setdefault(page.id, target)

    def _folder_files(self) -> Iterator[Path]:
        yield from _journal_files(self._path.parent, os.listdir(self._path.parent))

    def _root_files(self) -> Iterator[Path]:
        count = 0
        for folder, subfolders, names in os.walk(self._root):
            subfolders.sort()
            for path in _journal_files(Path(folder), names):
                count += 1
                if count > MAX_FILES:
                    return
                yield path


def _journal_files(folder: Path, names: list[str]) -> Iterator[Path]:
    for name in sorted(names):
        path = folder / name
        if path.suffix.lower() in SUFFIXES and path.is_file():
            yield path
