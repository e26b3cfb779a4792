"""Lines on standard output, whatever its encoding."""

import json
import sys


def write_line(text: str) -> None:
    """Print a line at once. Lone surrogates (odd file names) are written as escapes."""
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
    sys.stdout.flush()


def to_json_text(value: object, *, indent: int | None = None) -> str:
    """Return JSON that standard output can encode: in ASCII unless that is UTF-8."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=not is_unicode, indent=indent)
