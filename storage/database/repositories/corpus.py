"""The library in SQL: sources, documents, pages and passages, every read inside its scope."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, TypeVar

from sqlalchemy import Row, Select, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.domain.corpus import Document, FileStamp, Page, Passage, SearchScope, Source, SourcedPassage
from core.errors import InvalidState, NotFound
from storage.database import Database
from storage.database.repositories.corpus_queries import (
    DOCUMENT,
    PAGE,
    PASSAGE,
    SOURCE,
    count_query,
    document_query,
    live_passage_query,
    page_query,
    passage_query,
    readable,
)
from storage.database.repositories.corpus_rows import (
    page_values,
    passage_values,
    stamp_values,
    to_document,
    to_document_row,
    to_page,
    to_source,
    to_sourced_passages,
)
from storage.database.tables import DocumentRow, SourceRow
from storage.revisions import check_revision

T = TypeVar("T", int, str)

# Other processes' changes: every one counts a document more or less, or is read later than all before it.
_VERSION = (
    select(
        SOURCE.c.id,
        SOURCE.c.name,
        func.count(DOCUMENT.c.id).label("documents"),
        func.max(DOCUMENT.c.crawled_at).label("newest"),
    )
    .select_from(SOURCE.outerjoin(DOCUMENT, DOCUMENT.c.source_id == SOURCE.c.id))
    .group_by(SOURCE.c.id, SOURCE.c.name)
)
IDS_PER_QUERY = 500  # SQLite built before 3.32 takes at most 999 values a query, and the scope needs some
MOST_NUMBER = 2**31 - 1  # that the column of page numbers holds


class SqlCorpusRepository:
    """CorpusRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._changes = count()  # of this process: exact, whatever clocks say
        self._change = next(self._changes)

    async def save_source(self, source: Source) -> None:
        await self._changing(lambda session: _save_source(session, source))

    async def find_source(self, workspace: str, name: str) -> Source | None:
        query = select(SOURCE).where(SOURCE.c.workspace == workspace, SOURCE.c.name == name)
        rows = await self._rows(query)
        return to_source(rows[0]) if rows else None

    async def list_sources(self, workspace: str) -> list[Source]:
        rows = await self._rows(select(SOURCE).where(SOURCE.c.workspace == workspace))
        # Sorted here and below, not in SQL: databases order letters each in their own way.
        return sorted((to_source(row) for row in rows), key=lambda source: source.name)

    async def remove_source(self, source_id: str) -> None:
        await self._changing(lambda session: session.execute(delete(SOURCE).where(SOURCE.c.id == source_id)))

    async def list_documents(self, workspace: str, source_ids: frozenset[str] | None = None) -> list[Document]:
        query = document_query().where(SOURCE.c.workspace == workspace)
        if source_ids is not None:
            query = query.where(SOURCE.c.id.in_(source_ids))
        return await asyncio.to_thread(_in_order, await self._rows(query))  # ten thousand take a while

    async def version(self, workspace: str) -> str:
        rows = await self._rows(_VERSION.where(SOURCE.c.workspace == workspace))
        told = sorted((row.id, row.name, row.documents, str(row.newest)) for row in rows)
        return f"{self._change} {told}"

    async def list_readable(self, scope: SearchScope) -> list[Document]:
        return await self._counted(await self.list_documents(scope.workspace, scope.sources), scope)

    async def get_document(self, document_id: str, scope: SearchScope) -> Document:
        query = document_query().where(DOCUMENT.c.id == document_id, *readable(scope))
        rows = await self._rows(query)
        if not rows:
            raise NotFound(
                f"There is no document {document_id!r} here that may be read; `footnote documents` lists them"
            )
        return (await self._counted([to_document(rows[0])], scope))[0]

    async def find_documents(self, document_ids: Sequence[str], scope: SearchScope) -> list[Document]:
        rows = await self._rows(
            *(document_query().where(DOCUMENT.c.id.in_(ids), *readable(scope)) for ids in _parts(document_ids))
        )
        found = {item.id: item for item in await self._counted([*map(to_document, rows)], scope)}
        return [found[document_id] for document_id in document_ids if document_id in found]

    async def switch_revision(self, document: Document, pages: Sequence[Page], passages: Sequence[Passage]) -> None:
        check_revision(document, pages, passages)
        await self._changing(lambda session: _switch_revision(session, document, pages, passages))

    async def save_failure(self, document: Document) -> None:
        await self._changing(lambda session: _save_failure(session, document))

    async def touch(self, document_id: str, stamp: FileStamp) -> None:
        change = update(DOCUMENT).where(DOCUMENT.c.id == document_id).values(stamp_values(stamp))
        await self._database.write(lambda session: session.execute(change))

    async def remove_document(self, document_id: str) -> None:
        change = delete(DOCUMENT).where(DOCUMENT.c.id == document_id)
        await self._changing(lambda session: session.execute(change))

    async def live_revisions(self) -> dict[tuple[str, str], int]:
        query = select(DOCUMENT.c.id, DOCUMENT.c.revision, DOCUMENT.c.passages).where(DOCUMENT.c.revision.is_not(None))
        return {(row.id, row.revision): row.passages for row in await self._rows(query)}

    async def list_live_passages(self, document_id: str) -> list[SourcedPassage]:
        return list(to_sourced_passages(await self._rows(live_passage_query(document_id))))

    async def get_page(self, page_id: str, scope: SearchScope) -> Page:
        rows = await self._rows(page_query(scope).where(PAGE.c.id == page_id))
        if not rows:
            raise NotFound(f"There is no page {page_id!r} here that may be read; search again for its present id")
        return to_page(rows[0])

    async def find_page(self, document_id: str, number: int, scope: SearchScope) -> Page | None:
        pages = await self.find_pages(document_id, [number], scope)
        return pages[0] if pages else None

    async def find_pages(self, document_id: str, numbers: Sequence[int], scope: SearchScope) -> list[Page]:
        wanted = [number for number in numbers if 0 < number <= MOST_NUMBER]
        here = page_query(scope).where(PAGE.c.document_id == document_id)
        rows = await self._rows(*(here.where(PAGE.c.number.in_(some)) for some in _parts(wanted)))
        found = {row.number: to_page(row) for row in rows}
        return [found[number] for number in wanted if number in found]

    async def list_pages(self, document_id: str, scope: SearchScope) -> list[Page]:
        query = page_query(scope).where(PAGE.c.document_id == document_id).order_by(PAGE.c.number)
        return [to_page(row) for row in await self._rows(query)]

    async def list_passages(self, passage_ids: Sequence[str], scope: SearchScope) -> list[SourcedPassage]:
        rows = await self._rows(*(passage_query(scope).where(PASSAGE.c.id.in_(ids)) for ids in _parts(passage_ids)))
        found = {item.passage.id: item for item in to_sourced_passages(rows)}
        return [found[passage_id] for passage_id in passage_ids if passage_id in found]

    async def list_page_passages(self, page_id: str, scope: SearchScope) -> list[SourcedPassage]:
        query = passage_query(scope).where(PASSAGE.c.page_id == page_id).order_by(PASSAGE.c.ordinal)
        return list(to_sourced_passages(await self._rows(query)))

    async def _changing(self, work: Callable[[Session], object]) -> None:
        try:
            await self._database.write(work)
        finally:
            self._change = next(self._changes)

    async def _counted(self, documents: list[Document], scope: SearchScope) -> list[Document]:
        """The same documents, those with a reading position with the counts of what it leaves to read."""
        bound = [document.id for document in documents if document.id in scope.positions]
        if not bound:
            return documents
        rows = await self._rows(*(count_query(scope).where(DOCUMENT.c.id.in_(ids)) for ids in _parts(bound)))
        counts = {row.document_id: (row.pages, row.passages) for row in rows}
        return [
            replace(document, pages=pages, passages=passages)
            for document in documents
            for pages, passages in [
                counts.get(document.id, (0, 0))
                if document.id in scope.positions
                else (document.pages, document.passages)
            ]
        ]

    async def _rows(self, *queries: Select[Any]) -> Sequence[Row[Any]]:
        """Of all queries, in one go; without any, nothing is asked."""
        if not queries:
            return []
        return await self._database.read_rows(
            lambda connection: [row for query in queries for row in connection.execute(query)]
        )


