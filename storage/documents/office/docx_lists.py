"""The numbers and bullets of a Word document's lists, which stand nowhere in its text."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from storage.documents.office.list_numbers import to_number

LEVELS = 9
BULLET = "-"
# What a level shows beyond these places is no number that people wrote.
_MAX_SHOWN = 60
_PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class Level:
    """How one level of a list is numbered: `shown` holds %1 for the number of level 1, and so on."""

    form: str = "bullet"
    shown: str = ""
    start: int = 1


@dataclass(slots=True)
class _List:
    levels: Mapping[int, Level]
    counts: dict[int, int] = field(default_factory=dict)  # by level: the last number given


class Lists:
    """Hands out marks in document order: "-", "3.", "2.1", "(b)"."""

    def __init__(self, numbering: Any, name: Callable[[str], str]) -> None:
        """`numbering` is the root of the numbering part, None without one; `name` makes names Word's own."""
        self._name = name
        self._lists: dict[str, _List] = {}
        self._of: dict[str, str] = {}
        self._restarts: dict[str, dict[int, int]] = {}
        for element in numbering if numbering is not None else ():
            if element.tag == name("abstractNum"):
                self._lists[element.get(name("abstractNumId"), "")] = _List(self._read_levels(element))
            elif element.tag == name("num"):
                self._read_number(element)

    def mark(self, number: str, level: int) -> str:
        """What stands before the next paragraph of the list `number` at `level` (from 0); "" for no list."""
        found = self._lists.get(self._of.get(number, ""))
        if found is None or not 0 <= level < LEVELS:
            return BULLET if number not in ("", "0") else ""
        for restarted, start in self._restarts.pop(number, {}).items():
            found.counts[restarted] = start - 1
        form = found.levels.get(level, Level())
        found.counts[level] = found.counts.get(level, form.start - 1) + 1
        found.counts = {place: count for place, count in found.counts.items() if place <= level}
        if form.form == "bullet":
            return BULLET
        return _PLACE.sub(lambda match: _counted(found, int(match[1]) - 1), form.shown)[:_MAX_SHOWN].strip()

    def _read_levels(self, element: Any) -> dict[int, Level]:
        name = self._name
        return {
            _number(level.get(name("ilvl")), 0): Level(
                form=self._value(level, "numFmt") or "decimal",
                shown=self._value(level, "lvlText"),
                start=_number(self._value(level, "start"), 1),
            )
            for level in element.iterchildren(name("lvl"))
        }

    def _read_number(self, element: Any) -> None:
        name = self._name
        number = element.get(name("numId"), "")
        self._of[number] = self._value(element, "abstractNumId")
        self._restarts[number] = {
            _number(change.get(name("ilvl")), 0): _number(self._value(change, "startOverride"), 1)
            for change in element.iterchildren(name("lvlOverride"))
            if change.find(name("startOverride")) is not None
        }

    def _value(self, element: Any, child: str) -> str:
        found = element.find(self._name(child))
        return "" if found is None else str(found.get(self._name("val"), ""))


def _counted(found: _List, level: int) -> str:
    form = found.levels.get(level, Level("decimal"))
    return to_number(found.counts.get(level, form.start), form.form)


def _number(text: str | None, default: int) -> int:
    return int(text) if text and re.fullmatch(r"-?[0-9]{1,9}", text) else default
