"""What text every database keeps: all of Unicode but NUL and lone surrogates, which become U+FFFD.

SQLite cuts functions like length() at a NUL, PostgreSQL refuses it, and UTF-8 has no form for half a surrogate pair.
Replacing them one for one, rather than dropping or refusing them, keeps every span right and lets no odd byte in a
document, a message or a tool call stop an ingest or an answer. The rule holds for stored values and for names that are
looked up, in the database.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")

REPLACEMENT = "\ufffd"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def to_storable(text: str) -> str:
    """The text as a database gives it back: of the same length in code points."""
    if text.isascii():
        return text.replace("\x00", REPLACEMENT)
    try:
        text.encode()  # some fifty times faster than the pattern, which only odd texts have to pay for
    except UnicodeEncodeError:
        return _UNSTORABLE.sub(REPLACEMENT, text)
    return text.replace("\x00", REPLACEMENT)


def to_storable_value(value: T) -> T:
    """The value as a database gives it back: strings storable, times in UTC, in dataclasses, mappings and sequences."""
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
