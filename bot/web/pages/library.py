"""Pages of the library, of connections and of statistics."""

import asyncio
from urllib.parse import quote

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.graph_drawing import MOST_DRAWN, draw, told
from bot.web.pages.source import marked_path
from bot.web.parts import WebParts
from bot.web.requests import turn_to, visit
from core.domain.corpus import Document, PageHit, SearchQuery, Source
from core.domain.features import Connection, DocumentConnections
from core.features.connections import Connections
from core.features.statistics import DAYS, UsageStatistics
from core.text.markup import preview
from core.text.words import collapse

ROWS = 200  # documents on one page of the list
FAILURES = 100  # shown with reasons; the command line lists all
HITS = 20  # pages that a search shows
LONGEST_QUERY = 1_000  # characters
_SNIPPET = 280  # characters


async def show_library(request: web.Request) -> web.Response:
    """Show sources, documents and failures; with `?q=`, search hits."""
    parts, scope = await visit(request)
    query = collapse(request.query.get("q", ""))[:LONGEST_QUERY]
    documents = await parts.library.documents(scope)
    sources = [source for source in await parts.library.sources(parts.workspace) if source.id in scope.sources]
    hits = await parts.library.search(SearchQuery(text=query, limit=HITS), scope) if query and documents else []
    readable = [document for document in documents if document.pages]
    failed = [document for document in documents if document.failed_reason]
    own: dict[str, list[Document]] = {}
    for document in documents:
        own.setdefault(document.source_id, []).append(document)
    shown, numbers = turn_to(request, readable, ROWS)
    return render_template(
        "library.html",
        request,
        {
            "query": query,
            "hits": [_to_hit(hit) for hit in hits],
            "sources": [_to_source(source, own.get(source.id, [])) for source in sources],
            "documents": shown,
            "total": len(readable),
            **numbers,
            "failed": len(failed),
            "failures": failed[:FAILURES],
        },
    )


def _to_source(source: Source, own: list[Document]) -> dict[str, Source | int]:
    """Return a source with the counts of its documents."""
    failed = sum(1 for document in own if document.failed_reason)
    pages = sum(document.pages for document in own)
    return {"source": source, "readable": len(own) - failed, "failed": failed, "pages": pages}


def _to_hit(hit: PageHit) -> dict[str, str]:
    best = hit.passages[0].passage
    return {
        "title": hit.document.title,
        "where": " › ".join([f"page {hit.page_number}", *hit.heading_path]),
        "snippet": preview(best.text, hit.document.kind, _SNIPPET),
        "href": marked_path(hit.page_id, best.span),
    }


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
    return render_template("statistics.html", request, {"found": found, "days": DAYS, "path": document_path})


ROUTES = (web.get("/library", show_library),)
