"""Who may come in, and with which headers an answer leaves.

Pages are for the person at this machine: a request counts as local when it comes from loopback, names a loopback host
and passed no proxy. Everybody else may open signed links, and what guards itself (the API, health checks). A host name
that nobody configured is refused, so that a foreign site can't point its own name at this port; a foreign site can't
send forms here either.
"""

import ipaddress
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.web.parts import PARTS, WebParts

# Nothing from elsewhere, no inline script or style, no frames; data: pictures are small icons of the stylesheets.
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
    "X-Robots-Tag": "noindex",  # a signed link that got into the open stays out of search engines
}
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")
# Signed links carry their own proof, and so do Slack's requests and installations (bot/slackbot); the API asks for its
# token, the rest tells nothing about anybody.
_OPEN_PATHS = ("/s/", "/slack/", "/static/", "/api/", "/healthz", "/readyz", "/metrics")


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """The headers of every response, errors and event streams included (a signal of aiohttp)."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Server"] = "Footnote"  # and not the versions of what it runs on
    marked = request.path.startswith("/static/") and "v" in request.query and response.status == 200
    caching = "public, max-age=31536000, immutable" if marked else "no-cache, private"
    response.headers.setdefault("Cache-Control", caching)


async def who_looks(request: web.Request) -> dict[str, object]:
    """What every template knows (a context processor of aiohttp-jinja2): the way to pages that this person may see."""
    return {"here": request.path, "may_browse": may_browse(request)}


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse foreign host names, foreign forms, and people from elsewhere on pages that are not for them."""
    parts = request.app[PARTS]
    if not _known_host(request, parts):
        raise web.HTTPMisdirectedRequest(
            text=f"This service does not answer to the name {request.host!r}: set web.public_url to its address."
        )
    if request.method not in _SAFE_METHODS and not _same_site(request):
        raise web.HTTPForbidden(text="This form was sent from another site: open the page here and try again.")
    if not (may_browse(request) or request.path.startswith(_OPEN_PATHS)):
        raise web.HTTPForbidden(
            text="This page is only for the machine that Footnote runs on. Links under answers open from anywhere; "
            "set web.open_to_network where the network itself keeps strangers out."
        )
    return await handler(request)


def may_browse(request: web.Request) -> bool:
    """Whether this person may use chat, library and jobs."""
    return request.app[PARTS].open_to_network or is_local(request)


def is_local(request: web.Request) -> bool:
    """Whether the person sits at this machine; a request that a proxy passed on never counts."""
    proxied = any(name in request.headers for name in _FORWARDED)
    return not proxied and _is_loopback(request.remote or "") and _is_loopback(_host_name(request.host))


def _known_host(request: web.Request, parts: WebParts) -> bool:
    name = _host_name(request.host)
    public = urlsplit(parts.public_url).hostname if parts.public_url else None
    return _is_address(name) or name in ("localhost", public)


def _same_site(request: web.Request) -> bool:
    """Browsers name the origin of every form; what names none is no browser."""
    origin = request.headers.get("Origin")
    if origin is None:
        return request.headers.get("Sec-Fetch-Site", "none") in ("same-origin", "none")
    return urlsplit(origin).netloc.lower() == request.host.lower()


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:  # "[::1" and the like
        return ""


def _is_loopback(name: str) -> bool:
    return name == "localhost" or (_is_address(name) and ipaddress.ip_address(name.split("%")[0]).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.split("%")[0])
    except ValueError:
        return False
    return True
