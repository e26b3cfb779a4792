"""Foundry journals as typed values: what a JSON or YAML export of journal entries holds, whatever its outer shape."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import ReadError
from storage.documents.texts.structured import Value, read_json, read_yaml

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


def may_be_journal(data: bytes) -> bool:
    """Whether bytes of a JSON or YAML file hold what every journal holds; cheap, and sometimes wrongly true."""
    return bool(_EVIDENCE.search(data.replace(b"\0", b"")))


def is_json(path: Path, text: str) -> bool:
    """Whether to read an export as JSON: by its suffix, or where that says nothing, by how it begins."""
    suffix = path.suffix.lower()
    return suffix == ".json" or (suffix not in YAML_SUFFIXES and text.lstrip()[:1] in ("{", "["))


def read_journals(text: str, *, is_json: bool) -> tuple[Journal, ...]:
    """The journal entries of an export, in file order. ReadError when it is broken or holds none."""
    journals = tuple(_journals(read_json(text) if is_json else read_yaml(text)))
    if not journals:
        kind = "JSON" if is_json else "YAML"
        raise ReadError(f"no reader for this {kind}: {NOT_A_JOURNAL}")
    return journals


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
        if pages and _string(entry.get("_key")).startswith(_JOURNAL_KEY) and all(isinstance(id, str) for id in pages):
            raise ReadError("empty: the journal's pages stand in files of their own")
        found = [page for page in pages if isinstance(page, dict)]
        return any("name" in page and any(name in page for name in _PAGE_FIELDS) for page in found)
    is_old_entry = isinstance(entry.get("content"), str) and ("permission" in entry or "ownership" in entry)
    return is_old_entry and "name" in entry  # until version 9 an entry had one text and no pages


def _is_lone_page(entry: Mapping[str, Value]) -> bool:
    """Whether this is one page of a journal, as compendia are unpacked that keep each page in a file."""
    return _string(entry.get("_key")).startswith(_PAGE_KEY) and "name" in entry


def _to_journal(entry: Mapping[str, Value]) -> Journal:
    if _is_lone_page(entry):
        page = _to_page(entry, {})
        return Journal(id=_journal_id({}, [dict(entry)]), name=page.name, pages=(page,))
    pages = [page for page in _list(entry.get("pages")) if isinstance(page, dict)]
    categories = {_string(item.get("_id")): _string(item.get("name")) for item in _dicts(entry.get("categories"))}
    ordered = sorted(pages, key=lambda page: _number(page.get("sort")))  # stable: ties stay in file order
    parsed = tuple(_to_page(page, categories) for page in ordered)
    name = " ".join(_string(entry.get("name")).split())
    if not pages:
        parsed = (JournalPage(id="", name=name, html=_string(entry.get("content"))),)
    return Journal(id=_journal_id(entry, pages), name=name, pages=parsed)


def _to_page(page: Mapping[str, Value], categories: Mapping[str, str]) -> JournalPage:
    text = page.get("text")
    parts: dict[str, Any] = text if isinstance(text, dict) else {"content": text}
    markdown, html = _string(parts.get("markdown")), _string(parts.get("content"))
    is_markdown = bool(markdown.strip()) and (str(parts.get("format")) == _MARKDOWN_FORMAT or not html.strip())
    image = page.get("image")
    caption = _string(image.get("caption")) if isinstance(image, dict) else ""
    system = page.get("system")
    return JournalPage(
        id=_string(page.get("_id")) or _string(page.get("_key")).rpartition(".")[2],
        name=" ".join(_string(page.get("name")).split()),
        html="" if is_markdown else html + (f"<p>{caption}</p>" if caption.strip() else ""),
        markdown=markdown if is_markdown else "",
        system=system if isinstance(system, dict) else {},
        category=categories.get(_string(page.get("category")), ""),
    )


def _journal_id(entry: Mapping[str, Value], pages: list[dict[str, Value]]) -> str:
    own = _string(entry.get("_id")) or _string(entry.get("_key")).rpartition("!")[2]
    if own:
        return own
    keys = (_string(page.get("_key")).rpartition("!")[2] for page in pages)
    return next((key.partition(".")[0] for key in keys if "." in key), "")


def _string(value: Value) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Value) -> list[Value]:
    return value if isinstance(value, list) else []


def _dicts(value: Value) -> list[dict[str, Value]]:
    return [item for item in _list(value) if isinstance(item, dict)]


def _number(value: Value) -> float:
    try:
        number = float(str(value))
    except ValueError:
        return 0.0
    return number if number == number else 0.0  # NaN has no order