def _parts(keys: Sequence[T]) -> Iterator[list[T]]:
    """All that are asked for, each once, as many at a time as a query may take."""
    wanted = list(dict.fromkeys(keys))
    for start in range(0, len(wanted), IDS_PER_QUERY):
        yield wanted[start : start + IDS_PER_QUERY]


def _in_order(rows: Sequence[Row[Any]]) -> list[Document]:
    return sorted(map(to_document, rows), key=lambda document: (document.source, document.path))


def _save_source(session: Session, source: Source) -> None:
    session.merge(
        SourceRow(
            id=source.id,
            workspace=source.workspace,
            name=source.name,
            kind=source.kind,
            location=source.location,
            link_template=source.link_template,
        )
    )
    try:
        session.flush()
    except IntegrityError as error:
        raise InvalidState(f"Another source is called {source.name!r} already; choose another name") from error


def _switch_revision(session: Session, document: Document, pages: Sequence[Page], passages: Sequence[Passage]) -> None:
    _require_source(session, document)
    row = to_document_row(document)
    row.pages, row.passages = len(pages), len(passages)
    session.merge(row)
    session.flush()
    session.execute(delete(PAGE).where(PAGE.c.document_id == document.id))  # their passages go with them
    for table, rows in ((PAGE, map(page_values, pages)), (PASSAGE, map(passage_values, passages))):
        if values := list(rows):
            session.execute(insert(table), values)


def _save_failure(session: Session, document: Document) -> None:
    _require_source(session, document)
    row = session.get(DocumentRow, document.id)
    if row is None:
        row = to_document_row(document)
        row.revision, row.pages, row.passages = None, 0, 0
        session.add(row)
    row.failed_reason = document.failed_reason
    for name, value in stamp_values(document.stamp).items():
        setattr(row, name, value)


def _require_source(session: Session, document: Document) -> None:
    source = session.get(SourceRow, document.source_id)
    if source is None or source.workspace != document.workspace:
        raise NotFound(f"There is no source {document.source!r} for {document.path!r}; add the source first")
