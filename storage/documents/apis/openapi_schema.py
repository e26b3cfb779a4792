"""What a schema of an API description says, in words: its type, and its fields as rows of a table. Pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from core.text.words import shorten
from storage.documents.apis.openapi_spec import Fields, Spec, is_true, list_of, mapping_of, reference_name, text_of
from storage.documents.texts.structured import Value

# Rows that a table of fields has at most, and levels of fields inside of fields that it shows.
MAX_FIELDS = 100
MAX_LEVELS = 3
# Values of an enumeration, and characters of one default or example, that are shown.
MAX_CHOICES = 50
MAX_VALUE = 200
# Levels of "array of array of" that a type is told by.
_MAX_TYPE_LEVELS = 6
_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
    "minLength": "characters at least",
    "maxLength": "characters at most",
    "minItems": "items at least",
    "maxItems": "items at most",
    "pattern": "pattern",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A field: `name` with the names of those it is inside of, as "address.street" or "tags[].name"."""

    name: str
    type: str
    required: bool
    description: str


def type_of(spec: Spec, schema: Value, level: int = 0) -> str:
    """The type in words: "Pet", "array of string", "integer (int32)", "Cat or Dog"."""
    name = reference_name(schema)
    if name:
        return name
    fields = mapping_of(schema)
    if level >= _MAX_TYPE_LEVELS:
        return "object"
    for key, joint in (("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")):
        names = [type_of(spec, part, level + 1) for part in islice(list_of(fields.get(key)), MAX_CHOICES)]
        if names:
            return joint.join(dict.fromkeys(names))
    kind = fields.get("type")
    names = [text_of(item) for item in list_of(kind)] or [text_of(kind)]
    if "array" in names or "items" in fields:
        return f"array of {type_of(spec, fields.get('items'), level + 1)}"
    extra = fields.get("additionalProperties")
    if isinstance(extra, dict) and extra and "properties" not in fields:
        return f"map of {type_of(spec, extra, level + 1)}"
    written = " or ".join(filter(None, names)) or ("object" if "properties" in fields else "any")
    return f"{written} ({text_of(fields.get('format'))})" if text_of(fields.get("format")) else written


def describe(spec: Spec, schema: Value, description: str = "") -> str:
    """What is said of a value beside its type: description, choices, default, bounds, example."""
    fields = spec.follow(schema)
    said = description or text_of(fields.get("description")) or text_of(fields.get("title"))
    parts = []
    choices = list_of(fields.get("enum")) or list_of(mapping_of(fields.get("items")).get("enum"))
    if choices:
        shown = ", ".join(value_text(choice) for choice in choices[:MAX_CHOICES])
        parts.append(f"One of: {shown}{', …' if len(choices) > MAX_CHOICES else ''}.")
    if "const" in fields:
        parts.append(f"Always {value_text(fields['const'])}.")
    if fields.get("default") is not None:
        parts.append(f"Default: {value_text(fields['default'])}.")
    bounds = [f"{words} {text_of(fields.get(key))}" for key, words in _BOUNDS.items() if text_of(fields.get(key))]
    if bounds:
        parts.append(f"Bounds: {', '.join(bounds)}.")
    if fields.get("example") is not None and not isinstance(fields["example"], dict | list):
        parts.append(f"Example: {value_text(fields['example'])}.")
    marks = {"readOnly": "Read only.", "writeOnly": "Write only.", "deprecated": "Deprecated.", "nullable": "Nullable."}
    parts += [words for key, words in marks.items() if is_true(fields.get(key))]
    ended = f"{said}." if said and parts and said[-1] not in ".!?:" else said
    return " ".join(filter(None, [ended, *parts]))


def value_text(value: Value) -> str:
    if isinstance(value, dict | list):
        return shorten(json.dumps(value, ensure_ascii=False), MAX_VALUE)
    return shorten(text_of(value), MAX_VALUE) if value is not None else "null"


def rows_of(spec: Spec, schema: Value, levels: int = MAX_LEVELS) -> list[Row]:
    """The fields of a schema, those inside of a field after it, at most MAX_FIELDS + 1."""
    return list(islice(_rows(spec, schema, "", levels, ()), MAX_FIELDS + 1))


def _rows(spec: Spec, schema: Value, prefix: str, levels: int, seen: tuple[str, ...]) -> Iterator[Row]:
    inner, prefix = _through_arrays(spec, schema, prefix)
    properties, required = _properties(spec, inner)
    for name, field in properties.items():
        full = f"{prefix}{name}"
        yield Row(full, type_of(spec, field), name in required, describe(spec, field))
        own = _names(field)
        if levels > 1 and not set(own) & set(seen):
            yield from _rows(spec, field, f"{full}.", levels - 1, (*seen, *own))


def _through_arrays(spec: Spec, schema: Value, prefix: str) -> tuple[Fields, str]:
    fields = spec.follow(schema)
    for _ in range(_MAX_TYPE_LEVELS):
        if "items" not in fields:
            break
        prefix = f"{prefix.removesuffix('.')}[]." if prefix else "[]."
        fields = spec.follow(fields["items"])
    return fields, prefix


def _names(field: Value) -> list[str]:
    fields = mapping_of(field)
    return [name for name in (reference_name(field), reference_name(fields.get("items"))) if name]


def _properties(spec: Spec, fields: Fields) -> tuple[Mapping[str, Value], set[str]]:
    """The properties of a schema and of all that it is composed of, and the names of those that are required."""
    properties: dict[str, Value] = {}
    required: set[str] = set()
    waiting: list[tuple[Fields, int]] = [(fields, 0)]
    while waiting and len(properties) <= MAX_FIELDS:
        part, level = waiting.pop(0)
        properties.update(
            (name, field) for name, field in mapping_of(part.get("properties")).items() if field is not None
        )
        required.update(text_of(name) for name in list_of(part.get("required")))
        if level < _MAX_TYPE_LEVELS:
            for key in ("allOf", "oneOf", "anyOf"):
                parts = islice(list_of(part.get(key)), MAX_CHOICES)
                waiting += [(spec.follow(item), level + 1) for item in parts]
    return properties, required
