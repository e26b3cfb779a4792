"""Pages of connections and of statistics."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.graph_drawing import MOST_DRAWN, NARROW, WIDE, Drawing, draw, told
from bot.web.pages.uploads import require_admin
from bot.web.parts import WebParts
from bot.web.requests import visit
from bot.web.security import is_owner
from bot.web.threads import Reader
from bot.web.translate import PLATFORM
from core.domain.corpus import Document
from core.domain.features import Connection, DocumentConnections
from core.domain.spending import cost_text
from core.features.connections import Connections
from core.features.feedback import REASONS
from core.features.review import HIDDEN_QUESTIONS
from core.features.statistics import DAYS, UsageStatistics

CONNECTIONS = web.AppKey("connections", Connections)


def add_connection_pages(app: web.Application, parts: WebParts, connections: Connections) -> None:
    """Add the routes of the graph and of each document's connections (a WebAddition)."""
    app[CONNECTIONS] = connections
    app.router.add_get("/library/graph", show_graph)
    app.router.add_get("/library/documents/{document}/connections", show_connections)


def document_path(document: Document) -> str:
    return f"/library/documents/{quote(document.id, safe='')}"


async def show_graph(request: web.Request) -> web.Response:
    """Show the best connected documents as a drawing, and their connections as a list."""
    _, scope = await visit(request)
    graph = await request.app[CONNECTIONS].graph(scope, MOST_DRAWN)
    titles = {document.id: document for document in graph.documents}
    rows = sorted(graph.connections, key=lambda item: (-item.links - item.together, item.first, item.second))
    return render_template(
        "graph.html",
        request,
        {
            "drawings": await asyncio.to_thread(_drawings, graph.documents, graph.connections),
            "rows": [(titles[item.first], titles[item.second], told(item.links, item.together)) for item in rows],
            "total": graph.total,
            "path": document_path,
        },
    )


async def show_connections(request: web.Request) -> web.Response:
    """Show the connections of a document."""
    _, scope = await visit(request)
    found = await request.app[CONNECTIONS].of(request.match_info["document"], scope)
    reader = Reader.of(request)
    found = replace(found, threads=tuple(item for item in found.threads if reader.may_see(item.conversation.owner)))
    drawn = [found.document, *(item.document for item in found.related)]
    return render_template(
        "connections.html",
        request,
        {
            "found": found,
            "drawings": _drawings(drawn, _around(found), found.document.id) if found.related else (),
            "told": told,
            "path": document_path,
        },
    )


def _drawings(
    documents: Sequence[Document], connections: Sequence[Connection], centre: str | None = None
) -> tuple[Drawing, ...]:
    """Return a wide drawing, and one for a phone."""
    return tuple(draw(documents, connections, centre, sheet) for sheet in (WIDE, NARROW))


def _around(found: DocumentConnections) -> list[Connection]:
    """Return the lines from a document to its neighbours."""
    id = found.document.id
    return [
        Connection(first=id, second=item.document.id, links=item.links_to + item.linked_from, together=item.together)
        for item in found.related
    ]


STATISTICS = web.AppKey("statistics", UsageStatistics)


def add_statistics_page(app: web.Application, parts: WebParts, statistics: UsageStatistics) -> None:
    """Add the route of statistics (a WebAddition)."""
    app[STATISTICS] = statistics
    app.router.add_get("/library/statistics", show_statistics)


async def show_statistics(request: web.Request) -> web.Response:
    """Show the statistics of the last days over the readable documents, to admins: they quote questions.

    Admins other than the owner see only questions of the web app, as in the inbox.
    """
    require_admin(request)
    _, scope = await visit(request)
    found = await request.app[STATISTICS].of(scope, platforms=None if is_owner(request) else (PLATFORM,))
    hidden = HIDDEN_QUESTIONS.format(count=found.hidden) if found.hidden else ""
    shown = {
        "found": found,
        "hidden": hidden,
        "days": DAYS,
        "path": document_path,
        "reasons": REASONS,
        "cost": cost_text,
    }
    return render_template("statistics.html", request, shown)
