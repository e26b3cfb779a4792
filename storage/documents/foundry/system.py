"""The text in `page.system` of Foundry pages of a module's own type: prose and labels, no ids, paths, switches."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from storage.documents.texts.structured import Value

# Levels and strings that are looked at: a page has tens of them.
MAX_LEVELS = 32
MAX_STRINGS = 20_000

_LABELS = ("label", "name", "title")
# Fields that say how a page is shown or found, never what it says.
_TECHNICAL = frozenset(
    "type _id id uuid img src icon image color colour key slug identifier flags sort ownership anchor style class "
    "format folder path url link pack source".split()
)
_ONE_WORD = re.compile(r"[\w'’%+-]+[.!?:]?")
_NO_WORD = re.compile(r"[A-Za-z0-9]{16}|.*_.*|.*[a-z][A-Z].*|[\d.+-]+|true|false", re.DOTALL)
_FILE = re.compile(r".*/.*\.(?:webp|png|jpe?g|svg|gif|webm|ogg|mp[34]|wav|pdf|html?|js|css|hbs)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SystemText:
    """A string in file order; `level` is that of a heading for the label of a group, 0 for text."""

    text: str
    level: int = 0


def system_strings(system: Mapping[str, Value]) -> list[SystemText]:
    """The readable strings at any depth, in file order but for groups, which follow what stands outside of them.

    A nested group's label stands first in it, as a heading.
    """
    fields: dict[str, Value] = dict(system)
    names = frozenset(_names(fields, 0))
    found = []
    for piece in _strings(fields, 0, names):
        found.append(piece)
        if len(found) >= MAX_STRINGS:
            break
    while found and found[-1].level:
        found.pop()
    return [piece for place, piece in enumerate(found) if not piece.level or found[place + 1].level != piece.level]


def _strings(value: Value, depth: int, names: frozenset[str]) -> Iterator[SystemText]:
    if depth > MAX_LEVELS:
        return
    if isinstance(value, str):
        if _is_readable(value, names):
            yield SystemText(value.strip())
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, depth + 1, names)
    elif isinstance(value, dict):
        label = _label(value, names) if depth else None
        if label:
            yield SystemText(" ".join(str(value[label]).split()), level=min(1 + depth, 6))
        named = [(name, item) for name, item in value.items() if name != label and name not in _TECHNICAL]
        # What stands outside of groups comes first: behind one, it would read as part of it.
        for _, item in sorted(named, key=lambda pair: _is_group(pair[1])):
            yield from _strings(item, depth + 1, names)


def _is_group(value: Value) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))


def _label(group: Mapping[str, Value], names: frozenset[str]) -> str | None:
    """The field that names a group, where the group holds more than its name."""
    for name in _LABELS:
        value = group.get(name)
        if isinstance(value, str) and _is_readable(value, names) and len(group) > 1:
            return name
    return None


def _is_readable(text: str, names: frozenset[str]) -> bool:
    text = text.strip()
    if not text or text in names or _FILE.fullmatch(text):
        return False
    if any(character.isspace() for character in text):
        return True
    return "<" in text or (bool(_ONE_WORD.fullmatch(text)) and not _NO_WORD.fullmatch(text)) or not text.isascii()


def _names(value: Value, depth: int) -> Iterator[str]:
    if depth > MAX_LEVELS:
        return
    if isinstance(value, dict):
        yield from value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        yield from _names(child, depth + 1)
