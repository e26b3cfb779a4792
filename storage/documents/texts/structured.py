"""JSON and YAML to plain values without recursion of our own, so that hostile nesting ends in one sentence."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from core.errors import ReadError

# Levels of nesting that a document of people's data never reaches.
MAX_DEPTH = 200
# Values that a file may hold once its aliases are followed: nine levels of nine would be billions.
MAX_VALUES = 2_000_000

Value: TypeAlias = "dict[str, Value] | list[Value] | str | int | float | bool | None"

_TOO_DEEP = f"nested too deeply: more than {MAX_DEPTH} levels"
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


def at(value: Value, *keys: str) -> Value:
    """Return the value at a path of keys; None if it is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def mapping_of(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, dict) else {}


def list_of(value: Value) -> Sequence[Value]:
    return value if isinstance(value, list) else ()


def string_of(value: Value) -> str:
    return value if isinstance(value, str) else ""


def read_json(text: str) -> Value:
    """Parse a JSON text. Raises ReadError with the line of the first mistake."""
    try:
        value: Value = json.loads(text)
    except json.JSONDecodeError as error:
        cut = "" if text[error.pos :].strip() else "; it may be cut off"
        problem = error.msg[:1].lower() + error.msg[1:]
        raise ReadError(f"broken JSON: {problem} at line {error.lineno}, column {error.colno}{cut}") from error
    except RecursionError as error:
        raise ReadError(_TOO_DEEP) from error
    except ValueError as error:  # a number with more digits than Python converts
        raise ReadError(f"broken JSON: {str(error)[:1].lower()}{str(error)[1:]}") from error
    _check_depth(value)
    return value


def _check_depth(value: Value) -> None:
    level: list[Value] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise ReadError(_TOO_DEEP)


def _inside(value: Value) -> Iterable[Value]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def read_yaml(text: str) -> Value:
    """Return the value of a YAML text's first document: every scalar a string, or None for a null.

    Built from the parser's events on our own stack: libyaml's composer recurses in C, and a thousand brackets would
    crash the process. Aliases share one value. Raises ReadError with the line of the first mistake.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.DocumentEndEvent):
                break
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ReadError(f"broken YAML: {error.problem}{where}") from error
    except yaml.YAMLError as error:
        raise ReadError(f"broken YAML: {str(error).splitlines()[0]}") from error
    except RecursionError as error:
        raise ReadError(_TOO_DEEP) from error
    return builder.root


@dataclass(slots=True)
class _Open:
    """An open collection; a mapping's keys and values alternate. `size` counts repeated aliases."""

    anchor: str
    is_mapping: bool
    items: list[Value] = field(default_factory=list)
    size: int = 1


class _Builder:
    """Values from YAML events."""

    def __init__(self) -> None:
        self.root: Value = None
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Value, int]] = {}

    def take(self, event: object) -> None:
        import yaml

        if isinstance(event, yaml.ScalarEvent):
            plain_null = event.implicit[0] and event.style in (None, "") and event.value in _NULLS
            self._put(None if plain_null else event.value, event.anchor or "", 1)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise ReadError(f"broken YAML: alias {event.anchor!r} stands for nothing")
            value, size = self._anchors[event.anchor]
            self._put(value, "", size)
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            if len(self._open) >= MAX_DEPTH:
                raise ReadError(_TOO_DEEP)
            self._open.append(_Open(event.anchor or "", isinstance(event, yaml.MappingStartEvent)))
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            ended = self._open.pop()
            value = _to_mapping(ended.items) if ended.is_mapping else ended.items
            self._put(value, ended.anchor, ended.size)

    def _put(self, value: Value, anchor: str, size: int) -> None:
        if anchor:
            self._anchors[anchor] = (value, size)
        if not self._open:
            self.root = value
            return
        self._open[-1].items.append(value)
        self._open[-1].size += size
        if self._open[-1].size > MAX_VALUES:
            raise ReadError(f"too large: its aliases stand for more than {MAX_VALUES:,} values")


def _to_mapping(items: list[Value]) -> dict[str, Value]:
    pairs = zip(items[0::2], items[1::2], strict=True)
    return {key: value for key, value in pairs if isinstance(key, str)}
