"""Foundry journals as exported files, and all journals of a source."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import ReadError
from core.knowledge.narrowing import Limits
from storage.documents.foundry.ownership import readers_of_export
from storage.documents.texts.encodings import decode
from storage.documents.texts.structured import Value, list_of, mapping_of, read_json, read_yaml, string_of

YAML_SUFFIXES = frozenset({".yml", ".yaml"})
NOT_A_JOURNAL = "not a Foundry journal"

# Fields under which exported folders, adventures and compendia keep their journal entries.
_COLLECTIONS = ("journal", "journals", "entries", "documents", "items")
_EVIDENCE = re.compile(rb"""["']?pages["']?\s*:|!journal(?:\.pages)?!|["']?content["']?\s*:\s*["']\s*<""")
# How the keys of a compendium's database begin.
_JOURNAL_KEY = "!journal!"
_PAGE_KEY = "!journal.pages!"
_PAGE_FIELDS = ("text", "system", "_key", "type")
_MARKDOWN_FORMAT = "2"


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalPage:
    id: str  # "" where the export has none
    name: str
    html: str = ""
    markdown: str = ""
    system: Mapping[str, Value] = field(default_factory=dict)  # the fields of a module's own page type
    category: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """A journal entry; pages in reading order."""

    id: str
    name: str
    pages: tuple[JournalPage, ...]
    readers: Limits = ()  # who may read it, by its levels or by the mark of a world's fetcher


def limits_of(journals: Iterable[Journal]) -> Limits:
    """Return who may read all of these journals."""
    return tuple(dict.fromkeys(names for journal in journals for names in journal.readers))


def may_be_journal(data: bytes) -> bool:
    """Return whether bytes of a JSON or YAML file may hold a journal; cheap, with false positives."""
    return bool(_EVIDENCE.search(data.replace(b"\0", b"")))


def is_json(path: Path, text: str) -> bool:
    """Return whether to read an export as JSON: by its suffix, else by its first bytes."""
    suffix = path.suffix.lower()
    return suffix == ".json" or (suffix not in YAML_SUFFIXES and text.lstrip()[:1] in ("{", "["))


def read_journals(text: str, *, is_json: bool) -> tuple[Journal, ...]:
    """Return the journal entries of an export in file order. Raises ReadError if it is broken or has none."""
    journals = tuple(_journals(read_json(text) if is_json else read_yaml(text)))
    if not journals:
        kind = "JSON" if is_json else "YAML"
        raise ReadError(f"no reader for this {kind}: {NOT_A_JOURNAL}")
    return journals


def read_journal_file(path: Path) -> tuple[Journal, ...]:
    """Return the journal entries of a file, () if it holds none, is too large or can't be read."""
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_FILE_BYTES else b""
        text = decode(data).text if may_be_journal(data) else ""
        return read_journals(text, is_json=is_json(path, text)) if text else ()
    except (OSError, ReadError):
        return ()


def _journals(value: Value) -> Iterator[Journal]:
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict) and _is_journal(item):
                yield _to_journal(item)
    elif isinstance(value, dict) and _is_journal(value):
        yield _to_journal(value)
    elif isinstance(value, dict):
        for name in _COLLECTIONS:
            if isinstance(value.get(name), list):
                yield from _journals(value[name])


def _is_journal(entry: Mapping[str, Value]) -> bool:
    if _is_lone_page(entry):
        return True
    pages = entry.get("pages")
    if isinstance(pages, list):
        if pages and string_of(entry.get("_key")).startswith(_JOURNAL_KEY) and all(isinstance(id, str) for id in pages):
            raise ReadError("empty: the journal's pages stand in files of their own")
        found = [page for page in pages if isinstance(page, dict)]
        return any("name" in page and any(name in page for name in _PAGE_FIELDS) for page in found)
    is_old_entry = isinstance(entry.get("content"), str) and ("permission" in entry or "ownership" in entry)
    return is_old_entry and "name" in entry  # until version 9 an entry had one text and no pages


def _is_lone_page(entry: Mapping[str, Value]) -> bool:
    """Return whether this is a single page of a journal, as some unpacked compendia have them."""
    return string_of(entry.get("_key")).startswith(_PAGE_KEY) and "name" in entry


def _to_journal(entry: Mapping[str, Value]) -> Journal:
    if _is_lone_page(entry):
        page = _to_page(entry, {})
        return Journal(id=_journal_id({}, [dict(entry)]), name=page.name, pages=(page,))
    pages = [page for page in list_of(entry.get("pages")) if isinstance(page, dict)]
    categories = {
        string_of(item.get("_id")): string_of(item.get("name"))
        for item in list_of(entry.get("categories"))
        if isinstance(item, dict)
    }
    ordered = sorted(pages, key=lambda page: _number(page.get("sort")))  # stable: ties stay in file order
    parsed = tuple(_to_page(page, categories) for page in ordered)
    name = " ".join(string_of(entry.get("name")).split())
    if not pages:
        parsed = (JournalPage(id="", name=name, html=string_of(entry.get("content"))),)
    return Journal(id=_journal_id(entry, pages), name=name, pages=parsed, readers=_readers(entry))


