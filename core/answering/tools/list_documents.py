"""The `list_documents` tool: which documents there are, by name, kind, source and day."""

import asyncio
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Literal

from pydantic import Field

from core.answering.tools.base import Arguments, Finding, ToolContext
from core.domain.corpus import Document
from core.errors import ToolRetry
from core.knowledge.catalogue import (
    DocumentFilter,
    changed_since,
    counts,
    document_line,
    latest_of,
    newest_first,
    select_documents,
    written_day,
)
from core.knowledge.facts.dates import Lean, Period, read_period

DEFAULT_LIMIT = 20
MAX_LIMIT = 50  # about 2,500 tokens


class ListDocumentsArguments(Arguments):
    words: str | None = Field(default=None, description="Words of title, path or alias.")
    kind: str | None = Field(default=None, description="E.g. markdown, pdf, html, text, foundry.")
    source: str | None = Field(default=None, description="Name of a source.")
    since: str | None = Field(
        default=None,
        description="First day: 2026-06-09, monday, last week, june. Also gives what was added or changed since.",
    )
    until: str | None = Field(default=None, description="Last day, or the end of such a time.")
    order: Literal["newest", "title"] = Field(
        default="newest",
        description="newest: by their own date, up to today unless since or until is given; title: all of them.",
    )
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, description="How many.", json_schema_extra={"maximum": MAX_LIMIT})
    offset: int = Field(default=0, ge=0, description="How many to skip, to go on with a list.")


class ListDocumentsTool:
    name = "list_documents"
    description = (
        "List the documents that can be read here, with path, title, date, kind and number of pages: what there is, "
        "what is new, the latest ones (the last two meetings) before you read them. It does not look inside them."
    )
    arguments = ListDocumentsArguments

    async def run(self, arguments: ListDocumentsArguments, context: ToolContext) -> Finding:
        readable = [
            document
            for document in await context.corpus.list_readable(context.scope)
            if not context.document_ids or document.id in context.document_ids
        ]
        since, until = _days(arguments.since, context), _days(arguments.until, context)
        wanted = DocumentFilter(
            words=arguments.words or "",
            kind=arguments.kind,
            source=arguments.source,
            since=since.start if since else None,
            until=until.end - timedelta(days=1) if until else None,
        )
        fitting = await asyncio.to_thread(select_documents, readable, wanted)  # ten thousand names take a while
        found = _ordered(fitting, arguments, context.facts.today)
        limit = min(arguments.limit, MAX_LIMIT)
        shown = found[arguments.offset : arguments.offset + limit]
        lines = [_heading(found, shown, arguments), *map(document_line, shown)]
        left = len(found) - arguments.offset - len(shown)
        lines += [f"{left} more: call again with offset {arguments.offset + len(shown)}."] * (left > 0)
        if since is not None and until is None:
            undated = DocumentFilter(words=wanted.words, kind=wanted.kind, source=wanted.source)
            of_any_day = await asyncio.to_thread(select_documents, readable, undated)
            lines += _changed(of_any_day, found, since.start, limit, context)
        if not found:
            lines += _instead(readable)
        return Finding(text="\n".join(lines))


def _ordered(found: Sequence[Document], arguments: ListDocumentsArguments, today: date) -> list[Document]:
    if arguments.order == "title":
        return sorted(found, key=lambda document: (document.title.casefold(), document.path))
    if arguments.since is None and arguments.until is None:
        past = latest_of(found, today)
        known = {document.id for document in past}
        return [*past, *(document for document in newest_first(found) if document.id not in known)]
    return newest_first(found)


def _days(text: str | None, context: ToolContext) -> Period | None:
    if text is None:
        return None
    period = read_period(text, context.facts.today, Lean.PAST)
    if period is None:
        raise ToolRetry(f"{text!r} is no day: write 2026-06-09, 2026-06, monday, yesterday, last week or june 2026.")
    return period


def _heading(found: Sequence[Document], shown: Sequence[Document], arguments: ListDocumentsArguments) -> str:
    given = arguments.model_dump(include={"words", "kind", "source", "since", "until"}, exclude_none=True)
    filters = f" for {', '.join(f'{name} {value!r}' for name, value in given.items())}" if given else ""
    count = "1 document" if len(found) == 1 else f"{len(found)} documents"
    part = f", {arguments.offset + 1} to {arguments.offset + len(shown)}" if shown and len(shown) < len(found) else ""
    order = "by title" if arguments.order == "title" else "newest first"
    return f"{count}{filters}{part}{f', {order}' if len(found) > 1 else ''}{':' if shown else '.'}"


def _changed(
    documents: Sequence[Document], dated: Sequence[Document], start: date, limit: int, context: ToolContext
) -> list[str]:
    """Return the lines about documents that were read since, and that have another day or none."""
    known = {document.id for document in dated}
    others = [item for item in changed_since(documents, start, context.facts.now) if item.id not in known]
    if not others:
        return [f"No other document was added or changed here since {written_day(start)}."]
    more = [f"and {len(others) - limit} more."] * (len(others) > limit)
    count = "1 other document" if len(others) == 1 else f"{len(others)} other documents"
    return [
        f"Added or changed here since {written_day(start)}, with another date or none: {count}.",
        *map(document_line, others[:limit]),
        *more,
    ]


def _instead(readable: Sequence[Document]) -> list[str]:
    with_text = [document for document in readable if document.revision is not None]
    if not with_text:
        return ["No document can be read here."]
    kinds: dict[str, int] = {}
    sources: dict[str, int] = {}
    for document in with_text:
        kinds[document.kind] = kinds.get(document.kind, 0) + 1
        sources[document.source] = sources.get(document.source, 0) + 1
    return [f"There are {len(with_text)} in all: {counts(kinds)}; by source: {counts(sources)}."]
