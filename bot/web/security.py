"""Middleware that checks host, origin and client, and the security headers of responses.

Pages are only for this machine: a local request comes from loopback, names a loopback host and passed no proxy. Other
machines may open signed links, the API and health checks. An unknown host name is refused, so that a foreign site
can't point its name at this port. Forms from foreign sites are refused too. The set-up pages need more: a one-time
link from the terminal.
"""

import ipaddress
import secrets
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.web.parts import PARTS, WebParts

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
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")
# Signed links and Slack's requests are verified by their signatures, the API by its token. The rest is public.
_OPEN_PATHS = ("/s/", "/slack/", "/static/", "/api/", "/healthz", "/readyz", "/metrics")

THEME_COOKIE = "footnote_theme"
THEMES = ("system", "light", "dark")
SETUP_PATH = "/setup"
SETUP_COOKIE = "footnote_setup"
SETUP_IDLE_SECONDS = 2 * 3600.0  # without a request, a set-up session ends


class SetupDoor:
    """The browsers that opened a one-time link, which may open the set-up pages. One for each process."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._code: bytes | None = None
        self._sessions: dict[str, float] = {}  # secret -> end

    def new_path(self) -> str:
        """Return the path of a new link. It works once, and an earlier one no longer does."""
        code = secrets.token_urlsafe(24)
        self._code = code.encode()
        return f"{SETUP_PATH}/{code}"

    def enter(self, code: str, response: web.StreamResponse) -> bool:
        """Exchange the code of the link for a session's cookie; False for any other code."""
        if self._code is None or not secrets.compare_digest(code.encode("utf-8", "replace"), self._code):
            return False
        self._code = None
        secret = secrets.token_urlsafe(32)
        self._sessions[secret] = self._now() + SETUP_IDLE_SECONDS
        response.set_cookie(SETUP_COOKIE, secret, httponly=True, samesite="Strict", path=SETUP_PATH)
        return True

    def admits(self, request: web.Request) -> bool:
        """Return whether a request is part of a session, which it prolongs."""
        now = self._now()
        self._sessions = {secret: end for secret, end in self._sessions.items() if end > now}
        secret = request.cookies.get(SETUP_COOKIE, "")
        if secret not in self._sessions:
            return False
        self._sessions[secret] = now + SETUP_IDLE_SECONDS
        return True


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add the headers of every response, errors and event streams too (a signal of aiohttp)."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Server"] = "Footnote"  # hides the server's version
    marked = request.path.startswith("/static/") and "v" in request.query and response.status == 200
    caching = "public, max-age=31536000, immutable" if marked else "no-cache, private"
    response.headers.setdefault("Cache-Control", caching)


async def template_context(request: web.Request) -> dict[str, object]:
    """Return the variables of all templates (a context processor of aiohttp-jinja2)."""
    theme = request.cookies.get(THEME_COOKIE)
    return {
        "here": request.path,
        "can_browse": can_browse(request),
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
    if request.method not in _SAFE_METHODS and not _same_site(request):
        raise web.HTTPForbidden(text="This form was sent from another site. Open the page here and try again.")
    if not (can_browse(request) or request.path.startswith(_OPEN_PATHS)):
        raise web.HTTPForbidden(
            text="Only the machine that Footnote runs on can open this page. Links under answers open anywhere. "
            "To open pages to your network, set web.open_to_network."
        )
    return await handler(request)


def can_browse(request: web.Request) -> bool:
    """Return whether this client may open chat, library and jobs."""
    return request.app[PARTS].open_to_network or is_local(request)


def is_local(request: web.Request) -> bool:
    """Return whether the request comes from this machine, without a proxy."""
    proxied = any(name in request.headers for name in _FORWARDED)
    return not proxied and _is_loopback(request.remote or "") and _is_loopback(_host_name(request.host))


def _known_host(request: web.Request, parts: WebParts) -> bool:
    name = _host_name(request.host)
    public = urlsplit(parts.public_url).hostname if parts.public_url else None
    return _is_address(name) or name in ("localhost", public)


def _same_site(request: web.Request) -> bool:
    """Return whether a form is from this site. Browsers always send an origin; other clients need not."""
    origin = request.headers.get("Origin")
    if origin is None:
        return request.headers.get("Sec-Fetch-Site", "none") in ("same-origin", "none")
    return urlsplit(origin).netloc.lower() == request.host.lower()


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:  # such as "[::1"
        return ""


def _is_loopback(name: str) -> bool:
    return name == "localhost" or (_is_address(name) and ipaddress.ip_address(name.split("%")[0]).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.split("%")[0])
    except ValueError:
        return False
    return True
