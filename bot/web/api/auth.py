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
from core.work.rate_limit import RateLimiter

WAIT_SECONDS = 60.0  # a POST waits this long for its answer before it gets a 202
METRICS_PATH = "/metrics"
_OPEN_PATHS = frozenset({"/api/openapi.json"})  # the same in every copy of the project
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_BEARER = "bearer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiContext:
    """Parts that only the API needs. `token` None: only this machine may use it."""

    inbox: Inbox
    store: InboxStore
    platform: ApiPlatform
    index: SearchIndex
    metrics: Metrics
    gate: RateLimiter
    token: str | None = field(default=None, repr=False)
    local_exempt: bool = True
    token_exempt: bool = True
    wait_seconds: float = WAIT_SECONDS


API = web.AppKey("api", ApiContext)


@web.middleware
async def auth_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Return 401 without a valid token, 429 beyond the rate. Pages need no token, but have the rate."""
    api = request.app[API]
    try:
        if request.path.startswith(API_PATH) or request.path == METRICS_PATH:
            _admit(request, api, is_open=request.path in _OPEN_PATHS)
        elif request.method not in _READING and not (api.local_exempt and is_local(request)):
            _within_rate(request, api)
    except Problem as problem:
        return _refusal(request, problem)
    return await handler(request)


def _refusal(request: web.Request, problem: Problem) -> web.Response:
    """Return the error in the API's form, or as a plain sentence for the pages' scripts."""
    if request.path.startswith(API_PATH) or request.path == METRICS_PATH:
        return problem.to_response()
    return web.json_response({"error": problem.message}, status=problem.status, headers=problem.headers)


def _admit(request: web.Request, api: ApiContext, *, is_open: bool) -> None:
    given = request.headers.get("Authorization")
    proved = given is not None and bool(api.token) and _is_token(given, api.token or "")
    local = given is None and is_local(request)
    if not ((proved and api.token_exempt) or (local and api.local_exempt)):
        _within_rate(request, api)
    if not (proved or local or (is_open and given is None)):
        raise Problem(401, "unauthorized", _reason(api, given), {"WWW-Authenticate": 'Bearer realm="footnote"'})


def _is_token(header: str, token: str) -> bool:
    """Compare in constant time, as bytes, because headers may hold anything."""
    scheme, _, given = header.partition(" ")
    right = hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), token.encode())
    return right and scheme.lower() == _BEARER


def _reason(api: ApiContext, given: str | None) -> str:
    if not api.token:
        return "Only its own machine may use this API. To allow others, set FOOTNOTE_API_TOKEN and send that token."
    if given is None:
        return "Missing token. Send it as `Authorization: Bearer TOKEN`."
    return "Wrong token. Send the one in FOOTNOTE_API_TOKEN as `Authorization: Bearer TOKEN`."


def _within_rate(request: web.Request, api: ApiContext) -> None:
    wait = api.gate.admit(request.remote or "unknown")
    if wait > 0:
        seconds = max(1, math.ceil(wait))
        sentence = f"Too many requests. Try again in {seconds} second{'s' if seconds > 1 else ''}."
        raise Problem(429, "too_many_requests", sentence, {"Retry-After": str(seconds)})


AUTHOR = "api"  # author and reader of all API requests
# How long a workspace with documents isn't checked again; listing thousands takes a tenth of a second.
FILLED_SECONDS = 30.0
FILLED = web.AppKey("filled", dict[str, float])  # workspace -> end of that time, on the clock's `monotonic`


def workspace_of(request: web.Request) -> str:
    """Return the workspace of the address. NotFound if this service has another one."""
    workspace = request.match_info["workspace"]
    if workspace != request.app[PARTS].workspace:
        raise NotFound(f"Unknown workspace {workspace!r}. This service has {request.app[PARTS].workspace!r}.")
    return workspace


async def reading(request: web.Request) -> tuple[WebParts, SearchScope]:
    """Return the parts, and the API's scope: the whole workspace, up to the API's own reading positions."""
    workspace_of(request)  # raises NotFound for another one
    return request.app[PARTS], await request.app[PARTS].scope(None, AUTHOR)


async def require_documents(request: web.Request) -> None:
    """Raise Problem 400 with the reason while nothing in the workspace can be searched."""
    parts, workspace, filled = request.app[PARTS], workspace_of(request), request.app[FILLED]
    if parts.clock.monotonic() < filled.get(workspace, 0.0):
        return
    reason = await parts.commands.availability.explain(await parts.scope(None, AUTHOR))
    if reason is not None:
        raise Problem(400, "nothing_indexed", reason)
    filled[workspace] = parts.clock.monotonic() + FILLED_SECONDS
