"""Types of columns with the same values on every database: text, UTC times and compact JSON."""

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator

from storage.text import to_storable, to_storable_value

# json.loads without its search for white space around the value: half the time on short lists.
_DECODE = json.JSONDecoder().raw_decode

NUL_ESCAPE = "\\u0000"  # how JSON writes a NUL


class StorableText(TypeDecorator[str]):
    """Text of any length; NUL and lone surrogates are stored as U+FFFD (see storage/text.py)."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else to_storable(value)


class UtcTime(TypeDecorator[datetime]):
    """Aware UTC times, to the microsecond. Raises ValueError for a naive time."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a time without a time zone can't be stored: {value!r}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        # SQLite keeps no zone: the stored time is UTC.
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class CompactJson(TypeDecorator[Any]):
    """JSON as text without spaces: the same bytes on every database, as json and jsonb refuse different values.

    Raises ValueError for NaN and infinities.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else to_compact_json(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else from_compact_json(value)


def to_compact_json(value: Any) -> str:
    """Return JSON text whose strings are all storable."""
    text = _dumps(value)
    if NUL_ESCAPE in text:
        text = _dumps(to_storable_value(value))
    return to_storable(text)


def from_compact_json(text: str) -> Any:
    return _DECODE(text)[0]


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
