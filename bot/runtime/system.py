"""The clock and the standard output of this process, and the user who runs it."""

import json
import sys
from datetime import UTC, datetime
from time import monotonic

from core.text.markup import shown_in_json


def author_name() -> str:
    """Return the user's name in the operating system."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no password entry and no environment: containers
        return "you"


class SystemClock:
    """Implements core.ports.Clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return monotonic()


def write_line(text: str) -> None:
    """Print a line at once. Lone surrogates (odd file names) are written as escapes."""
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
    sys.stdout.flush()


def to_json_text(value: object, *, indent: int | None = None) -> str:
    """Return JSON that standard output can encode: in ASCII unless that is UTF-8."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return shown_in_json(json.dumps(value, ensure_ascii=not is_unicode, indent=indent))
