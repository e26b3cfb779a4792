"""Characters: what a platform counts, where a text may be cut, what is taken out before anything is shown. Pure."""

import re
import unicodedata

# Control characters, and overrides of the direction of writing: they hide what a text says.
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202d\u202e]")
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x0b\x0c\x85]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_JOINER = "\u200d"
# How far back a cut looks for a border: longer heaps of marks are no writing, and are cut.
_LONGEST_CLUSTER = 48


def units(text: str) -> int:
    """Length in UTF-16 units: what some clients count; never less than characters."""
    return len(text) if text.isascii() else len(text) + len(_ASTRAL.findall(text))


def clean(text: str) -> str:
    """Text without control characters and half characters; every line ends with a line feed."""
    return _SURROGATE.sub("\ufffd", _HARMFUL.sub("", _LINE_ENDS.sub("\n", text)))


def safe_cut(text: str, limit: int) -> int:
    """Where to cut so that at most `limit` (from 2) units come before: at a border of what people see as one sign.

    At least 1, and `len(text)` when all of it fits. Not behind a backslash that belongs to the next character.
    """
    place = _by_units(text, limit)
    if place == len(text):
        return place
    for back in range(min(_LONGEST_CLUSTER, place)):
        if _is_border(text, place - back):
            return place - back
    return max(place, 1)


def clip(text: str, limit: int) -> str:
    """One line of at most `limit` (from 3) units, with an ellipsis where it was cut."""
    line = " ".join(clean(text).split())
    if units(line) <= limit:
        return line
    return line[: safe_cut(line, limit - 1)].rstrip(" ,;:") + "…"


def columns(text: str) -> int:
    """Width in a fixed-width font: wide signs of East Asia and emoji take two columns, marks none."""
    if text.isascii():
        return len(text)
    return sum(_columns_of(sign) for sign in text)


def _columns_of(sign: str) -> int:
    if _is_mark(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def _by_units(text: str, limit: int) -> int:
    place = min(len(text), limit)
    while place > 1 and units(text[:place]) > limit:
        place -= max(1, (units(text[:place]) - limit) // 2)
    return place


def _is_border(text: str, place: int) -> bool:
    if place <= 0:
        return False
    before, behind = text[place - 1], text[place]
    if _is_mark(behind) or before == _JOINER or 0x1F3FB <= ord(behind) <= 0x1F3FF:
        return False
    if _is_flag_letter(before) and _is_flag_letter(behind):
        letters = len(text[:place]) - len(text[:place].rstrip("".join(map(chr, range(0x1F1E6, 0x1F200)))))
        return letters % 2 == 0
    return (place - len(text[:place].rstrip("\\"))) % 2 == 0


def _is_mark(sign: str) -> bool:
    return unicodedata.category(sign) in ("Mn", "Me", "Mc") or sign == _JOINER or 0xE0020 <= ord(sign) <= 0xE007F


def _is_flag_letter(sign: str) -> bool:
    return 0x1F1E6 <= ord(sign) <= 0x1F1FF
