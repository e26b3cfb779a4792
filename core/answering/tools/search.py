"""The `search` tool: pages that match, with their best passages to quote."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from pydantic import Field

from core.answering.tools.base import Arguments, Finding, ToolContext, document_named
from core.domain.corpus import Document, PageHit, SearchQuery
from core.knowledge.search.searching import LONG

DEFAULT_LIMIT = 10
MAX_LIMIT = 20
# More passages of one page add little: who needs the rest reads the page. The best page gives more: where pages are
# long (a chapter, a book without chapters), the answer is often not among its first three.
PASSAGES_PER_PAGE = 3
PASSAGES_OF_BEST_PAGE = 6

# Of the first DEFAULT_LIMIT pages, those whose score is below this share of the best one's are left out, beyond the
# first few. On 95 questions over two libraries, later pages with the answer had .79 or more, but for
# one of a book: pages of one long document score alike, so they all stay.
FLOOR = 0.5
ABOVE_FLOOR = 3  # pages at least

# A page of the conversation's focus stays ahead of a page elsewhere that scores up to this factor better. On real
# documents the fused score of the best hit is 2 to 5 times that of the tenth: enough to tip close calls,
# never to bury a clear hit.
SECTION_WEIGHT = 1.25  # the sections last cited
DOCUMENT_WEIGHT = 1.15  # the rest of its document


class SearchArguments(Arguments):
    query: str = Field(description="Keywords or a question, understandable without the conversation.")
    limit: int = Field(
        default=DEFAULT_LIMIT,
        ge=1,
        description=f"How many pages. Above {DEFAULT_LIMIT}: also those that match far less than the best.",
        json_schema_extra={"maximum": MAX_LIMIT},
    )
    document: str | None = Field(default=None, description="Path, title or alias of the one document to search.")
    kind: str | None = Field(default=None, description="Kind of document, as of list_documents.")


class SearchTool:
    name = "search"
    description = (
        "Search the library by meaning and by words. Gives the pages that match best, each with page_id, score and the "
        "passages to quote. If they do not answer, search again with other words."
    )
    arguments = SearchArguments

    async def run(self, arguments: SearchArguments, context: ToolContext) -> Finding:
        query = SearchQuery(
            text=arguments.query,
            limit=min(arguments.limit, MAX_LIMIT),
            kind=arguments.kind,
            document_ids=await ids_of(arguments.document, context),
            rerank=context.rerank,
        )
        hits = await find_pages(query, context)
        return to_finding(query, hits if query.limit > DEFAULT_LIMIT or query.rerank else above_floor(hits))


def above_floor(hits: Sequence[PageHit]) -> list[PageHit]:
    """Return the pages, best first, without pages that match far less than the best one."""
    if not hits:
        return []
    best = hits[0]
    lowest = best.score * FLOOR if best.score > 0 else best.score
    long = best.document.id if best.document.passages >= LONG else None
    return [
        hit for place, hit in enumerate(hits) if place < ABOVE_FLOOR or hit.score >= lowest or hit.document.id == long
    ]


async def ids_of(name: str | None, context: ToolContext) -> frozenset[str]:
    """Return the id of the document that a model names; without a name, the documents the question is limited to."""
    return context.document_ids if name is None else frozenset({(await document_named(name, context)).id})


async def find_pages(query: SearchQuery, context: ToolContext) -> list[PageHit]:
    """Return at most `limit` pages, best first, with more weight on the conversation's subject (`merge_focus`).

    A query with a thing's alias is searched with its main name, too.
    """
    names = await context.facts.aliases.main_names(query.text, context.scope)
    query = replace(query, text=" ".join([query.text, *names]))
    about = context.linked | ({context.focus.document_id} if context.focus is not None else frozenset())
    sections = frozenset(context.focus.sections) if context.focus is not None else frozenset()
    if not about or query.document_ids:
        hits = await context.library.search(query, context.scope)
        return merge_focus([], hits, about, sections)[: query.limit]
    near, everywhere = await asyncio.gather(
        context.library.search(replace(query, document_ids=about), context.scope),
        context.library.search(query, context.scope),
    )
    return merge_focus(near, everywhere, about, sections)[: query.limit]


def merge_focus(
    near: Sequence[PageHit], everywhere: Sequence[PageHit], about: frozenset[str], sections: frozenset[str]
) -> list[PageHit]:
    """Merge a search within the documents `about` and an open one into one list, best first.

    Pages of these documents, and still more the pages `sections`, get more weight: they win unless another page is
    clearly better. Scores compare only within one search, so the open search's scores count. A page found only in
    these documents was worse than everything in the open search: it gets the last score there (its own if the open
    search found nothing), and keeps its order.
    """
    scores = {hit.page_id: hit.score for hit in everywhere}
    last = min(scores.values(), default=None)
    hits = {hit.page_id: hit for hit in [*near, *everywhere]}
    weighted = []
    for hit in hits.values():
        score = scores.get(hit.page_id, hit.score if last is None else last)
        weight = SECTION_WEIGHT if hit.page_id in sections else DOCUMENT_WEIGHT if hit.document.id in about else 1.0
        # A score below zero grows by division; the weight must never push a page down.
        weighted.append(replace(hit, score=score * weight if score >= 0 else score / weight))
    return sorted(weighted, key=lambda hit: -hit.score)


def to_finding(query: SearchQuery, hits: Sequence[PageHit]) -> Finding:
    """Return the hits as a tool's result."""
    searches = (query.text,)
    if not hits:
        where = " in this document" if query.document_ids else f" of kind {query.kind!r}" if query.kind else ""
        text = f"Nothing was found for {query.text!r}{where}. Try other words: synonyms, names, broader terms."
        return Finding(text=text, searches=searches)
    others = (passage for hit in hits[1:] for passage in hit.passages[:PASSAGES_PER_PAGE])
    passages = (*hits[0].passages[:PASSAGES_OF_BEST_PAGE], *others)
    lines = [f"{len(hits)} pages for {query.text!r}, best first:" if len(hits) > 1 else f"1 page for {query.text!r}:"]
    lines.extend(
        f"- {describe_place(hit.document, hit.page_number, hit.heading_path)} "
        f"(page_id {hit.page_id}, score {hit.score:.2f})"
        for hit in hits
    )
    return Finding(text="\n".join(lines), passages=passages, searches=searches)


def describe_place(document: Document, page_number: int, heading_path: Sequence[str]) -> str:
    """`"Title" (path), page 3, Chapter > Section`; a page whose first heading repeats its title is named once."""
    place = f'"{document.title}" ({document.path}), page {page_number}'
    return ", ".join(filter(None, [place, " > ".join(title for title, _ in groupby(heading_path))]))
