"""The library: what can be read here, what could not be read and why, and a search over all of it."""

from dataclasses import dataclass
from urllib.parse import urlencode

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.marking import CITED
from bot.web.pages.source import page_path
from bot.web.parts import PARTS
from bot.web.requests import person_of
from core.domain.corpus import Document, PageHit, SearchQuery, Source
from core.text.markup import preview
from core.text.words import collapse

ROWS = 200  # documents on one page of the list
FAILURES = 100  # shown with their reasons; the command line lists them all
HITS = 20  # pages that a search shows
LONGEST_QUERY = 1_000  # characters; beyond it a search has no sense
_SNIPPET = 280  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A source and what became of its documents."""

    source: Source
    readable: int
    failed: int
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HitRow:
    """A page that a search found."""

    title: str
    where: str
    snippet: str
    href: str


def add_library_pages(app: web.Application) -> None:
    """Routes of the library."""
    app.router.add_get("/library", show_library)


async def show_library(request: web.Request) -> web.Response:
    """Sources, documents and failures; with `?q=`, what a search finds."""
    parts = request.app[PARTS]
    query = collapse(request.query.get("q", ""))[:LONGEST_QUERY]
    scope = await parts.scope(None, person_of(request))
    documents = await parts.library.documents(scope)
    sources = [source for source in await parts.library.sources(parts.workspace) if source.id in scope.sources]
    hits = await parts.library.search(SearchQuery(text=query, limit=HITS), scope) if query and documents else []
    readable = [document for document in documents if document.pages]
    failed = [document for document in documents if document.failed_reason]
    own: dict[str, list[Document]] = {}
    for document in documents:
        own.setdefault(document.source_id, []).append(document)
    page = _page(request.query.get("page", "1"), len(readable))
    return render_template(
        "library.html",
        request,
        {
            "query": query,
            "hits": [_to_hit(hit) for hit in hits],
            "sources": [_to_source(source, own.get(source.id, [])) for source in sources],
            "documents": readable[(page - 1) * ROWS : page * ROWS],
            "total": len(readable),
            "page": page,
            "last_page": max(1, -(-len(readable) // ROWS)),
            "failed": len(failed),
            "failures": failed[:FAILURES],
        },
    )


def _page(text: str, rows: int) -> int:
    last = max(1, -(-rows // ROWS))
    return min(max(int(text), 1), last) if text.isascii() and text.isdigit() and len(text) < 7 else 1


def _to_source(source: Source, own: list[Document]) -> SourceRow:
    failed = sum(1 for document in own if document.failed_reason)
    return SourceRow(
        source=source, readable=len(own) - failed, failed=failed, pages=sum(document.pages for document in own)
    )


def _to_hit(hit: PageHit) -> HitRow:
    best = hit.passages[0].passage
    marked = urlencode({"from": best.span.start, "to": best.span.end})
    return HitRow(
        title=hit.document.title,
        where=" › ".join([f"page {hit.page_number}", *hit.heading_path]),
        snippet=preview(best.text, hit.document.kind, _SNIPPET),
        href=f"{page_path(hit.page_id)}?{marked}#{CITED}",
    )
