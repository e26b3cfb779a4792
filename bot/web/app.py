"""The web application: pages, static files, security headers, error pages. The API and the chat add themselves."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path

import aiohttp_jinja2
import jinja2
import rcssmin
import rjsmin
from aiohttp import web

from bot.web.errors import error_pages
from bot.web.pages import documents, extracts, jobs, sign_in, source
from bot.web.parts import PARTS, ScopeOf, WebParts, WorkerControls
from bot.web.render import shown
from bot.web.security import add_headers, guard, template_context
from core.text.notation import took

__all__ = ["PARTS", "ScopeOf", "WebAddition", "WebParts", "WorkerControls", "build_runner", "build_web"]

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"
HOME = "home"  # the name of the route "/", which the chat takes
MAX_BODY_BYTES = 512 * 1024  # of a request, enough for the longest question
# Of a request's first line: the longest query, with each character escaped, takes 24,000 bytes. Beyond this limit
# aiohttp answers in plain text.
MAX_ADDRESS_BYTES = 64 * 1024
KEEPALIVE_SECONDS = 75  # between two requests of a connection

# Adds routes (and middlewares, innermost) to the application: add_api, add_chat.
WebAddition = Callable[[web.Application, WebParts], None]


def build_web(parts: WebParts, additions: Sequence[WebAddition] = ()) -> web.Application:
    """Build the application over ready-made parts. Opens nothing."""
    app = web.Application(client_max_size=MAX_BODY_BYTES)
    app[PARTS] = parts
    app.on_response_prepare.append(add_headers)
    environment = aiohttp_jinja2.setup(
        app,
        context_processors=(template_context,),
        loader=jinja2.FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=shown,
        auto_reload=False,  # an upgrade under a running service must not mix new templates with old code
    )
    app.middlewares.extend((error_pages, guard))  # after aiohttp-jinja2's, whose context error pages need
    environment.globals["static"] = _add_static(app)
    environment.globals["workspace"] = parts.workspace
    environment.filters["took"] = took
    for pages in (source, documents, extracts, jobs, sign_in):
        app.router.add_routes(pages.ROUTES)
    for add in additions:
        add(app, parts)
    environment.globals["has_chat"] = HOME in app.router
    environment.globals["addresses"] = frozenset(resource.canonical for resource in app.router.resources())
    if HOME not in app.router:
        app.router.add_get("/", _to_library, name=HOME)
    return app


def build_runner(pages: web.Application, *, shutdown_timeout: float) -> web.AppRunner:
    """Return a runner that leaves bodies packed, as `guard` refuses such; the caller sets it up and cleans it up."""
    return web.AppRunner(
        pages,
        access_log=None,
        handle_signals=False,
        shutdown_timeout=shutdown_timeout,
        max_line_size=MAX_ADDRESS_BYTES,
        auto_decompress=False,
        keepalive_timeout=KEEPALIVE_SECONDS,
    )


async def _to_library(request: web.Request) -> web.StreamResponse:
    raise web.HTTPFound("/library")


def _add_static(app: web.Application) -> Callable[[str], str]:
    """Serve the static files; return a function that adds a content hash to a name, so that browsers reload changes."""
    paths = {path.relative_to(STATIC).as_posix(): path for path in STATIC.rglob("*") if path.is_file()}
    files = {name: _squeezed(path.suffix, path.read_bytes()) for name, path in paths.items()}
    marks = {name: sha256(file).hexdigest()[:10] for name, file in files.items()}

    async def serve(request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]  # it never becomes a path
        if name not in files:
            raise web.HTTPNotFound
        headers = {"ETag": f'"{marks[name]}"'}
        if any(tag.value == marks[name] for tag in request.if_none_match or ()):
            return web.Response(status=304, headers=headers)
        return web.Response(body=files[name], content_type=guess_type(name)[0], charset="utf-8", headers=headers)

    app.router.add_get("/static/{name:.+}", serve, name="static")
    return lambda name: f"/static/{name}?v={marks[name]}"


def _squeezed(suffix: str, file: bytes) -> bytes:
    """Return a style sheet or script without comments, and without spaces that mean nothing: a fifth is saved."""
    if suffix == ".css":
        return str(rcssmin.cssmin(file.decode())).encode()
    return str(rjsmin.jsmin(file.decode())).encode() if suffix == ".js" else file
