"""The library in SQL: sources, documents, pages and passages. Every read is inside its scope."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import count
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Select, case, delete, func, select, true, type_coerce, update
from sqlalchemy.exc import IntegrityError

from core.domain.corpus import Document, FileStamp, Heading, Page, PagePlace, SearchScope, Source, SourcedPassage
from core.domain.passages import Passage, Span
from core.errors import InvalidState, NotFound
from storage.database import Database
from storage.database.column_types import CompactJson, StorableText, from_compact_json
from storage.database.repositories.revisions import (
    DOCUMENT,
    PAGE,
    PASSAGE,
    SOURCE,
    check_revision,
    save_failure,
    stamp_values,
    switch_revision,
)

T = TypeVar("T", int, str)

_PAGES = PAGE.join(DOCUMENT, PAGE.c.document_id == DOCUMENT.c.id).join(SOURCE, DOCUMENT.c.source_id == SOURCE.c.id)


def _undecoded(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return JSON as its text: rows repeat it (100 passages of 10 documents), so it is decoded only where needed."""
    return type_coerce(column, StorableText) if isinstance(column.type, CompactJson) else column


_DOCUMENT_COLUMNS = (
    *(_undecoded(column).label(f"document_{column.name}") for column in DOCUMENT.c),
    SOURCE.c.workspace.label("document_workspace"),
    SOURCE.c.name.label("document_source"),
    SOURCE.c.kind.label("document_source_kind"),
)
_DOCUMENT_LABELS = frozenset(column.name for column in _DOCUMENT_COLUMNS)

# Built once: with forty columns, building takes longer than running.
_OF_DOCUMENTS = select(*_DOCUMENT_COLUMNS).select_from(DOCUMENT.join(SOURCE))
_OF_PAGES = select(PAGE).select_from(_PAGES)
_OF_PASSAGES = select(
    *(_undecoded(column).label(column.name) for column in PASSAGE.c),
    PAGE.c.number.label("page_number"),
    PAGE.c.revision.label("page_revision"),
    PAGE.c.title.label("page_title"),
    PAGE.c.deep_link.label("page_deep_link"),
    *_DOCUMENT_COLUMNS,
).select_from(PASSAGE.join(_PAGES, PASSAGE.c.page_id == PAGE.c.id))

# Shows other processes' changes: each changes the number of documents or the time of the newest crawl.
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
MOST_NUMBER = 2**31 - 1  # limit of the column for page numbers


