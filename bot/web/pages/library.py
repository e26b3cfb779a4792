"""Pages of connections and of statistics."""

import asyncio
from urllib.parse import quote

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.graph_drawing import MOST_DRAWN, draw, told
from bot.web.parts import WebParts
from bot.web.requests import visit
from core.domain.corpus import Document
from core.domain.features import Connection, DocumentConnections
from core.features.connections import Connections
from core.features.feedback import REASONS
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
            "drawing": await asyncio.to_thread(draw, graph.documents, graph.connections),
            "rows": [(titles[item.first], titles[item.second], told(item.links, item.together)) for item in rows],
            "total": graph.total,
            "path": document_path,
        },
    )


async def show_connections(request: web.Request) -> web.Response:
    """Show the connections of a document."""
    _, scope = await visit(request)
    found = await request.app[CONNECTIONS].of(request.match_info["document"], scope)
    drawn = [found.document, *(item.document for item in found.related)]
    return render_template(
        "connections.html",
        request,
        {
            "found": found,
            "drawing": draw(drawn, _around(found), found.document.id) if found.related else None,
            "told": told,
            "path": document_path,
        },
    )


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
    """Show the statistics of the last days, over the readable documents."""
    _, scope = await visit(request)
    found = await request.app[STATISTICS].of(scope)
    return render_template(
        "statistics.html", request, {"found": found, "days": DAYS, "path": document_path, "reasons": REASONS}
    )
