"""Middleware that checks host, origin and person, and the security headers of responses.

The address of a client proves no identity: behind a proxy on this machine, all come from loopback. Pages open for
browsers with a session, which begins with a one-time link of the terminal or a sign-in. All clients may open signed
links and health checks; the API checks tokens itself. An unknown host name is refused, so that a foreign site can't
point its name at this port. Requests that change something prove that they come from a page of this site: by the origin
that browsers add, which scripts can't set.
"""

import asyncio
import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import quote, urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.web.parts import PARTS, WebParts
from bot.web.translate import to_signed_name
from core.domain.identity import Role, SignedIn, WebSession

# No foreign content, inline scripts, inline styles or frames. data: images are icons of the stylesheets.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex",  # keeps leaked signed links out of search engines
}
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
ENTER_PATH = "/enter"
SIGN_IN_PATH = "/sign-in"
SLACK_PATH = "/slack/"  # its requests are verified by their signatures
_PUBLIC_PATHS = (SLACK_PATH, "/static/", "/healthz", "/readyz")
_PROGRAM_PATHS = (SLACK_PATH, "/api/")  # of programs, which send no origin and prove themselves in each request
# Links are verified by their signatures and codes, the API by its token.
_OPEN_PATHS = ("/s/", f"{ENTER_PATH}/", SIGN_IN_PATH, "/api/", "/metrics", *_PUBLIC_PATHS)

THEME_COOKIE = "footnote_theme"
THEMES = ("system", "light", "dark")
SETUP_PATH = "/setup"
SETUP_LASTS = timedelta(hours=2)  # after the link was opened
HOW_TO_ENTER = (
    "Open Footnote with the link that its terminal printed. For a new one, run “footnote link” on the machine that "
    "Footnote runs on."
)
SIGNED_OUT = "You aren't signed in, or your session has ended. Sign in and try again."
_PROXIED_LASTS = timedelta(minutes=1)  # each request proves it again
# A body of which fewer bytes come in this time is given up.
STALLED_SECONDS = 30.0
LEAST_BYTES = 1024
_SESSION = "session"  # key of the request
_ADMINS = frozenset({Role.OWNER, Role.ADMIN})


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add the headers of every response, errors and event streams too (a signal of aiohttp)."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Server"] = "Footnote"  # hides the server's version
    marked = request.path.startswith("/static/") and "v" in request.query and response.status == 200
    caching = "public, max-age=31536000, immutable" if marked else "no-cache, private"
    response.headers.setdefault("Cache-Control", caching)


@dataclass(frozen=True)
class Visitor:
    """The visitor of a page, for its template: read when that is drawn, because the context is older than `guard`."""

    request: web.Request

    @property
    def can_browse(self) -> bool:
        return can_browse(self.request)

    @property
    def is_owner(self) -> bool:
        return is_owner(self.request)

    @property
    def is_admin(self) -> bool:
        return is_admin(self.request)

    @property
    def can_sign_in(self) -> bool:
        return self.request.app[PARTS].oidc is not None and session_of(self.request) is None

    @property
    def session(self) -> WebSession | None:
        return session_of(self.request)


