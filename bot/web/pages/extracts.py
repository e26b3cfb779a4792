"""Pages of extracted data, by type and document, with a filter; without a script."""

from collections.abc import Collection
from dataclasses import replace
from urllib.parse import urlencode

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.pages.source import marked_path
from bot.web.parts import WebParts
from bot.web.requests import turn_to, visit
from core.domain.corpus import Document, SearchScope
from core.domain.extracts import ExtractType
from core.errors import BadInput
from core.knowledge.facts import EXTRACT_TYPES, CitedFact, FactQuery, FactType, FoundFacts, Value, read_types
from core.text.markup import readable
from core.text.words import collapse, shorten

ROWS = 100  # on one page
MOST_ROWS = 10_000  # in all pages
NEWEST_DOCUMENTS, NEWEST_ROWS = 20, 30  # shown without a choice
# Rows that people look for; the structure of documents is shown by choice.
_OPENING = frozenset(FactType) - {FactType.ENTITY, FactType.RELATION, FactType.ANCHOR, FactType.PAGE, FactType.TABLE}
LONGEST_FILTER = 1_000  # characters
_FIELD, _QUOTE = 300, 240  # characters
PATH = "/library/extracts"


async def show_extracts(request: web.Request) -> web.Response:
    """Show the rows that match `?q=`, `type=` and `document=` (its ID)."""
    parts, scope = await visit(request)
    asked = collapse(request.query.get("q", ""))[:LONGEST_FILTER]
    chosen = request.query.get("type", "")
    document_id = request.query.get("document", "")
    document = await parts.corpus.get_document(document_id, scope) if document_id else None
    counts = await parts.facts.counts(scope)
    problem, found, newest = "", None, list[str]()
    try:
        query = _to_query(parts, asked, chosen, bool(document))
        ids = frozenset({document.id}) if document else frozenset[str]()
        is_opening = not (document or asked or chosen)
        newest = await _newest(parts, scope) if is_opening else []
        query = replace(query, types=_OPENING) if is_opening else query
        if newest or not is_opening:
            found = await parts.facts.find(query, scope, ids or frozenset(newest))
    except BadInput as error:
        problem = str(error)
    rows = found.rows if found is not None else ()
    if newest:
        rows = tuple(sorted(rows, key=lambda row: newest.index(row.citation.document_id))[:NEWEST_ROWS])
    shown, numbers = turn_to(request, rows, ROWS)
    return render_template(
        "extracts.html",
        request,
        {
            "asked": asked,
            "type": chosen,
            "document": document,
            "problem": problem,
            "found": found,
            "said": _said(found),
            "is_opening": bool(newest) or not (document or asked or chosen or problem),
            "rows": [_to_row(row) for row in shown],
            "types": _links(counts, chosen, asked, document),
            **numbers,
            "turn": lambda number: _href(asked, chosen, document, page=number),
        },
    )


async def _newest(parts: WebParts, scope: SearchScope) -> list[str]:
    """Return the IDs of the documents that were read last, the newest first."""
    read = sorted(
        await parts.library.documents(scope),
        key=lambda document: -document.crawled_at.timestamp() if document.crawled_at else 0,
    )
    return [document.id for document in read[:NEWEST_DOCUMENTS]]


def _to_query(parts: WebParts, asked: str, chosen: str, is_of_document: bool) -> FactQuery:
    query = parts.facts.read(asked, MOST_ROWS) if asked else FactQuery(limit=MOST_ROWS)
    if chosen:
        return replace(query, types=read_types(chosen), limit=MOST_ROWS)
    whole = frozenset(FactType) if is_of_document and not asked else query.types
    return replace(query, types=whole, limit=MOST_ROWS)


def _said(found: FoundFacts | None) -> str:
    if found is None:
        return ""
    rows = "1 row" if found.total == 1 else f"{found.total:,} rows"
    unknown = f"; {found.unknown} more have no date or number to compare" if found.unknown else ""
    return f"{rows}{unknown}"


def _links(
    there: Collection[ExtractType], chosen: str, asked: str, document: Document | None
) -> list[dict[str, str | bool]]:
    """Return the links to all types, then to each one that is there."""
    kinds = ["", *(kind.value for kind in FactType if EXTRACT_TYPES[kind] in there)]
    return [
        {"label": kind.replace("_", " ") or "all", "href": _href(asked, kind, document), "is_open": chosen == kind}
        for kind in kinds
    ]


def _href(asked: str, chosen: str, document: Document | None, page: int = 1) -> str:
    given = {"q": asked, "type": chosen, "document": document.id if document else "", "page": page if page > 1 else ""}
    query = urlencode({name: value for name, value in given.items() if value})
    return f"{PATH}?{query}" if query else PATH


def _to_row(row: CitedFact) -> dict[str, object]:
    citation = row.citation
    return {
        "type": row.fact.type.value.replace("_", " "),
        "fields": [(name.replace("_", " "), _shown(value)) for name, value in row.fact.fields.items()],
        "document": citation.document_title,
        "where": " › ".join([f"page {citation.page_number}", *citation.heading_path]),
        "quote": shorten(" ".join(filter(None, map(readable, citation.quote.splitlines()))), _QUOTE),
        "href": marked_path(citation.page_id, citation.span),
        "sure": f"{row.fact.extract.confidence:.0%}",
    }


def _shown(value: Value) -> str:
    return shorten(", ".join(value) if isinstance(value, tuple) else str(value), _FIELD)


ROUTES = (web.get(PATH, show_extracts),)
