"""Arguments of tools: described to the model as JSON Schema, and validated before the tool runs. Pure."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from core.errors import ToolRetry


class Arguments(BaseModel):
    """The arguments of a tool. Unknown ones are refused; null and blank text stand for "not given"."""

    model_config = ConfigDict(extra="forbid", frozen=True)


A = TypeVar("A", bound=Arguments)


def to_parameters(arguments: type[Arguments]) -> dict[str, Any]:
    """A plain JSON Schema: an object, optional properties without null unions."""
    schema = _schema_of(arguments)
    properties = {name: _to_plain(value) for name, value in schema.get("properties", {}).items()}
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def validate(tool: str, arguments: type[A], given: Mapping[str, object]) -> A:
    """Return the arguments as the tool's own type. ToolRetry names all unknown and wrong ones."""
    meant = {name: value for name, value in given.items() if value is not None and not _is_blank(value)}
    try:
        return arguments.model_validate(meant)
    except ValidationError as error:
        problems = "; ".join(_to_problem(item["type"], item["loc"], item["msg"]) for item in error.errors())
        known = ", ".join(arguments.model_fields)
        raise ToolRetry(f"{tool} could not run: {problems}. It takes {known}.") from error


@cache
def _schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    """Made once: it takes as long as the rest of a toolbox together."""
    return arguments.model_json_schema()


def _to_plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without titles, null defaults and the union with null that pydantic writes for optional fields."""
    plain = {key: value for key, value in schema.items() if key not in ("title", "anyOf")}
    if plain.get("default", "") is None:
        del plain["default"]
    variants = [variant for variant in schema.get("anyOf", ()) if variant.get("type") != "null"]
    return {**plain, **variants[0]} if variants else plain


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def _to_problem(kind: str, place: Sequence[str | int], message: str) -> str:
    name = ".".join(str(part) for part in place)
    if kind == "extra_forbidden":
        return f"unknown argument {name!r}"
    if kind == "missing":
        return f"{name!r} is missing"
    return f"{name!r}: {message[:1].lower()}{message[1:]}"
