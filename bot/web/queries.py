"""Queries of the library that the API and the command line share."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.domain.corpus import PageHit, SearchQuery, SearchScope
from core.domain.extracts import Extract, ExtractQuery, ExtractType
from core.knowledge.facts import FactQuery, Facts, FoundFacts, Trouble, of_extracts
from core.knowledge.library import Library, PageView
from core.serializers.library import extract_json, facts_json, page_hit_json, page_json, troubles_json
from core.serializers.objects import Json

MOST_FACTS = 10_000  # rows that a filter looks through for their extracts


class QueryParts(Protocol):
    @property
    def library(self) -> Library: ...

    @property
    def facts(self) -> Facts: ...


ALL = sys.maxsize  # extracts


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    query: str
    limit: int = 10  # pages at most
    kind: str | None = None
    document: str | None = None  # path, title or alias
    rerank: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    hits: Sequence[PageHit]
    summaries: Sequence[Extract]

    def to_json(self) -> Json:
        return {"hits": [page_hit_json(hit, self.summaries) for hit in self.hits]}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageResult:
    view: PageView
    extracts: Sequence[Extract]

    def to_json(self) -> Json:
        return page_json(self.view, self.extracts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractsRequest:
    type: ExtractType | None = None
    document: str | None = None
    filter: FactQuery | None = None  # only extracts with a matching row
    limit: int = ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractsResult:
    extracts: Sequence[Extract]
    rows: FoundFacts | None  # the matching rows
    troubles: Sequence[Trouble]
    total: int  # without the limit

    def to_json(self) -> Json:
        rows = facts_json(self.rows) if self.rows is not None else {}
        extracts: list[Json] = [extract_json(item) for item in self.extracts]
        return {"extracts": extracts, "total": self.total, **rows, "warnings": troubles_json(self.troubles)}


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsRequest:
    query: FactQuery
    document: str | None = None


async def search(parts: QueryParts, scope: SearchScope, request: SearchRequest) -> SearchResult:
    """Search pages by meaning and by words, best first."""
    query = SearchQuery(
        text=request.query,
        limit=request.limit,
        kind=request.kind,
        document_ids=await _document_ids(parts, scope, request.document),
        rerank=request.rerank,
    )
    hits = await parts.library.search(query, scope)
    return SearchResult(hits=hits, summaries=await parts.facts.summaries(hits, scope))


async def show_page(parts: QueryParts, scope: SearchScope, view: PageView) -> PageResult:
    """Add a page's extracts to its view."""
    return PageResult(view=view, extracts=await parts.facts.of_pages([view.page.id], scope))


async def list_extracts(parts: QueryParts, scope: SearchScope, request: ExtractsRequest) -> ExtractsResult:
    """List extracts by document and place, with the documents that may lack some."""
    ids = await _document_ids(parts, scope, request.document)
    troubles = await parts.facts.troubles(scope, ids)
    if request.filter is None:
        query = ExtractQuery(type=request.type, document_ids=ids, limit=ALL)
        listed = await parts.facts.list_extracts(query, scope)
        return ExtractsResult(extracts=listed[: request.limit], rows=None, troubles=troubles, total=len(listed))
    found = await parts.facts.find(of_extracts(request.filter, request.type), scope, ids)
    fitting = {row.fact.extract.id: row.fact.extract for row in found.rows}
    extracts = list(fitting.values())
    return ExtractsResult(extracts=extracts[: request.limit], rows=found, troubles=troubles, total=len(extracts))


async def find_facts(parts: QueryParts, scope: SearchScope, request: FactsRequest) -> FoundFacts:
    """Return the rows that fit a question, each with its footnote."""
    return await parts.facts.find(request.query, scope, await _document_ids(parts, scope, request.document))


async def _document_ids(parts: QueryParts, scope: SearchScope, name: str | None) -> frozenset[str]:
    return frozenset({(await parts.library.find_document(name, scope)).id}) if name else frozenset()