class SqlCorpusRepository:
    """CorpusRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._changes = count()  # of this process: exact, independent of clocks
        self._change = next(self._changes)

    async def save_source(self, source: Source) -> None:
        await self._changing(lambda connection: self._save_source(connection, source))

    async def find_source(self, workspace: str, name: str) -> Source | None:
        query = select(SOURCE).where(SOURCE.c.workspace == workspace, SOURCE.c.name == name)
        rows = await self._rows(query)
        return Source(**rows[0]._mapping) if rows else None

    async def list_sources(self, workspace: str) -> list[Source]:
        rows = await self._rows(select(SOURCE).where(SOURCE.c.workspace == workspace))
        # Sorted here and below, not in SQL: each database orders letters differently.
        return sorted((Source(**row._mapping) for row in rows), key=lambda source: source.name)

    async def remove_source(self, source_id: str) -> None:
        await self._changing(lambda connection: connection.execute(delete(SOURCE).where(SOURCE.c.id == source_id)))

    async def list_documents(self, workspace: str, source_ids: frozenset[str] | None = None) -> list[Document]:
        query = _OF_DOCUMENTS.where(SOURCE.c.workspace == workspace)
        if source_ids is not None:
            query = query.where(SOURCE.c.id.in_(source_ids))
        return await asyncio.to_thread(_in_order, await self._rows(query))  # ten thousand take a while

    async def version(self, workspace: str) -> str:
        rows = await self._rows(_VERSION.where(SOURCE.c.workspace == workspace))
        state = sorted((row.id, row.name, row.documents, str(row.newest)) for row in rows)
        return f"{self._change} {state}"

    async def list_readable(self, scope: SearchScope) -> list[Document]:
        return await self._counted(await self.list_documents(scope.workspace, scope.sources), scope)

    async def get_document(self, document_id: str, scope: SearchScope) -> Document:
        query = _OF_DOCUMENTS.where(DOCUMENT.c.id == document_id, *readable(scope))
        rows = await self._rows(query)
        if not rows:
            raise NotFound(
                f"There is no document {document_id!r} here that may be read; `footnote documents` lists them"
            )
        return (await self._counted([_to_document(rows[0])], scope))[0]

    async def find_documents(self, document_ids: Sequence[str], scope: SearchScope) -> list[Document]:
        rows = await self._rows(
            *(_OF_DOCUMENTS.where(DOCUMENT.c.id.in_(ids), *readable(scope)) for ids in parts(document_ids))
        )
        found = {item.id: item for item in await self._counted([*map(_to_document, rows)], scope)}
        return [found[document_id] for document_id in document_ids if document_id in found]

    async def switch_revision(self, document: Document, pages: Sequence[Page], passages: Sequence[Passage]) -> None:
        check_revision(document, pages, passages)
        await self._changing(lambda connection: switch_revision(connection, self._database, document, pages, passages))

    async def save_failure(self, document: Document) -> None:
        await self._changing(lambda connection: save_failure(connection, document))

    async def touch(self, document_id: str, stamp: FileStamp) -> None:
        change = update(DOCUMENT).where(DOCUMENT.c.id == document_id).values(stamp_values(stamp))
        await self._database.write(lambda connection: connection.execute(change))

    async def remove_document(self, document_id: str) -> None:
        change = delete(DOCUMENT).where(DOCUMENT.c.id == document_id)
        await self._changing(lambda connection: connection.execute(change))

    async def live_revisions(self) -> dict[tuple[str, str], int]:
        query = select(DOCUMENT.c.id, DOCUMENT.c.revision, DOCUMENT.c.passages).where(DOCUMENT.c.revision.is_not(None))
        return {(row.id, row.revision): row.passages for row in await self._rows(query)}

    async def list_live_passages(self, document_id: str) -> list[SourcedPassage]:
        query = _OF_PASSAGES.where(DOCUMENT.c.id == document_id).order_by(PAGE.c.number, PASSAGE.c.ordinal)
        return list(_to_sourced_passages(await self._rows(query)))

    async def get_page(self, page_id: str, scope: SearchScope) -> Page:
        rows = await self._rows(_OF_PAGES.where(*_visible(scope)).where(PAGE.c.id == page_id))
        if not rows:
            raise NotFound(f"There is no page {page_id!r} here that may be read; search again for its present id")
        return _to_page(rows[0])

    async def find_page(self, document_id: str, number: int, scope: SearchScope) -> Page | None:
        pages = await self.find_pages(document_id, [number], scope)
        return pages[0] if pages else None

    async def find_pages(self, document_id: str, numbers: Sequence[int], scope: SearchScope) -> list[Page]:
        wanted = [number for number in numbers if 0 < number <= MOST_NUMBER]
        here = _OF_PAGES.where(*_visible(scope)).where(PAGE.c.document_id == document_id)
        rows = await self._rows(*(here.where(PAGE.c.number.in_(some)) for some in parts(wanted)))
        found = {row.number: _to_page(row) for row in rows}
        return [found[number] for number in wanted if number in found]

    async def list_pages(self, document_id: str, scope: SearchScope) -> list[Page]:
        query = _OF_PAGES.where(*_visible(scope)).where(PAGE.c.document_id == document_id).order_by(PAGE.c.number)
        return [_to_page(row) for row in await self._rows(query)]

    async def list_passages(self, passage_ids: Sequence[str], scope: SearchScope) -> list[SourcedPassage]:
        visible = _OF_PASSAGES.where(*_visible(scope))
        rows = await self._rows(*(visible.where(PASSAGE.c.id.in_(ids)) for ids in parts(passage_ids)))
        found = {item.passage.id: item for item in _to_sourced_passages(rows)}
        return [found[passage_id] for passage_id in passage_ids if passage_id in found]

    async def list_page_passages(self, page_id: str, scope: SearchScope) -> list[SourcedPassage]:
        query = _OF_PASSAGES.where(*_visible(scope)).where(PASSAGE.c.page_id == page_id).order_by(PASSAGE.c.ordinal)
        return list(_to_sourced_passages(await self._rows(query)))

    async def _changing(self, work: Callable[[Connection], object]) -> None:
        try:
            await self._database.write(work, is_shared=False)
        finally:
            self._change = next(self._changes)

    def _save_source(self, connection: Connection, source: Source) -> None:
        try:
            connection.execute(self._database.upsert(SOURCE), asdict(source))
        except IntegrityError as error:
            raise InvalidState(f"Another source is called {source.name!r} already; choose another name") from error

    async def _counted(self, documents: list[Document], scope: SearchScope) -> list[Document]:
        """Return the documents; counts of one with a reading position cover only its readable part."""
        bound = [document.id for document in documents if document.id in scope.positions]
        if not bound:
            return documents
        rows = await self._rows(*(_count_query(scope).where(DOCUMENT.c.id.in_(ids)) for ids in parts(bound)))
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
        """Return the rows of all queries, read together."""
        if not queries:
            return []
        return await self._database.read(
            lambda connection: [row for query in queries for row in connection.execute(query)]
        )


def parts(keys: Sequence[T]) -> Iterator[list[T]]:
    """Yield all keys once, in lists that fit one query."""
    wanted = list(dict.fromkeys(keys))
    for start in range(0, len(wanted), IDS_PER_QUERY):
        yield wanted[start : start + IDS_PER_QUERY]


def readable(scope: SearchScope) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the conditions on document and source."""
    return SOURCE.c.workspace == scope.workspace, DOCUMENT.c.source_id.in_(scope.sources)


