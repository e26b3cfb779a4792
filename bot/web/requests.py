"""Requests of the chat page's script, and their responses."""

import base64
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from aiohttp import web

from bot.web.errors import status_of
from bot.web.parts import PARTS, WebParts
from bot.web.translate import CHANNEL_THREAD, check_id, to_channel, to_name
from core.domain.corpus import SearchScope
from core.domain.features import ExportedFile
from core.errors import BadInput, FootnoteError
from core.serializers.objects import Json

T = TypeVar("T")


def file_response(file: ExportedFile) -> web.Response:
    return web.Response(
        body=file.data,
        content_type=file.content_type,
        charset="utf-8" if file.is_text else None,
        headers={"Content-Disposition": f'attachment; filename="{file.name}"'},
    )


def file_json(file: ExportedFile) -> Json:
    """Return a file as JSON; `data` is Base64."""
    return {"name": file.name, "type": file.content_type, "data": base64.b64encode(file.data).decode()}


PERSON_COOKIE = "footnote_person"
YEAR_SECONDS = 365 * 24 * 3600
NO_THREAD = "-"  # the channel itself, in addresses


def as_json(handler: Callable[[web.Request], Awaitable[Json | web.Response]]) -> Callable[..., Awaitable[web.Response]]:
    """Wrap a handler to answer in JSON; a FootnoteError becomes `{"error": sentence}`."""

    async def handle(request: web.Request) -> web.Response:
        try:
            found = await handler(request)
        except FootnoteError as error:
            return web.json_response({"error": str(error)}, status=status_of(error))
        except web.HTTPRequestEntityTooLarge:
            sentence = "This message is too long. Add long texts to the library and ask about them."
            return web.json_response({"error": sentence}, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return found if isinstance(found, web.Response) else web.json_response(found)

    return handle


def place_of(request: web.Request) -> tuple[str, str]:
    """Return the channel and thread of an address."""
    channel, thread = to_channel(request.match_info["channel"]), request.match_info["thread"]
    return channel, CHANNEL_THREAD if thread == NO_THREAD else check_id(thread, "The thread")


async def body_of(request: web.Request) -> dict[str, Any]:
    """Return the JSON object of the body. BadInput for anything else."""
    if request.content_type != "application/json":
        raise BadInput("Send JSON (content type application/json).")
    try:
        found = await request.json()
    except (ValueError, LookupError, RecursionError) as error:
        raise BadInput("The body isn't valid JSON.") from error
    if not isinstance(found, dict):
        raise BadInput("Send a JSON object.")
    return found


def text_of(body: dict[str, Any], name: str, default: str | None = None) -> str:
    """Return a text field. BadInput if it is missing or not text."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise BadInput(f"{name!r} is missing. Send it as text.")
    return value


def person_of(request: web.Request) -> str | None:
    """Return the name in the cookie, or None if it isn't valid."""
    try:
        return to_name(unquote(request.cookies[PERSON_COOKIE])) if PERSON_COOKIE in request.cookies else None
    except BadInput:
        return None


async def visit(request: web.Request) -> tuple[WebParts, SearchScope]:
    """Return the parts, and the scope of the person at this machine."""
    parts = request.app[PARTS]
    return parts, await parts.scope(None, person_of(request))


def turn_to(request: web.Request, rows: Sequence[T], size: int) -> tuple[Sequence[T], dict[str, int]]:
    """Return the rows of the page that `?page=` names, and the numbers of this page and of the last one."""
    text, last = request.query.get("page", "1"), max(1, -(-len(rows) // size))
    page = min(max(int(text), 1), last) if text.isascii() and text.isdigit() and len(text) < 7 else 1
    return rows[(page - 1) * size : page * size], {"page": page, "last_page": last}


def require_person(request: web.Request) -> str:
    """Return the name in the cookie. BadInput without one."""
    name = person_of(request)
    if name is None:
        raise BadInput("Choose a name first, so that others know who asks.")
    return name


def remember_person(response: web.Response, name: str) -> None:
    """Store a name in the browser for a year."""
    response.set_cookie(PERSON_COOKIE, quote(name), max_age=YEAR_SECONDS, httponly=True, samesite="Lax", path="/")
