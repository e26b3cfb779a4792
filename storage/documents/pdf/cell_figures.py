"""Whether a cell of a printed table holds a figure: numbers with their marks, and what stands for none. Pure."""

import re

from core.text.delimited import is_data

_NO_FIGURE = frozenset(
    "- – — − … * ** † ‡ § # x (x) na n/a n.a. nil none ( ) . : .. ... -- (d) (na) (z) (1) (2)".split()
)
_SIGNS = frozenset("$€£¥%")
# A number and, in parentheses, its share, error or interval.
_WITH_SHARE = re.compile(r"[-–−+<>~]?\d[\d.,%]*\s?[(\[][-–−+<>~±]?\d[\d.,%–−/ -]*[)\]]")
_SCALED = re.compile(r"[-–−(]{0,2}[$€£]?\d[\d.,]*\s?(?:[KkMBbTt]|[Mm]n|[Bb]n|million|billion)\)?")


def is_figure(text: str) -> bool:
    """Whether it is a number, a date, or what stands for a number that is not there."""
    bare = text.strip("*†‡§^ \t")
    return (
        is_data(bare)
        or text.lower() in _NO_FIGURE
        or bare in _SIGNS
        or _is_marked(bare)
        or bool(_WITH_SHARE.fullmatch(bare) or _SCALED.fullmatch(bare))
    )


def _is_marked(text: str) -> bool:
    """A figure with a sign or the mark of a note at its end or front: "r 41.2", "1,204 e", "41-50"."""
    parts = text.split()
    if 1 < len(parts) <= 3:
        kept = [part for part in parts if len(part) > 2 or part[:1].isdigit()]
        return len(kept) == 1 and is_data(kept[0]) and any(map(str.isdigit, kept[0]))
    return bool(text) and text[0].isdigit() and all(c.isdigit() or c in ".,-–/:%+()'" for c in text)
