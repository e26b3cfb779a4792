"""The API's authentication, rate limits and workspaces."""

import hmac
import math
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.runtime.metrics import Metrics
from bot.web.api.platform import PLATFORM, ApiPlatform, api_address
from bot.web.api.problems import API_PATH, Problem
from bot.web.parts import PARTS, WebParts
from bot.web.security import SLACK_PATH, is_owner
from core.access.identity import NO_PERSON, Tokens
from core.domain.corpus import SearchScope
from core.domain.identity import TokenScope
from core.domain.incoming import PRIVATE_THREAD, ThreadAddress
from core.errors import NotFound
from core.ports import SearchIndex
from core.ports.service import InboxStore
from core.ports.spending import SpendingStore
from core.service.inbox import Inbox
from core.work.rate_limit import RateLimiter

WAIT_SECONDS = 60.0  # a POST waits this long for its answer before it gets a 202
METRICS_PATH = "/metrics"
_OPEN_PATHS = frozenset({"/api/openapi.json"})  # the same in every copy of the project
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_BEARER = "bearer"
_JOBS = re.compile(r"^/api/v1/workspaces/[^/]*/jobs(?:/|$)")
_CHAT = re.compile(r"^/api/v1/workspaces/[^/]*/chat(?:/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiContext:
    """Parts that only the API needs. `token` is the one of the configuration, without a person."""

    inbox: Inbox
    store: InboxStore
    spending: SpendingStore
    platform: ApiPlatform
    index: SearchIndex
    metrics: Metrics
    tokens: Tokens
    gate: RateLimiter
    token: str | None = field(default=None, repr=False)
    local_exempt: bool = True
    token_exempt: bool = True
    wait_seconds: float = WAIT_SECONDS
    platforms: Callable[[], Mapping[str, str]] = dict  # name -> "", or the reason why that platform isn't connected


API = web.AppKey("api", ApiContext)
AUTHOR = NO_PERSON  # author and reader of requests without a person
_CALLER = "caller"  # key of the request


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The person of a request, and their rights: of the owner's browser and of the configured token, all."""

    person: str = AUTHOR
    scope: TokenScope = TokenScope.ADMIN
    reads_all: bool = True


@web.middleware
async def auth_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Return 401 without a valid token, 429 beyond the rate. Pages need no token, but have the rate.

    Slack's requests have none: they come from few addresses for all people, whose own limits are the inbox's.
    """
    api = request.app[API]
    try:
        if request.path.startswith(API_PATH) or request.path == METRICS_PATH:
            await _admit(request, api, is_open=request.path in _OPEN_PATHS)
        elif not (
            request.method in _READING
            or request.path.startswith(SLACK_PATH)
            or (api.local_exempt and is_owner(request))
        ):
            _within_rate(request, api)
    except Problem as problem:
        return _refusal(request, problem)
    return await handler(request)


def _refusal(request: web.Request, problem: Problem) -> web.Response:
    """Return the error in the API's form, or as a plain sentence for the pages' scripts."""
    if request.path.startswith(API_PATH) or request.path == METRICS_PATH:
        return problem.to_response()
    return web.json_response({"error": problem.message}, status=problem.status, headers=problem.headers)


async def _admit(request: web.Request, api: ApiContext, *, is_open: bool) -> None:
    given = request.headers.get("Authorization")
    signed_in = given is None and is_owner(request)
    if not (api.token_exempt if given is not None else api.local_exempt and signed_in):
        _within_rate(request, api)
    caller = Caller() if signed_in else await _caller(given, api) if given is not None else None
    if caller is None and given is not None and api.token_exempt:
        _within_rate(request, api)  # a token can't be guessed by trying
    if caller is None and (given is not None or not is_open):
        raise Problem(401, "unauthorized", _reason(given), {"WWW-Authenticate": 'Bearer realm="footnote"'})
    if caller is not None:
        _require(caller, _needed(request))
        request[_CALLER] = caller


async def _caller(header: str, api: ApiContext) -> Caller | None:
    """Return the caller of a token; None for a wrong one. Compares bytes, because headers may hold anything."""
    scheme, _, given = header.partition(" ")
    secret = given.strip()
    if scheme.lower() != _BEARER or not secret:
        return None
    if api.token and hmac.compare_digest(secret.encode("utf-8", "surrogateescape"), api.token.encode()):
        return Caller()
    token = await api.tokens.find(secret)
    if token is None:
        return None
    return Caller(person=token.person, scope=token.scope, reads_all=token.readers is None)


def _needed(request: web.Request) -> TokenScope:
    """Return the scope for an address: job trees hold the questions of all, metrics the counts and costs of all."""
    if request.path == METRICS_PATH:
        return TokenScope.METRICS
    if _JOBS.search(request.path):
        return TokenScope.ADMIN
    return TokenScope.ASK if _CHAT.search(request.path) else TokenScope.READ


def _require(caller: Caller, needed: TokenScope) -> None:
    """Raise Problem 403 for a token with another scope."""
    if not caller.scope.includes(needed):
        advice = f"Make one with `footnote tokens add {shlex.quote(caller.person)} --scope {needed.value}`."
        raise Problem(403, "access_denied", f"This token has the scope {caller.scope.value!r}. {advice}")


def caller_of(request: web.Request) -> Caller:
    """Return the person of an admitted request."""
    found: Caller = request[_CALLER]
    return found


def is_own(request: web.Request, owner: str, platform: str) -> bool:
    """Return whether a session is the caller's, or the caller sees all."""
    caller = caller_of(request)
    return caller.scope is TokenScope.ADMIN or (owner, platform) == (caller.person, PLATFORM)


def require_own(request: web.Request, owner: str, platform: str) -> None:
    """Raise NotFound for a session of another person, unless the caller sees all."""
    if not is_own(request, owner, platform):
        raise NotFound("Session not found. It was deleted, or it is another person's.")


def _reason(given: str | None) -> str:
    if given is None:
        return "Missing token. Make one with `footnote tokens add`, and send it as `Authorization: Bearer TOKEN`."
    return "Wrong or revoked token. `footnote tokens` lists the valid ones, `footnote tokens add` makes a new one."


def _within_rate(request: web.Request, api: ApiContext) -> None:
    wait = api.gate.admit(request.remote or "unknown")
    if wait > 0:
        seconds = max(1, math.ceil(wait))
        sentence = f"Too many requests. Try again in {seconds} second{'s' if seconds > 1 else ''}."
        raise Problem(429, "too_many_requests", sentence, {"Retry-After": str(seconds)})


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
    """Return the parts, and the caller's scope: the sources of their token, up to their reading positions."""
    parts = request.app[PARTS]
    return parts, await parts.scope(_place_of(request), caller_of(request).person)


def _place_of(request: web.Request) -> ThreadAddress | None:
    """Return the caller's private place; None if they read all. NotFound for another workspace."""
    workspace, caller = workspace_of(request), caller_of(request)
    return None if caller.reads_all else api_address(workspace, f"{PRIVATE_THREAD}{caller.person}")


async def require_documents(request: web.Request) -> None:
    """Raise Problem 400 with the reason while nothing in the workspace can be searched."""
    parts, workspace, filled = request.app[PARTS], workspace_of(request), request.app[FILLED]
    if caller_of(request).reads_all and parts.clock.monotonic() < filled.get(workspace, 0.0):
        return
    _, scope = await reading(request)
    reason = await parts.commands.availability.explain(scope, _place_of(request))
    if reason is not None:
        raise Problem(400, "nothing_indexed", reason)
    if caller_of(request).reads_all:
        filled[workspace] = parts.clock.monotonic() + FILLED_SECONDS
