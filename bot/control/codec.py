"""Domain values as JSON and back, each with its class.

Plain JSON stays as it is; all else is an object with the key `$`: `tuple`, `set`, `map`, `time`, `path`, or the class
of a dataclass or enum of core or bot as `module:name`. Nothing else is ever made from what arrives.
"""

import importlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from core import errors
from core.errors import FootnoteError

TAG = "$"
_PACKAGES = ("core.", "bot.", "storage.")


def to_wire(value: object) -> Any:
    """What `json.dumps` takes. TypeError for a value that has no form here."""
    if isinstance(value, Enum):
        return {TAG: _name(type(value)), "value": value.value}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {TAG: _name(type(value)), "fields": {f.name: to_wire(getattr(value, f.name)) for f in fields(value)}}
    return _container_to_wire(value)


def from_wire(plain: Any) -> Any:
    """The value that `to_wire` was given. ValueError for what it can't have made."""
    if isinstance(plain, list):
        return [from_wire(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if TAG not in plain:
        return {key: from_wire(item) for key, item in plain.items()}
    try:
        return _tagged(plain)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{plain.get(TAG)!r} does not fit its class") from error


def error_to_wire(error: FootnoteError) -> Any:
    """An error with its class, its sentence, and what else it carries."""
    return {"class": type(error).__name__, "message": str(error), "details": to_wire(vars(error))}


def error_from_wire(plain: Any) -> FootnoteError:
    """The error as it was raised; of the base class where this version does not know its own."""
    found = getattr(errors, str(plain["class"]), FootnoteError)
    kind = found if isinstance(found, type) and issubclass(found, FootnoteError) else FootnoteError
    error = kind.__new__(kind, str(plain["message"]))
    vars(error).update(from_wire(plain["details"]))
    return error


def _container_to_wire(value: object) -> Any:
    match value:
        case list():
            return [to_wire(item) for item in value]
        case tuple():
            return {TAG: "tuple", "items": [to_wire(item) for item in value]}
        case set() | frozenset():
            return {TAG: "set", "items": [to_wire(item) for item in value]}
        case Mapping():
            if TAG not in value and all(type(key) is str for key in value):
                return {key: to_wire(item) for key, item in value.items()}
            return {TAG: "map", "items": [[to_wire(key), to_wire(item)] for key, item in value.items()]}
        case datetime():
            return {TAG: "time", "value": value.isoformat()}
        case Path():
            return {TAG: "path", "value": str(value)}
    raise TypeError(f"a {type(value).__name__} can't be sent to the service")


def _tagged(plain: dict[str, Any]) -> Any:
    match plain[TAG]:
        case "tuple":
            return tuple(from_wire(item) for item in plain["items"])
        case "set":
            return frozenset(from_wire(item) for item in plain["items"])
        case "map":
            return {from_wire(key): from_wire(item) for key, item in plain["items"]}
        case "time":
            return datetime.fromisoformat(plain["value"])
        case "path":
            return Path(plain["value"])
    made = _class(plain[TAG])
    if issubclass(made, Enum):
        return made(plain["value"])
    return made(**{name: from_wire(item) for name, item in plain["fields"].items()})


def _name(made: type) -> str:
    return f"{made.__module__}:{made.__qualname__}"


@cache
def _class(name: str) -> type:
    module, _, qualname = str(name).partition(":")
    if not module.startswith(_PACKAGES):
        raise ValueError(f"{name!r} is not a class of Footnote")
    try:
        found = getattr(importlib.import_module(module), qualname)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{name!r} is unknown here") from error
    if not isinstance(found, type) or not (is_dataclass(found) or issubclass(found, Enum)):
        raise ValueError(f"{name!r} is no value")
    return found
