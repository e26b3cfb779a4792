"""The `find_extracts` tool: rows of data that were found when documents arrived, by type, filters and document."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from core.answering.tools.base import Arguments, Finding, ToolContext, within
from core.answering.tools.search import find_pages, ids_of, to_finding
from core.domain.corpus import SearchQuery, SourcedPassage
from core.errors import BadInput, ToolRetry
from core.knowledge.facts import CitedFact, FactQuery, FactType, FoundFacts, read_types
from core.text.words import shorten

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
FIELD_CHARACTERS = 300
# Of the passages that rows are cited by, about 1,500 tokens; of raw text, as much as `query_journal` reads.
CITED_CHARACTERS = 6_000
RAW_CHARACTERS = 24_000
PAGES_OFFERED = 3  # if nothing fits


class FindExtractsArguments(Arguments):
    query: str | None = Field(
        default=None,
        description="Filters and words, all of which have to fit: `owner:Ann due<2026-12-01 open`, `metric:revenue "
        "value>1000`, `ferry`. field:words, field=exactly, != < <= > >= for dates and numbers; columns of tables are "
        "fields.",
    )
    type: str | None = Field(default=None, description=f"One of {', '.join(kind.value for kind in FactType)}.")
    document: str | None = Field(default=None, description="Path, title or alias of a document.")
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, description="How many.", json_schema_extra={"maximum": MAX_LIMIT})
    raw: bool = Field(default=False, description="Also give the text around the rows.")


class FindExtractsTool:
    name = "find_extracts"
    description = (
        "Look up rows of data that was extracted from documents, with the passages to cite. Use it for lists, counts "
        "and facts with owners, dates or numbers; use `search` for everything else."
    )
    arguments = FindExtractsArguments

    async def run(self, arguments: FindExtractsArguments, context: ToolContext) -> Finding:
        query = _to_query(arguments, context)
        document_ids = await ids_of(arguments.document, context)
        try:
            found = await context.facts.find(query, context.scope, document_ids)
        except BadInput as error:
            raise ToolRetry(str(error)) from error
        if not found.rows:
            return await nothing_found(_unfitting(found), _words_of(arguments), document_ids, context)
        lines = [_heading(found), *(row_line(row) for row in found.rows)]
        passages = await context.facts.passages(found.rows, context.scope)
        if arguments.raw:
            passages = await _raw(found.rows, context) or passages
        shown = within(passages, RAW_CHARACTERS if arguments.raw else CITED_CHARACTERS)
        return Finding(text="\n".join([*lines, *left_out(shown, passages)]), passages=shown, searches=(str(query),))


def row_line(row: CitedFact) -> str:
    """`- page 3, span 10-42 of "Council" (minutes/council.md, page_id p1): action_item; owner: Ann; ...`."""
    citation, fact = row.citation, row.fact
    place = f"page {fact.page_number}, span {fact.span.start}-{fact.span.end}"
    fields = "; ".join(
        f"{name}: {shorten(', '.join(value) if isinstance(value, tuple) else str(value), FIELD_CHARACTERS)}"
        for name, value in fact.fields.items()
    )
    where = f'"{citation.document_title}" ({citation.document}, page_id {citation.page_id})'
    return f"- {place} of {where}: {fact.type.value}; {fields}"


def left_out(shown: Sequence[SourcedPassage], passages: Sequence[SourcedPassage]) -> list[str]:
    left = len(passages) - len(shown)
    return [f"{left} more passages did not fit: ask for fewer rows, or read their pages with get_page."] * (left > 0)


async def nothing_found(said: str, words: str, document_ids: frozenset[str], context: ToolContext) -> Finding:
    """Say so, and return the pages that a search for the same words finds."""
    query = SearchQuery(text=words, limit=PAGES_OFFERED, document_ids=document_ids, rerank=context.rerank)
    hits = await find_pages(query, context)
    if not hits:
        return Finding(text=f"{said} No page fits either: try other words.", searches=(words,))
    pages = to_finding(query, [replace(hit, passages=hit.passages[:1]) for hit in hits])
    return replace(pages, text=f"{said} The best pages instead, {pages.text}")


def _to_query(arguments: FindExtractsArguments, context: ToolContext) -> FactQuery:
    if arguments.query is None and arguments.type is None and arguments.document is None:
        raise ToolRetry("find_extracts needs a query, a type or a document.")
    limit = min(arguments.limit, MAX_LIMIT)
    try:
        types = read_types(arguments.type) if arguments.type is not None else frozenset[FactType]()
        query = context.facts.read(arguments.query, limit) if arguments.query is not None else FactQuery(limit=limit)
    except BadInput as error:
        raise ToolRetry(str(error)) from error
    if query.document is not None:
        raise ToolRetry("Give the document as the argument `document`, not in the query.")
    return replace(query, types=types or query.types)


def _words_of(arguments: FindExtractsArguments) -> str:
    said = (arguments.query, arguments.type, arguments.document)
    return next(text for text in said if text is not None)


def _heading(found: FoundFacts) -> str:
    count = f"{len(found.rows)} of {found.total} rows" if found.total > len(found.rows) else f"{found.total} rows"
    unknown = f" {found.unknown} more have no date or number to compare." if found.unknown else ""
    return f"{count} for `{found.query}`.{unknown}"


def _unfitting(found: FoundFacts) -> str:
    unknown = f" ({found.unknown} have no date or number to compare)" if found.unknown else ""
    return f"No extract fits `{found.query}`{unknown}."


async def _raw(rows: Sequence[CitedFact], context: ToolContext) -> list[SourcedPassage]:
    """Return all passages of the rows' pages."""
    pages = dict.fromkeys(row.citation.page_id for row in rows)
    return [item for page in pages for item in await context.corpus.list_page_passages(page, context.scope)]
