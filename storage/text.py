"""Text in the form that the database keeps and in the form that the index and the local models read. Pure."""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeVar

from core.domain.passages import IndexEntry

T = TypeVar("T")

# For NUL and lone surrogates: SQLite's functions stop at a NUL, PostgreSQL refuses it, and UTF-8 can't encode half a
# surrogate pair. One-for-one replacement keeps spans valid, and no odd byte stops an ingest or an answer.
REPLACEMENT = "\ufffd"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def to_storable(text: str) -> str:
    """Return the text as a database returns it, with the same length in code points."""
    if text.isascii():
        return text.replace("\x00", REPLACEMENT)
    try:
        text.encode()  # some fifty times faster than the pattern, which only odd texts need
    except UnicodeEncodeError:
        return _UNSTORABLE.sub(REPLACEMENT, text)
    return text.replace("\x00", REPLACEMENT)


def to_storable_value(value: T) -> T:
    """Return the value as a database returns it: storable strings and UTC times, also in collections."""
    converted: Any = _converted(value)
    return converted  # type: ignore[no-any-return]  # the same shape as went in


def _converted(value: Any) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return to_storable(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, Mapping):
        return {_converted(key): _converted(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_converted(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _converted(getattr(value, field.name)) for field in fields(value)})
    return value


_ANY_WORD = re.compile(r"[^\W_]")

_PLAIN_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"<!--(?:(?!<!--|-->).){0,2000}-->", re.DOTALL), " "),
    (re.compile(r"</?[A-Za-z][^<>]{0,500}>"), " "),
    (re.compile(r"@\w{1,20}\[[^\[\]]{0,300}\]\{([^{}]{0,300})\}"), r"\1"),  # @UUID[...]{label}
    (re.compile(r"!?\[\[([^\[\]|]{1,300})\|([^\[\]]{1,300})\]\]"), r"\2"),  # [[note|label]]
    (re.compile(r"!?\[\[([^\[\]]{1,300})\]\]"), r"\1"),
    (re.compile(r"\[\^[^\[\]\s]{1,50}\]:?"), " "),  # footnote marks
    (re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,1000}(?:\s[^()]{0,300})?\)"), r"\1"),  # [label](target)
    (re.compile(r"^[ \t]*(?:[-*_][ \t]*){3,200}$", re.MULTILINE), " "),  # rules
    (re.compile(r"^[ \t>]*(?:#{1,6}[ \t]+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|>[ \t]*)", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*(?=[|:-])[ \t|:-]{3,2000}$", re.MULTILINE), " "),  # the line under a table's head
    (re.compile(r"\\(?=[^\w\s])"), ""),
    (re.compile(r"[*`~|]+|(?<![^\W_])_+|_+(?![^\W_])"), " "),
    (re.compile(r"\s+"), " "),
)


def plain(text: str) -> str:
    """Return `text` without Markdown and HTML marks and with single spaces: for embedding, never for quoting."""
    for pattern, replacement in _PLAIN_STEPS:
        text = pattern.sub(replacement, text)
    return text.strip()


def has_words(text: str) -> bool:
    """Return whether there is any letter or digit to search for."""
    return _ANY_WORD.search(text) is not None


def indexed_text(entry: IndexEntry) -> str:
    """Return the text for embedding and BM25: title, heading path and passage, without marks."""
    passage = entry.passage
    return plain("\n".join((entry.title, " > ".join(passage.heading_path), passage.text)))
