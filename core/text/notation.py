"""Numbers, lists of names and durations, as people write and read them. Pure."""

import csv
import re
from collections.abc import Iterable, Sequence

from core.text.words import collapse

# Names that need quotes in a list: signs, space at an end, and the words for all or no names.
_QUOTED = re.compile(r'.*[,"“”].*|\s.*|.*\s|all|none', re.IGNORECASE | re.DOTALL)
_QUOTES = str.maketrans("“”", '""')
MOST_DIGITS = 9  # of a number in a message


def is_number(text: str) -> bool:
    """Return whether int() and a database column take it: people paste long numbers, and "²" is a digit, too."""
    return text.isdecimal() and len(text) <= MOST_DIGITS


def join_names(names: Iterable[str]) -> str:
    """Write names as one line for `split_names`: `handbook, "minutes, 2026"`."""
    return ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}"' if _QUOTED.fullmatch(name) else name for name in names)


def join_with_and(words: Sequence[str]) -> str:
    """Write words as part of a sentence: `A, B and C`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def split_names(line: str) -> list[str]:
    """Split a line at commas; a name with a comma is in quotes, which are doubled inside."""
    [row] = csv.reader([collapse(line.translate(_QUOTES))], skipinitialspace=True)
    return [name.strip() for name in row if name.strip()]


def took(milliseconds: float) -> str:
    """Format a duration: `130 ms`, `4.4 s`, `2 min 5 s`."""
    if round(milliseconds) < 1_000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 59_950:  # 59.95 s would be shown as 60.0
        return f"{milliseconds / 1_000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1_000), 60)
    return f"{minutes} min {seconds} s"
