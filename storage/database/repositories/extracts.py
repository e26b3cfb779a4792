"""Extracts in SQL. Every read is inside its scope."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Text, cast, delete, func, insert, select, update

from core.domain.corpus import SearchScope
from core.domain.extracts import Extract, Extraction, ExtractQuery, ExtractType
from core.domain.passages import Span
from core.errors import NotFound
from storage.database import Database
from storage.database.repositories.library_reads import readable, within_position
from storage.database.repositories.revisions import DOCUMENT, PAGE, SOURCE
from storage.database.tables import TABLES

_EXTRACT, _EXTRACTION = TABLES["extract"], TABLES["extraction"]
_PLACES = (
    _EXTRACT.join(PAGE, _EXTRACT.c.page_id == PAGE.c.id)
    .join(DOCUMENT, _EXTRACT.c.document_id == DOCUMENT.c.id)
    .join(SOURCE, DOCUMENT.c.source_id == SOURCE.c.id)
)
_AS_SELECTED = [field.name for field in fields(Extract) if field.name not in ("type", "span")]


class SqlExtractRepository:
    """ExtractRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def replace(self, extraction: Extraction, extracts: Sequence[Extract]) -> None:
        values = [_to_values(extract) for extract in extracts]
        await self._database.write(lambda connection: _replace(connection, extraction, values))

    async def extractions(self, workspace: str, document_id: str | None = None) -> list[Extraction]:
        joined = _EXTRACTION.join(DOCUMENT, _EXTRACTION.c.document_id == DOCUMENT.c.id).join(
            SOURCE, DOCUMENT.c.source_id == SOURCE.c.id
        )
        query = select(_EXTRACTION).select_from(joined).where(SOURCE.c.workspace == workspace)
        if document_id is not None:
            query = query.where(_EXTRACTION.c.document_id == document_id)
        rows = await self._database.rows(query)
        return sorted((Extraction(**row._mapping) for row in rows), key=lambda item: (item.document_id, item.extractor))

    async def list_extracts(self, query: ExtractQuery, scope: SearchScope) -> list[Extract]:
        wanted = (
            select(
                *_EXTRACT.c,
                PAGE.c.number.label("page_number"),
                PAGE.c.revision,
                DOCUMENT.c.path.label("document"),
                DOCUMENT.c.title.label("document_title"),
                DOCUMENT.c.source_id,
                _EXTRACT.c.schema_name.label("schema"),
                SOURCE.c.name.label("source_name"),
            )
            .select_from(_PLACES)
            .where(*readable(scope), within_position(scope, _EXTRACT.c.last_page), *_filters(query))
        )
        rows = await self._database.rows(wanted)
        return [_to_extract(row) for row in sorted(rows, key=_place)[: query.limit]]

    async def counts(self, scope: SearchScope) -> dict[ExtractType, int]:
        query = (
            select(_EXTRACT.c.type, func.count())
            .select_from(_PLACES)
            .where(*readable(scope), within_position(scope, _EXTRACT.c.last_page))
            .group_by(_EXTRACT.c.type)
        )
        rows = await self._database.rows(query)
        return {ExtractType(kind): count for kind, count in rows}


def _replace(connection: Connection, extraction: Extraction, values: Sequence[Mapping[str, Any]]) -> None:
    live = select(DOCUMENT.c.revision).where(DOCUMENT.c.id == extraction.document_id).with_for_update()
    if connection.execute(live).scalar_one_or_none() != extraction.revision:
        raise NotFound(f"The document {extraction.document_id!r} changed meanwhile: it will be extracted again")
    own = {"document_id": extraction.document_id, "extractor": extraction.extractor}
    for table in (_EXTRACT, _EXTRACTION):
        connection.execute(delete(table).where(*(table.c[name] == value for name, value in own.items())))
    if values:
        connection.execute(insert(_EXTRACT), values)
    connection.execute(
        update(DOCUMENT).where(DOCUMENT.c.id == extraction.document_id).values(extracted_at=extraction.extracted_at)
    )
    connection.execute(insert(_EXTRACTION), asdict(extraction) | {"extracts": len(values)})


def _filters(query: ExtractQuery) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if query.type is not None:
        conditions.append(_EXTRACT.c.type == query.type.value)
    if query.document_ids:
        conditions.append(DOCUMENT.c.id.in_(query.document_ids))
    if query.page_ids:
        conditions.append(_EXTRACT.c.page_id.in_(query.page_ids))
    if query.with_aliases:
        data = cast(_EXTRACT.c.data, Text)
        conditions += [data.contains('"aliases":['), ~data.contains('"aliases":[]')]
    conditions += [_EXTRACT.c.words.contains(word, autoescape=True) for word in query.text.casefold().split()]
    return conditions


def _place(row: Row[Any]) -> tuple[str, str, int, int, str]:
    return row.source_name, row.document, row.page_number, row.span_start, row.id


def _to_values(extract: Extract) -> dict[str, Any]:
    own = ("id", "document_id", "page_id", "extractor", "confidence")
    return {
        **{name: getattr(extract, name) for name in own},
        "type": extract.type.value,
        "schema_name": extract.schema,
        "last_page": last_page_of(extract),
        "span_start": extract.span.start,
        "span_end": extract.span.end,
        "words": words_of(extract.data),
        "data": dict(extract.data),
    }


def _to_extract(row: Row[Any]) -> Extract:
    values = {name: row._mapping[name] for name in _AS_SELECTED}
    return Extract(**values, type=ExtractType(row.type), span=Span(row.span_start, row.span_end))


def words_of(data: Mapping[str, object]) -> str:
    """Return all strings and numbers of the data, in order and lower-case, for word filters."""
    return " ".join(_words(data)).casefold()


def last_page_of(extract: Extract) -> int:
    """Return the last page with a part of the extract; readers who have not reached it see nothing of it."""
    return max([extract.page_number, *_page_numbers(extract.data)])


def _words(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name not in ("page_number", "span", "row_spans"):
                yield from _words(item)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, Sequence):
        for item in value:
            yield from _words(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"{value:g}"


def _page_numbers(value: object) -> Iterator[int]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name == "page_number" and isinstance(item, int):
                yield item
            else:
                yield from _page_numbers(item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _page_numbers(item)
