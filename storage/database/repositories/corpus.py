"""The library in SQL: its sources, documents and revisions, over the reads of its pages."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import count
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, false, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from core.domain.audit import Audit, AuditNote, Deed
from core.domain.channels import LIVE_KIND
from core.domain.corpus import Document, FileStamp, LibrarySummary, Page, SearchScope, Source, SourcedPassage
from core.domain.passages import Passage
from core.domain.readers import Narrowing
from core.errors import InvalidState, NotFound
from storage.database import Database
from storage.database.repositories import audit as noted
from storage.database.repositories import redaction
from storage.database.repositories.library_reads import (
    LIVE_PAGES,
    OF_DOCUMENTS,
    OF_PASSAGES,
    SqlLibraryReads,
    parts,
    readable,
    to_document,
    to_source,
    to_sourced_passages,
    visible,
)
from storage.database.repositories.revisions import (
    DOCUMENT,
    DOCUMENT_READERS,
    PAGE,
    PASSAGE,
    SOURCE,
    check_revision,
    save_failure,
    stamp_values,
    switch_revision,
)

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


class SqlCorpusRepository(SqlLibraryReads):
    """CorpusRepository on a Database."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._changes = count()  # of this process: exact, independent of clocks
        self._change = next(self._changes)

    async def save_source(self, source: Source, *, audit: Audit = None) -> None:
        await self._changing(lambda connection: self._save_source(connection, source, audit))

    async def find_source(self, workspace: str, name: str) -> Source | None:
        query = select(SOURCE).where(SOURCE.c.workspace == workspace, SOURCE.c.name == name)
        rows = await self._rows(query)
        return to_source(rows[0]) if rows else None

    async def set_readers(self, source_id: str, readers: frozenset[str], *, audit: Audit = None) -> None:
        change = update(SOURCE).where(SOURCE.c.id == source_id).values(readers=sorted(readers))
        await self._changing(lambda connection: noted.change(connection, change, None, audit))

    async def narrow(self, source_id: str, narrowings: Mapping[str, Narrowing], *, audit: Audit = None) -> None:
        def change(connection: Connection) -> None:
            for ids in parts([*narrowings]):
                connection.execute(delete(DOCUMENT_READERS).where(DOCUMENT_READERS.c.document_id.in_(ids)))
            rows = [
                {"document_id": id, "source_id": source_id, "readers": sorted(map(sorted, narrowing))}
                for id, narrowing in narrowings.items()
                if narrowing
            ]
            if rows:
                connection.execute(insert(DOCUMENT_READERS), rows)
            noted.write_note(connection, audit)

        if narrowings:
            await self._changing(change)

    async def remove_source(self, source_id: str, *, audit: Audit = None) -> None:
        def change(connection: Connection) -> None:
            rows = connection.execute(OF_DOCUMENTS.where(SOURCE.c.id == source_id))
            redaction.forget(connection, [*map(to_document, rows)], sources=[source_id])
            noted.change(connection, delete(SOURCE).where(SOURCE.c.id == source_id), None, audit)

        await self._changing(change)
        await self._database.erase_log()

    async def list_documents(self, workspace: str, source_ids: frozenset[str] | None = None) -> list[Document]:
        query = OF_DOCUMENTS.where(SOURCE.c.workspace == workspace)
        if source_ids is not None:
            query = query.where(SOURCE.c.id.in_(source_ids))
        return await asyncio.to_thread(_in_order, await self._rows(query))  # ten thousand take a while

    async def version(self, workspace: str) -> str:
        rows = await self._rows(_VERSION.where(SOURCE.c.workspace == workspace))
        state = sorted((row.id, row.name, row.documents, str(row.newest)) for row in rows)
        return f"{self._change} {state}"

    async def list_readable(self, scope: SearchScope) -> list[Document]:
        found = await self.list_documents(scope.workspace, scope.sources)
        return await self._counted([item for item in found if item.id not in scope.hidden], scope)

    async def summarise(self, scope: SearchScope, newest: int) -> LibrarySummary:
        within = DOCUMENT.c.revision.is_not(None), *readable(scope)
        counted = select(SOURCE.c.name, DOCUMENT.c.kind, func.count().label("documents")).select_from(
            DOCUMENT.join(SOURCE)
        )
        kinds, sources = Counter[str](), Counter[str]()
        for row in await self._rows(counted.where(*within).group_by(SOURCE.c.name, DOCUMENT.c.kind)):
            kinds[row.kind] += row.documents
            sources[row.name] += row.documents
        order = DOCUMENT.c.dated.desc().nulls_last(), DOCUMENT.c.crawled_at.desc().nulls_last(), DOCUMENT.c.id
        written = DOCUMENT.c.kind != LIVE_KIND  # threads of channels are too many
        first = await self._rows(OF_DOCUMENTS.where(*within, written).order_by(*order).limit(newest))
        documents = await self._counted([*map(to_document, first)], scope)
        return LibrarySummary(kinds=kinds, sources=sources, newest=tuple(documents))

    async def get_document(self, document_id: str, scope: SearchScope) -> Document:
        query = OF_DOCUMENTS.where(DOCUMENT.c.id == document_id, *readable(scope))
        rows = await self._rows(query)
        if not rows:
            raise NotFound(
                f"There is no document {document_id!r} here that may be read; `footnote documents` lists them"
            )
        return (await self._counted([to_document(rows[0])], scope))[0]

    async def find_documents(self, document_ids: Sequence[str], scope: SearchScope) -> list[Document]:
        rows = await self._rows(
            *(OF_DOCUMENTS.where(DOCUMENT.c.id.in_(ids), *readable(scope)) for ids in parts(document_ids))
        )
        found = {item.id: item for item in await self._counted([*map(to_document, rows)], scope)}
        return [found[document_id] for document_id in document_ids if document_id in found]

    async def switch_revision(self, document: Document, pages: Sequence[Page], passages: Sequence[Passage]) -> None:
        check_revision(document, pages, passages)
        await self._changing(lambda connection: switch_revision(connection, self._database, document, pages, passages))

    async def save_failure(self, document: Document) -> None:
        await self._changing(lambda connection: save_failure(connection, document))

    async def touch(
        self, document_id: str, stamp: FileStamp, hidden: Sequence[str] | None = None, dated: str | None = None
    ) -> None:
        read = {} if hidden is None else {"hidden": list(hidden), "dated": dated}
        values = {**stamp_values(stamp), **read}
        change = update(DOCUMENT).where(DOCUMENT.c.id == document_id).values(values)
        await self._database.write(lambda connection: connection.execute(change))

    async def remove_documents(self, document_ids: Sequence[str], *, by: str = "") -> None:
        for some in parts(document_ids):
            await self._changing(partial(_remove_documents, ids=some, by=by))
        await self._database.erase_log()

    async def redact_lost(self) -> int:
        return await self._database.write(redaction.redact_lost, is_shared=False)

    async def live_revisions(self) -> dict[tuple[str, str], int]:
        query = select(DOCUMENT.c.id, DOCUMENT.c.revision, DOCUMENT.c.passages).where(DOCUMENT.c.revision.is_not(None))
        return {(row.id, row.revision): row.passages for row in await self._rows(query)}

    async def list_live_passages(self, document_id: str) -> list[SourcedPassage]:
        query = OF_PASSAGES.where(DOCUMENT.c.id == document_id).order_by(PAGE.c.number, PASSAGE.c.ordinal)
        return list(to_sourced_passages(await self._rows(query)))

    async def find_texts(self, workspace: str, texts: Sequence[str]) -> list[tuple[str, int, int]]:
        holds = [PAGE.c.text.like(f"%{text}%") for text in texts]
        labels = [f"holds_{place}" for place in range(len(texts))]
        labelled = (each.label(label) for each, label in zip(holds, labels, strict=True))
        pages = select(PAGE.c.document_id, PAGE.c.number, *labelled).select_from(LIVE_PAGES)
        rows = await self._rows(pages.where(SOURCE.c.workspace == workspace, or_(false(), *holds)))
        return [
            (row.document_id, row.number, place)
            for row in rows
            for place, label in enumerate(labels)
            if getattr(row, label)
        ]

    async def _changing(self, work: Callable[[Connection], object]) -> None:
        try:
            await self._database.write(work, is_shared=False)
        finally:
            self._change = next(self._changes)

    def _save_source(self, connection: Connection, source: Source, audit: Audit) -> None:
        try:
            values = {**asdict(source), "readers": sorted(source.readers)}
            noted.change(connection, self._database.upsert(SOURCE, keep=("readers",)), values, audit)
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


def _count_query(scope: SearchScope) -> Select[Any]:
    """Return a query for the numbers of pages and passages that each document has within its reading position."""
    passages = select(func.count()).where(PASSAGE.c.page_id == PAGE.c.id).correlate(PAGE).scalar_subquery()
    return (
        select(DOCUMENT.c.id.label("document_id"), func.count().label("pages"), func.sum(passages).label("passages"))
        .select_from(LIVE_PAGES)
        .where(*visible(scope))
        .group_by(DOCUMENT.c.id)
    )


def _remove_documents(connection: Connection, ids: Sequence[str], by: str) -> None:
    documents = [to_document(row) for row in connection.execute(OF_DOCUMENTS.where(DOCUMENT.c.id.in_(ids)))]
    redaction.forget(connection, documents)
    for document in documents:
        about = f"{document.source}/{document.path}"
        note = AuditNote(workspace=document.workspace, actor=by, deed=Deed.DOCUMENT_REMOVED, about=about)
        noted.change(connection, delete(DOCUMENT).where(DOCUMENT.c.id == document.id), None, note if by else None)


def _in_order(rows: Sequence[Row[Any]]) -> list[Document]:
    return sorted(map(to_document, rows), key=lambda document: (document.source, document.path))