def _readers(entry: Mapping[str, Value]) -> Limits:
    sets = list_of(mapping_of(entry.get("footnote")).get("readers"))
    return tuple(frozenset(map(str, list_of(names))) for names in sets) or readers_of_export(entry)


def _to_page(page: Mapping[str, Value], categories: Mapping[str, str]) -> JournalPage:
    text = page.get("text")
    parts: dict[str, Any] = text if isinstance(text, dict) else {"content": text}
    markdown, html = string_of(parts.get("markdown")), string_of(parts.get("content"))
    is_markdown = bool(markdown.strip()) and (str(parts.get("format")) == _MARKDOWN_FORMAT or not html.strip())
    caption = string_of(mapping_of(page.get("image")).get("caption"))
    return JournalPage(
        id=string_of(page.get("_id")) or string_of(page.get("_key")).rpartition(".")[2],
        name=" ".join(string_of(page.get("name")).split()),
        html="" if is_markdown else html + (f"<p>{caption}</p>" if caption.strip() else ""),
        markdown=markdown if is_markdown else "",
        system=mapping_of(page.get("system")),
        category=categories.get(string_of(page.get("category")), ""),
    )


def _journal_id(entry: Mapping[str, Value], pages: list[dict[str, Value]]) -> str:
    own = string_of(entry.get("_id")) or string_of(entry.get("_key")).rpartition("!")[2]
    if own:
        return own
    keys = (string_of(page.get("_key")).rpartition("!")[2] for page in pages)
    return next((key.partition(".")[0] for key in keys if "." in key), "")


def _number(value: Value) -> float:
    try:
        number = float(str(value))
    except ValueError:
        return 0.0
    return number if number == number else 0.0  # NaN has no order


SUFFIXES = frozenset({".json", ".yml", ".yaml"})
# Limits of the search for link targets: in a larger source, links resolve within folders only.
MAX_FILES = 2_000
MAX_FILE_BYTES = 32_000_000
# Bytes of journal files kept parsed in one process; the oldest go first.
MAX_CACHED_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a link, and its file relative to the source root (None: the file being read)."""

    journal: Journal
    page: JournalPage | None  # None: the whole journal
    path: str | None


class JournalCache:
    """Parsed journal files of one process, by path and time of change, so that a folder is parsed once."""

    def __init__(self) -> None:
        self._entries: dict[Path, tuple[tuple[int, int], tuple[Journal, ...]]] = {}

    def journals(self, path: Path) -> tuple[Journal, ...]:
        """Return the journals of a file, () if it has none or can't be read."""
        try:
            stat = path.stat()
            stamp = (stat.st_mtime_ns, stat.st_size)
            cached = self._entries.get(path)
            if cached and cached[0] == stamp:
                return cached[1]
            journals = read_journal_file(path)
        except OSError:
            return ()
        self._entries[path] = (stamp, journals)
        self._shrink()
        return journals

    def _shrink(self) -> None:
        total = sum(stamp[1] for stamp, _ in self._entries.values())
        while total > MAX_CACHED_BYTES and len(self._entries) > 1:
            oldest = next(iter(self._entries))
            total -= self._entries.pop(oldest)[0][1]


class JournalLibrary:
    """Finds the targets of one file's links. Other files are looked at only when a target is not in this one."""

    def __init__(self, path: Path, root: Path, own: tuple[Journal, ...], cache: JournalCache) -> None:
        self._path = path
        self._own = limits_of(own)
        self._root = root
        self._cache = cache
        self._journals: dict[str, Target] = {}
        self._pages: dict[tuple[str, str], Target] = {}
        self._pages_alone: dict[str, Target] = {}
        self._add(own, None)
        self._stages = [self._folder_files, self._root_files]
        self._seen = {path}

    def find(self, journal_id: str, page_id: str) -> Target | None:
        """Return the page (of that journal, if named) or the journal; None if the source lacks it."""
        while True:
            found = self._find(journal_id, page_id)
            if found or not self._stages:
                return found
            for path in self._stages.pop(0)():
                if path not in self._seen:
                    self._seen.add(path)
                    self._add(self._cache.journals(path), path.relative_to(self._root).as_posix())

    def may_show(self, target: Target) -> bool:
        """Return whether everyone who may read this file may read a target."""
        return all(any(own <= limit for own in self._own) for limit in target.journal.readers)

    def _find(self, journal_id: str, page_id: str) -> Target | None:
        if page_id and journal_id:
            return self._pages.get((journal_id, page_id))
        if page_id:
            return self._pages_alone.get(page_id)
        return self._journals.get(journal_id)

    def _add(self, journals: tuple[Journal, ...], path: str | None) -> None:
        for journal in journals:
            if journal.id:
                known, target = self._journals.get(journal.id), Target(journal, None, path)
                if known is None or (self.may_show(target) and not self.may_show(known)):
                    self._journals[journal.id] = target
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
