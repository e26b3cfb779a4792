"""Request models: JSON bodies and query strings, with an error that names the field."""

import json
from typing import Annotated, Literal, NoReturn, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.web.api.problems import Problem
from core.domain.extracts import ExtractType

# The longest question has 20,000 characters, of at most six bytes each with JSON escapes.
MAX_BODY_BYTES = 256 * 1024
MAX_NAME_CHARACTERS = 500  # of a document, a model, a position
MAX_ID_CHARACTERS = 200

Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARACTERS)]
Id = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS)]
Model = TypeVar("Model", bound=BaseModel)


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Query(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ChatBody(_Body):
    """A question. Without `session_id` it starts a session."""

    message: str
    session_id: Id | None = None
    model: Name | None = None
    document: Name | None = None
    position: Name | None = None
    strategy: Name | None = None


class TitleBody(_Body):
    title: str


class SearchParameters(_Query):
    query: Annotated[str, Field(min_length=1, max_length=2000)]
    limit: Annotated[int, Field(ge=1, le=20)] = 10
    kind: Name | None = None
    document: Name | None = None


class ExtractParameters(_Query):
    type: ExtractType | None = None
    document: Name | None = None
    filter: Annotated[str, Field(min_length=1, max_length=1000)] | None = None
    limit: Annotated[int, Field(ge=1, le=10_000)] = 1_000


class FactParameters(_Query):
    query: Annotated[str, Field(min_length=1, max_length=1000)]
    document: Name | None = None
    limit: Annotated[int, Field(ge=1, le=1_000)] = 50


class ListParameters(_Query):
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class ExportParameters(_Query):
    format: Literal["markdown", "pdf", "json"] = "markdown"


class NoParameters(_Query):
    """No parameters: a mistyped one is an error."""


async def read_body(request: web.Request, model: type[Model]) -> Model:
    """Read the body as `model`. Problem: 413 too large, 400 not JSON, 422 another shape."""
    return _checked(model, _parsed(await _read(request)), "body")


def read_query(request: web.Request, model: type[Model]) -> Model:
    """Read the query string as `model`. Problem 422: an unknown or repeated name, or a wrong value."""
    names = [name for name, _ in request.query.items()]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Problem(422, "bad_input", f"The query can't be used: {twice!r} is given more than once.")
    return _checked(model, dict(request.query), "query")


async def _read(request: web.Request) -> bytes:
    """Read at most MAX_BODY_BYTES, regardless of the headers."""
    if (request.content_length or 0) > MAX_BODY_BYTES:
        _refuse_size()
    data = bytearray()
    async for chunk in request.content.iter_chunked(64 * 1024):
        data += chunk
        if len(data) > MAX_BODY_BYTES:
            _refuse_size()
    return bytes(data)


def _refuse_size() -> NoReturn:
    raise Problem(413, "too_large", f"The body is larger than the {MAX_BODY_BYTES // 1024} KiB allowed. Send less.")


def _parsed(data: bytes) -> object:
    try:
        found: object = json.loads(data.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise Problem(400, "malformed_json", "The body isn't valid UTF-8. Send JSON encoded as UTF-8.") from error
    except ValueError as error:  # json.JSONDecodeError, and numbers of too many digits
        raise Problem(400, "malformed_json", f"The body isn't valid JSON: {error}.") from error
    except RecursionError as error:
        raise Problem(400, "malformed_json", "The body is nested too deeply.") from error
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} isn't a JSON number")


def _checked(model: type[Model], value: object, what: str) -> Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise Problem(422, "bad_input", f"The {what} can't be used: {_problems(error)}.") from error


def _problems(error: ValidationError) -> str:
    found = []
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        name = ".".join(str(part) for part in item["loc"])
        known = item["type"] != "extra_forbidden"
        reason = f"{item['msg'][:1].lower()}{item['msg'][1:]}" if known else "unknown field"
        found.append(f"{name[:100]!r}: {reason}" if name else "it must be a JSON object")
    return "; ".join(found[:5])
