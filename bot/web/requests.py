"""Requests of the chat page's script, and their responses."""

import base64
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from aiohttp import web

from bot.web.errors import status_of
from bot.web.parts import PARTS, WebParts
from bot.web.render import shown_json
from bot.web.security import is_owner, session_of
from bot.web.translate import (
    CHANNEL_THREAD,
    GUEST,
    NAMELESS_OWNER,
    STRANGER,
    check_id,
    thread_address,
    to_channel,
    to_name,
)
from core.domain.corpus import SearchScope
from core.domain.features import ExportedFile
from core.domain.incoming import PRIVATE_THREAD
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
GUEST_COOKIE = "footnote_guest"  # a secret that identifies a browser without a session
_NEW_GUEST = "new_guest"  # key of the request
_GUEST_BYTES = 24
_GUEST_DIGITS = 16  # of the hash that follows a guest's name
YEAR_SECONDS = 365 * 24 * 3600
_OWNER_DIGITS = 12  # of people who didn't sign in; signed-in people have longer ones
NO_THREAD = "-"  # the channel itself, in addresses


def as_json(handler: Callable[[web.Request], Awaitable[Json | web.Response]]) -> Callable[..., Awaitable[web.Response]]:
    """Wrap a handler to answer in JSON; a FootnoteError becomes `{"error": sentence}`.

    Stores the identity that `author_of` gave to a new browser.
    """

    async def handle(request: web.Request) -> web.Response:
        response = await respond(request)
        remember_guest(request, response)
        return response

    async def respond(request: web.Request) -> web.Response:
        try:
            found = await handler(request)
        except FootnoteError as error:
            return web.json_response({"error": str(error)}, status=status_of(error), dumps=shown_json)
        except web.HTTPRequestEntityTooLarge:
            sentence = "This message is too long. Add long texts to the library and ask about them."
            return web.json_response({"error": sentence}, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return found if isinstance(found, web.Response) else web.json_response(found, dumps=shown_json)

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


def text_of(body: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return a text field. BadInput if it is missing or not text."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise BadInput(f"{name!r} is missing. Send it as text.")
    return value


def name_of(request: web.Request) -> str | None:
    """Return the name of this browser's person: of their sign-in, or the one that the owner gave; None without one."""
    session = session_of(request)
    if session is None or not is_owner(request):
        return session.name if session else None
    try:
        return to_name(unquote(request.cookies[PERSON_COOKIE])) if PERSON_COOKIE in request.cookies else None
    except BadInput:
        return None


def person_of(request: web.Request) -> str | None:
    """Return the author of this browser's messages; None before its first request to the chat."""
    session = session_of(request)
    if session is not None and not is_owner(request):
        return session.person
    return name_of(request) or _guest_of(request)


def authors_of(request: web.Request) -> Collection[str]:
    """Return the authors that this browser writes as; the owner's has a guest's name before their own."""
    author, digits = person_of(request), _digits_of(request)
    before = (_guest_of(request), f"{GUEST} {digits}" if digits else None) if is_owner(request) else ()
    return frozenset(name for name in (author, *before) if name)


def _guest_of(request: web.Request) -> str | None:
    """Return the author of a browser without a name: a guest, or the owner, who is never taken for a visitor."""
    digits = _digits_of(request)
    if digits and is_owner(request):
        return f"{NAMELESS_OWNER} {digits[:_OWNER_DIGITS]}"
    return f"{GUEST} {digits}" if digits else None


def _digits_of(request: web.Request) -> str:
    """Return a name of this browser that doesn't reveal the secret in it; "" before it has one."""
    secret = request.get(_NEW_GUEST) or request.cookies.get(GUEST_COOKIE, "")
    return request.app[PARTS].sessions.hash_of(f"guest {secret}")[:_GUEST_DIGITS] if secret else ""


async def visit(request: web.Request) -> tuple[WebParts, SearchScope]:
    """Return the parts, and the scope of this browser: the owner reads everything, others their own sources."""
    parts, person = request.app[PARTS], person_of(request)
    if is_owner(request):
        return parts, await parts.scope(None, person)
    reader = person or STRANGER
    return parts, await parts.scope(thread_address(parts.workspace, "", f"{PRIVATE_THREAD}{reader}"), reader)


def turn_to(request: web.Request, rows: Sequence[T], size: int) -> tuple[Sequence[T], dict[str, int]]:
    """Return the rows of the page that `?page=` names, and the numbers of this page and of the last one."""
    text, last = request.query.get("page", "1"), max(1, -(-len(rows) // size))
    page = min(max(int(text), 1), last) if text.isascii() and text.isdigit() and len(text) < 7 else 1
    return rows[(page - 1) * size : page * size], {"page": page, "last_page": last}


def author_of(request: web.Request) -> str:
    """Return the author of this browser's messages; a new guest if it has none."""
    found = person_of(request)
    if found is None:
        request[_NEW_GUEST] = secrets.token_urlsafe(_GUEST_BYTES)
    return found or author_of(request)


def remember_person(response: web.StreamResponse, name: str) -> None:
    _remember(response, PERSON_COOKIE, name)


def remember_guest(request: web.Request, response: web.StreamResponse) -> None:
    """Store the identity that `author_of` gave to a new browser."""
    if _NEW_GUEST in request:
        _remember(response, GUEST_COOKIE, request[_NEW_GUEST])


def _remember(response: web.StreamResponse, cookie: str, value: str) -> None:
    """Store a value in the browser for a year."""
    response.set_cookie(cookie, quote(value), max_age=YEAR_SECONDS, httponly=True, samesite="Lax", path="/")
