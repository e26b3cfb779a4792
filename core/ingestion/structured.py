"""JSON and YAML to plain values without recursion of our own, so that hostile nesting ends in one sentence."""

import json
from typing import TypeAlias

from core.errors import ReadError

# Levels of nesting that a document of people's data never reaches.
MAX_DEPTH = 200

Value: TypeAlias = "dict[str, Value] | list[Value] | str | int | float | bool | None"

_TOO_DEEP = f"nested too deeply: more than {MAX_DEPTH} levels"
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


def read_json(text: str) -> Value:
    """The value of a JSON text; ReadError with the line of the first mistake."""
    try:
        value: Value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ReadError(f"broken JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise ReadError(_TOO_DEEP) from error
    except ValueError as error:  # a number with more digits than Python converts
        raise ReadError(f"broken JSON: {error}") from error
    return value


def read_yaml(text: str) -> Value:
    """The value of a YAML text's first document: every scalar a string, or None where it is a null.

    Built from the parser's events on a stack of our own: libyaml's composer recurses in C, and a thousand brackets
    would end the process. Aliases share one value. ReadError with the line of the first mistake.
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


class _Builder:
    """Values from YAML events. Each open collection is a list; a mapping's keys and values alternate until its end."""

    def __init__(self) -> None:
        self.root: Value = None
        self._open: list[tuple[list[Value], str | None, bool]] = []  # items, anchor, is it a mapping
        self._anchors: dict[str, Value] = {}

    def take(self, event: object) -> None:
        import yaml

        if isinstance(event, yaml.ScalarEvent):
            plain_null = event.implicit[0] and event.style in (None, "") and event.value in _NULLS
            self._put(None if plain_null else event.value, event.anchor)
        elif isinstance(event, yaml.AliasEvent):
            self._put(self._anchors.get(event.anchor or ""), None)
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            if len(self._open) >= MAX_DEPTH:
                raise ReadError(_TOO_DEEP)
            self._open.append(([], event.anchor, isinstance(event, yaml.MappingStartEvent)))
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            items, anchor, is_mapping = self._open.pop()
            self._put(_to_mapping(items) if is_mapping else items, anchor)

    def _put(self, value: Value, anchor: str | None) -> None:
        if anchor:
            self._anchors[anchor] = value
        if self._open:
            self._open[-1][0].append(value)
        else:
            self.root = value


def _to_mapping(items: list[Value]) -> dict[str, Value]:
    pairs = zip(items[0::2], items[1::2], strict=True)
    return {key: value for key, value in pairs if isinstance(key, str)}
