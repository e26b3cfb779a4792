"""How documents hang together: what links to one, what is cited with it, the threads that cite it, and all as a graph.

Drawn on this side, as SVG: no script is needed, and none from elsewhere could run.
"""

import asyncio
from urllib.parse import quote

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.graph_drawing import MOST_DRAWN, draw, told
from bot.web.parts import PARTS, WebParts
from bot.web.requests import person_of
from core.domain.corpus import Document
from core.domain.features import Connection, DocumentConnections
from core.features.connections import Connections

CONNECTIONS = web.AppKey("connections", Connections)


def add_connection_pages(app: web.Application, parts: WebParts, connections: Connections) -> None:
    """Routes of the graph and of each document's connections (a WebAddition)."""
    app[CONNECTIONS] = connections
    app.router.add_get("/library/graph", show_graph)
    app.router.add_get("/library/documents/{document}/connections", show_connections)


def document_path(document: Document) -> str:
    """Where a document is shown, on this host."""
    return f"/library/documents/{quote(document.id, safe='')}"


async def show_graph(request: web.Request) -> web.Response:
    """The best connected documents, drawn, and the lines between them as a list."""
    scope = await request.app[PARTS].scope(None, person_of(request))
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
    """What one document is connected with."""
    scope = await request.app[PARTS].scope(None, person_of(request))
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
    """The lines from a document to those around it."""
    return [
        Connection(
            first=found.document.id,
            second=item.document.id,
            links=item.links_to + item.linked_from,
            together=item.together,
        )
        for item in found.related
    ]
