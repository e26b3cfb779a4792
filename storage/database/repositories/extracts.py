"""Extracts in SQL, every read inside its scope."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Text, case, cast, delete, func, insert, select, true, update

from core.domain.corpus import SearchScope, Span
from core.domain.extracts import Extract, Extraction, ExtractQuery, ExtractType
from core.errors import NotFound
from storage.database import Database
from storage.database.extract_words import last_page_of, words_of
from storage.database.repositories.corpus_queries import DOCUMENT, PAGE, SOURCE, readable
from storage.database.tables import ExtractionRow, ExtractRow, FootnoteTable

_EXTRACT = FootnoteTable.metadata.tables[ExtractRow.__tablename__]
_EXTRACTION = FootnoteTable.metadata.tables[ExtractionRow.__tablename__]
_PLACES = (
    _EXTRACT.join(PAGE, _EXTRACT.c.page_id == PAGE.c.id)
    .join(DOCUMENT, _EXTRACT.c.document_id == DOCUMENT.c.id)
    .join(SOURCE, DOCUMENT.c.source_id == SOURCE.c.id)
)


class SqlExtractRepository:
    """ExtractRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def replace(self, extraction: Extraction, extracts: Sequence[Extract]) -> None:
        values = [_to_values(extract) for extract in extracts]
        await self._database.write_rows(lambda connection: _replace(connection, extraction, values))

    async def extractions(self, workspace: str, document_id: str | None = None) -> list[Extraction]:
        joined = _EXTRACTION.join(DOCUMENT, _EXTRACTION.c.document_id == DOCUMENT.c.id).join(
            SOURCE, DOCUMENT.c.source_id == SOURCE.c.id
        )
        query = select(_EXTRACTION).select_from(joined).where(SOURCE.c.workspace == workspace)
        if document_id is not None:
            query = query.where(_EXTRACTION.c.document_id == document_id)
        rows = await self._database.read_rows(lambda connection: connection.execute(query).all())
        return sorted((Extraction(**row._mapping) for row in rows), key=lambda item: (item.document_id, item.extractor))

    async def list_extracts(self, query: ExtractQuery, scope: SearchScope) -> list[Extract]:
        wanted = (
            select(
                *_EXTRACT.c,
                PAGE.c.number.label("page_number"),
                PAGE.c.revision.label("page_revision"),
                DOCUMENT.c.path.label("document_path"),
                DOCUMENT.c.title.label("document_title"),
                DOCUMENT.c.source_id.label("source_id"),
                SOURCE.c.name.label("source_name"),
            )
            .select_from(_PLACES)
            .where(*readable(scope), _within_position(scope), *_filters(query))
        )
        rows: list[Any] = await self._database.read_rows(lambda connection: [*connection.execute(wanted)])
        return [_to_extract(row) for row in sorted(rows, key=_place)[: query.limit]]

    async def counts(self, scope: SearchScope) -> dict[ExtractType, int]:
        query = (
            select(_EXTRACT.c.type, func.count())
            .select_from(_PLACES)
            .where(*readable(scope), _within_position(scope))
            .group_by(_EXTRACT.c.type)
        )
        rows = await self._database.read_rows(lambda connection: connection.execute(query).all())
        return {ExtractType(kind): count for kind, count in rows}


def _replace(connection: Connection, extraction: Extraction, values: Sequence[Mapping[str, Any]]) -> None:
    live = select(DOCUMENT.c.revision).where(DOCUMENT.c.id == extraction.document_id).with_for_update()
    if connection.execute(live).scalar_one_or_none() != extraction.revision:
        raise NotFound(f"The document {extraction.document_id!r} has changed meanwhile: it is extracted anew")
    own = {"document_id": extraction.document_id, "extractor": extraction.extractor}
    for table in (_EXTRACT, _EXTRACTION):
        connection.execute(delete(table).where(*(table.c[name] == value for name, value in own.items())))
    if values:
        connection.execute(insert(_EXTRACT), values)
    connection.execute(
        update(DOCUMENT).where(DOCUMENT.c.id == extraction.document_id).values(extracted_at=extraction.extracted_at)
    )
    connection.execute(
        insert(_EXTRACTION).values(
            **own,
            version=extraction.version,
            revision=extraction.revision,
            extracts=len(values),
            extracted_at=extraction.extracted_at,
            error=extraction.error,
            warning=extraction.warning,
        )
    )


def _within_position(scope: SearchScope) -> ColumnElement[bool]:
    """One CASE, because SQLite bounds how deep a chain of ORs may be (1,000)."""
    if not scope.positions:
        return true()
    return _EXTRACT.c.last_page <= case(dict(scope.positions), value=DOCUMENT.c.id, else_=_EXTRACT.c.last_page)


def _filters(query: ExtractQuery) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if query.type is not None:
        conditions.append(_EXTRACT.c.type == query.type.value)
    if query.document_ids:
        conditions.append(DOCUMENT.c.id.in_(query.document_ids))
    if query.page_ids:
        conditions.append(_EXTRACT.c.page_id.in_(query.page_ids))
    if query.with_aliases:
        told = cast(_EXTRACT.c.data, Text)
        conditions += [told.contains('"aliases":['), ~told.contains('"aliases":[]')]
    conditions += [_EXTRACT.c.words.contains(word, autoescape=True) for word in query.text.casefold().split()]
    return conditions


def _place(row: Row[Any]) -> tuple[str, str, int, int, str]:
    return row.source_name, row.document_path, row.page_number, row.span_start, row.id


def _to_values(extract: Extract) -> dict[str, Any]:
    return {
        "id": extract.id,
        "document_id": extract.document_id,
        "page_id": extract.page_id,
        "extractor": extract.extractor,
        "type": extract.type.value,
        "schema_name": extract.schema,
        "last_page": last_page_of(extract),
        "span_start": extract.span.start,
        "span_end": extract.span.end,
        "confidence": extract.confidence,
        "words": words_of(extract.data),
        "data": dict(extract.data),
    }


def _to_extract(row: Row[Any]) -> Extract:
    return Extract(
        id=row.id,
        document_id=row.document_id,
        document=row.document_path,
        document_title=row.document_title,
        source_id=row.source_id,
        page_id=row.page_id,
        page_number=row.page_number,
        revision=row.page_revision,
        extractor=row.extractor,
        type=ExtractType(row.type),
        schema=row.schema_name,
        span=Span(row.span_start, row.span_end),
        confidence=row.confidence,
        data=row.data,
    )