async def template_context(request: web.Request) -> dict[str, object]:
    """Return the variables of all templates (a context processor of aiohttp-jinja2)."""
    theme = request.cookies.get(THEME_COOKIE)
    return {
        "here": request.path,
        "visitor": Visitor(request),
        "theme": theme if theme in THEMES else THEMES[0],
    }


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse unknown host names, foreign forms, and pages that other machines may not open."""
    parts = request.app[PARTS]
    if not _known_host(request, parts):
        raise web.HTTPMisdirectedRequest(
            text=f"Unknown host name {request.host!r}. Set web.public_url to the address of this service."
        )
    if "Content-Encoding" in request.headers:  # small ones unpack to gigabytes
        raise web.HTTPUnsupportedMediaType(text="Send the request without compression.")
    changes = request.method not in _SAFE_METHODS and request.match_info.http_exception is None
    if changes and not _same_site(request):
        raise web.HTTPForbidden(text="This form was sent from another site. Open the page here and try again.")
    if not request.path.startswith(_PUBLIC_PATHS):
        session = await parts.sessions.find(request.cookies.get(session_cookie(parts), ""))
        if session is None and parts.proxy is not None:
            session = await _proxied(request, parts)
        if session is not None:
            request[_SESSION] = session
    if not (can_browse(request) or request.path.startswith(_OPEN_PATHS)):
        if parts.oidc is None:
            raise web.HTTPForbidden(text=HOW_TO_ENTER)
        if request.method == "GET" and request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate":
            raise web.HTTPSeeOther(f"{SIGN_IN_PATH}?to={quote(request.rel_url.raw_path_qs, safe='')}")
        raise web.HTTPForbidden(text=SIGNED_OUT)
    async with _closing_stalled(request):
        return await handler(request)


@asynccontextmanager
async def _closing_stalled(request: web.Request) -> AsyncIterator[None]:
    """Meanwhile, close the connection of a body that stops coming: each could hold a place for ever."""
    if request.content.is_eof():
        yield
        return
    watch = asyncio.create_task(_close_stalled(request))
    try:
        yield
    finally:
        watch.cancel()


async def _close_stalled(request: web.Request) -> None:
    while not request.content.is_eof():
        before = request.content.total_bytes
        await asyncio.sleep(STALLED_SECONDS)
        came = request.content.total_bytes - before
        if not request.content.is_eof() and came < LEAST_BYTES and request.transport is not None:
            request.transport.close()
            return


async def _proxied(request: web.Request, parts: WebParts) -> WebSession | None:
    """Return the session of a request from the proxy; None for any other."""
    found = parts.proxy.find(request.headers) if parts.proxy else None
    if found is None:
        return None
    author, shown = await known_as(parts, found)
    now = parts.clock.now()
    return WebSession(
        secret_hash="", person=author, name=shown, role=found.role, created_at=now, expires_at=now + _PROXIED_LASTS
    )


async def known_as(parts: WebParts, found: SignedIn) -> tuple[str, str]:
    """Return the author of a person's messages, the same at each sign-in, and their present name."""
    author, shown = to_signed_name(found.name, found.identity)
    return await parts.sessions.people.meet(found.identity, author, shown, found.groups), shown


def session_cookie(parts: WebParts) -> str:
    """Return the name of the cookie: browsers send cookies to all ports of a machine, and so to all its services."""
    return f"footnote_session_{parts.sessions.service_id}"


def begin_session(
    request: web.Request, response: web.StreamResponse, secret: str, lasts: timedelta, *, samesite: str = "Strict"
) -> None:
    """Store the secret of a session in the browser."""
    parts = request.app[PARTS]
    response.set_cookie(
        session_cookie(parts),
        secret,
        max_age=int(lasts.total_seconds()),
        httponly=True,
        samesite=samesite,
        secure=is_secure(request),
        path="/",
    )


def is_secure(request: web.Request) -> bool:
    """Return whether the browser is at the public address, and that has TLS."""
    public = urlsplit(request.app[PARTS].public_url or "")
    return public.scheme == "https" and request.host.lower() == public.netloc


def session_of(request: web.Request) -> WebSession | None:
    """Return the session of the browser; None if it isn't signed in."""
    found: WebSession | None = request.get(_SESSION)
    return found


def can_browse(request: web.Request) -> bool:
    """Return whether this client may open chat and library."""
    return request.app[PARTS].open_to_network or session_of(request) is not None


def is_owner(request: web.Request) -> bool:
    """Return whether a link of the terminal was opened in this browser."""
    session = session_of(request)
    return session is not None and session.role is Role.OWNER


def is_admin(request: web.Request) -> bool:
    """Return whether this person may add and remove documents, and change settings."""
    session = session_of(request)
    return session is not None and session.role in _ADMINS


def may_set_up(request: web.Request) -> bool:
    """Return whether a link of the terminal was opened in this browser lately."""
    session = session_of(request)
    return (
        is_owner(request) and session is not None and request.app[PARTS].clock.now() < session.created_at + SETUP_LASTS
    )


def _known_host(request: web.Request, parts: WebParts) -> bool:
    name = _host_name(request.host)
    public = urlsplit(parts.public_url).hostname if parts.public_url else None
    return _is_address(name) or name in ("localhost", public)


def _same_site(request: web.Request) -> bool:
    """Return whether a request that changes something is from a page of this site, or from a program.

    Browsers send the origin of each such request. Without one, only programs are heard, and without cookies.
    """
    origin = request.headers.get("Origin")
    if origin is not None:
        return urlsplit(origin).netloc.lower() == request.host.lower()
    site = request.headers.get("Sec-Fetch-Site")
    if site is None:
        return request.path.startswith(_PROGRAM_PATHS) and "Cookie" not in request.headers
    return site == "same-origin"


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:  # such as "[::1"
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.split("%")[0])
    except ValueError:
        return False
    return True
