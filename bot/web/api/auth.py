"""The API's authentication, rate limits and workspaces."""

import hmac
import math
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.runtime.metrics import Metrics
from bot.web.api.platform import ApiPlatform
from bot.web.api.problems import API_PATH, Problem
from bot.web.parts import PARTS, WebParts
from bot.web.security import is_local
from core.domain.corpus import SearchScope
from core.errors import NotFound
from core.ports import SearchIndex
from core.ports.service import InboxStore
from core.service.inbox import Inbox
from core.service.rate_limit import RateGate

WAIT_SECONDS = 60.0  # a POST waits this long for its answer before it is told where to look
METRICS_PATH = "/metrics"
_OPEN_PATHS = frozenset({"/api/openapi.json"})  # tells what every copy of the project tells
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_BEARER = "bearer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiDoor:
    """The API's own parts; `token` None: only people at this machine come in."""

    inbox: Inbox
    store: InboxStore
    platform: ApiPlatform
    index: SearchIndex
    metrics: Metrics
    gate: RateGate
    token: str | None = field(default=None, repr=False)
    local_exempt: bool = True
    token_exempt: bool = True
    wait_seconds: float = WAIT_SECONDS


DOOR = web.AppKey("door", ApiDoor)


@web.middleware
async def admission(request: web.Request, handler: Handler) -> web.StreamResponse:
    """401 without a right, 429 beyond the rate. The pages ask for no token, but what they send is held to the rate."""
    door = request.app[DOOR]
    try:
        if request.path.startswith(API_PATH) or request.path == METRICS_PATH:
            _admit(request, door, is_open=request.path in _OPEN_PATHS)
        elif request.method not in _READING and not (door.local_exempt and is_local(request)):
            _within_rate(request, door)
    except Problem as problem:
        return _refusal(request, problem)
    return await handler(request)


def _refusal(request: web.Request, problem: Problem) -> web.Response:
    """In the API's form; the pages' scripts read a plain sentence instead."""
    if request.path.startswith(API_PATH) or request.path == METRICS_PATH:
        return problem.to_response()
    return web.json_response({"error": problem.message}, status=problem.status, headers=problem.headers)


def _admit(request: web.Request, door: ApiDoor, *, is_open: bool) -> None:
    given = request.headers.get("Authorization")
    proved = given is not None and bool(door.token) and _is_token(given, door.token or "")
    local = given is None and is_local(request)
    if not ((proved and door.token_exempt) or (local and door.local_exempt)):
        _within_rate(request, door)
    if not (proved or local or (is_open and given is None)):
        raise Problem(401, "unauthorized", _reason(door, given), {"WWW-Authenticate": 'Bearer realm="footnote"'})


def _is_token(header: str, token: str) -> bool:
    """Compared in constant time, as bytes: headers may hold anything."""
    scheme, _, given = header.partition(" ")
    right = hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), token.encode())
    return right and scheme.lower() == _BEARER


def _reason(door: ApiDoor, given: str | None) -> str:
    if not door.token:
        return "This API answers only on its own machine: set FOOTNOTE_API_TOKEN to let others in with that token."
    if given is None:
        return "A token is missing: send it as `Authorization: Bearer TOKEN`."
    return "The token is not right: send the one of FOOTNOTE_API_TOKEN as `Authorization: Bearer TOKEN`."


def _within_rate(request: web.Request, door: ApiDoor) -> None:
    wait = door.gate.admit(request.remote or "unknown")
    if wait > 0:
        seconds = max(1, math.ceil(wait))
        sentence = f"Too many requests: try again in {seconds} second{'s' if seconds > 1 else ''}."
        raise Problem(429, "too_many_requests", sentence, {"Retry-After": str(seconds)})


AUTHOR = "api"  # who asks and reads over the API
# A workspace that had documents is not looked through again for so long: listing thousands takes a tenth of a second.
FILLED_SECONDS = 30.0
FILLED = web.AppKey("filled", dict[str, float])  # workspace -> until when, on the clock's `monotonic`


def workspace_of(request: web.Request) -> str:
    """The workspace of the address. NotFound when this service does not serve it."""
    workspace = request.match_info["workspace"]
    if workspace != request.app[PARTS].workspace:
        raise NotFound(f"There is no workspace {workspace!r} here: this service has {request.app[PARTS].workspace!r}.")
    return workspace


async def scope_of(parts: WebParts, workspace: str) -> SearchScope:
    """Whoever has the token may read the whole workspace: the one that this service has (see `workspace_of`).

    The API is a reader of its own: what it asks and what it looks up end at the same reading positions.
    """
    return await parts.scope(None, AUTHOR)


async def require_documents(request: web.Request) -> None:
    """Problem 400 while the workspace has no document that could be read."""
    parts, workspace, filled = request.app[PARTS], workspace_of(request), request.app[FILLED]
    if parts.clock.monotonic() < filled.get(workspace, 0.0):
        return
    documents = await parts.library.documents(await scope_of(parts, workspace))
    if not any(document.revision is not None for document in documents):
        raise Problem(
            400, "nothing_indexed", "Nothing is indexed in this workspace yet: add documents with `footnote ingest`."
        )
    filled[workspace] = parts.clock.monotonic() + FILLED_SECONDS
