"""The web application: pages, static files, security headers, error pages. The API and the chat add themselves."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import aiohttp_jinja2
import jinja2
from aiohttp import web

from bot.web.errors import error_pages
from bot.web.pages import documents, extracts, jobs, source
from bot.web.parts import PARTS, ScopeOf, WebParts, WorkerControls
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
        auto_reload=False,  # an upgrade under a running service must not mix new templates with old code
    )
    app.middlewares.extend((error_pages, guard))  # after aiohttp-jinja2's, whose context error pages need
    environment.globals["static"] = _add_static(app)
    environment.globals["workspace"] = parts.workspace
    environment.filters["took"] = took
    for pages in (source, documents, extracts, jobs):
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
    files = {path.relative_to(STATIC).as_posix(): path for path in STATIC.rglob("*") if path.is_file()}
    marks = {name: sha256(path.read_bytes()).hexdigest()[:10] for name, path in files.items()}

    async def serve(request: web.Request) -> web.StreamResponse:
        file = files.get(request.match_info["name"])  # the requested name never becomes a path
        if file is None:
            raise web.HTTPNotFound
        return web.FileResponse(file)

    app.router.add_get("/static/{name:.+}", serve, name="static")
    return lambda name: f"/static/{name}?v={marks[name]}"
