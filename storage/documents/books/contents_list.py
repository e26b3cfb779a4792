"""Chapters without numbers, by the table of contents that lists their names. Pure."""

import re

from core.domain.corpus import Heading

# Names of a list that have to stand as headings in the text, at least, and their share of the list.
MIN_FOUND = 3
MIN_SHARE = 0.6
# Entries of a list that are looked for, and characters of one.
MAX_ENTRIES = 400
MAX_ENTRY = 90

_CONTENTS = re.compile(r"^[ \t]*(?:table of )?contents\.?[ \t]*\n", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(r"^[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
# What stands before and behind a name in such a list: "IV. ", "12) ", " ..... 212", "    xii".
_BEFORE = re.compile(r"^(?:[ivxlc]+[.)]|\d{1,3}[.)]?)\s+", re.IGNORECASE)
_BEHIND = re.compile(r"(?:[ \t]*\.[ .]*|[ \t]{2,}|\t)(?:\d{1,4}|[ivxlc]{1,6})$|[ \t]+\d{1,4}$", re.IGNORECASE)


def find_listed(text: str) -> tuple[Heading, ...]:
    """The lines that stand alone and have the names of a list of contents, in its order; none without such a list.

    The list ends where its first name stands again. Names that are not found are passed over; where most are not,
    the list is one of something else.
    """
    opening = _CONTENTS.search(text)
    if opening is None:
        return ()
    names: list[str] = []
    body = 0
    for line in _LINE.finditer(text, opening.end()):
        name = _name(line[1])
        if names and name == names[0]:
            body = line.start()
            break
        if len(line[1]) > MAX_ENTRY or len(names) >= MAX_ENTRIES:
            return ()
        if name and name not in names:
            names.append(name)
    found = _find(text, body, names) if body else []
    return tuple(found) if len(found) >= max(MIN_FOUND, len(names) * MIN_SHARE) else ()


def _find(text: str, start: int, names: list[str]) -> list[Heading]:
    found: list[Heading] = []
    left = {name: place for place, name in enumerate(names)}
    last = -1
    for line in _LINE.finditer(text, start):
        place = left.get(_name(line[1]), -1) if len(line[1]) <= MAX_ENTRY else -1
        if place > last and _stands_alone(text, line.start(), line.end()):
            found.append(Heading(level=1, title=line[1].rstrip("."), start=line.start(1)))
            last = place
    return found


def _name(line: str) -> str:
    bare = _BEFORE.sub("", _BEHIND.sub("", line.strip()))
    return " ".join(re.findall(r"\w+", bare.casefold()))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the lines above and below are blank."""
    above = text.rfind("\n", 0, max(start - 1, 0)) + 1
    below = text.find("\n", end + 1)
    return not text[above:start].strip() and not text[end : below if below >= 0 else len(text)].strip()