def _visible(scope: SearchScope) -> tuple[ColumnElement[bool], ...]:
    return *readable(scope), within_position(scope, PAGE.c.number)


def within_position(scope: SearchScope, page: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition on page numbers: one CASE, as SQLite limits the depth of a chain of ORs to 1,000."""
    if not scope.positions:
        return true()
    return page <= case(dict(scope.positions), value=DOCUMENT.c.id, else_=page)


def _count_query(scope: SearchScope) -> Select[Any]:
    """Return a query for the numbers of pages and passages that each document has within its reading position."""
    passages = select(func.count()).where(PASSAGE.c.page_id == PAGE.c.id).correlate(PAGE).scalar_subquery()
    return (
        select(DOCUMENT.c.id.label("document_id"), func.count().label("pages"), func.sum(passages).label("passages"))
        .select_from(_PAGES)
        .where(*_visible(scope))
        .group_by(DOCUMENT.c.id)
    )


def _in_order(rows: Sequence[Row[Any]]) -> list[Document]:
    return sorted(map(_to_document, rows), key=lambda document: (document.source, document.path))


def _to_document(row: Row[Any]) -> Document:
    values = {name.removeprefix("document_"): value for name, value in row._mapping.items() if name in _DOCUMENT_LABELS}
    size, modified_ns = values.pop("stamp_size"), values.pop("stamp_modified_ns")
    lists = {name: tuple(from_compact_json(values[name])) for name in ("aliases", "depends_on")}
    stamp = FileStamp(size=size, modified_ns=modified_ns) if size is not None else None
    return Document(**{**values, **lists, "stamp": stamp})


def _to_page(row: Row[Any]) -> Page:
    values = {
        **row._mapping,
        "heading_path": tuple(row.heading_path),
        "headings": tuple(Heading(level=level, title=title, start=start) for level, title, start in row.headings),
        "anchors": tuple((name, place) for name, place in row.anchors),
        "place": PagePlace(**row.place) if row.place is not None else None,
    }
    return Page(**values)


def _to_sourced_passages(rows: Iterable[Row[Any]]) -> Iterator[SourcedPassage]:
    documents: dict[str, Document] = {}
    for row in rows:
        if row.document_id not in documents:
            documents[row.document_id] = _to_document(row)
        yield SourcedPassage(
            passage=_to_passage(row),
            document=documents[row.document_id],
            page_title=row.page_title,
            deep_link=row.page_deep_link,
        )


def _to_passage(row: Row[Any]) -> Passage:
    offsets = from_compact_json(row.sentences)
    return Passage(
        id=row.id,
        document_id=row.document_id,
        page_id=row.page_id,
        page_number=row.page_number,
        revision=row.page_revision,
        ordinal=row.ordinal,
        span=Span(row.span_start, row.span_end),
        text=row.text,
        heading_path=tuple(from_compact_json(row.heading_path)),
        sentences=tuple(map(Span, offsets[::2], offsets[1::2])),
    )
