"""Reads of the library in SQL for questions: sources, pages and passages, each page inside its scope."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Row, Select, and_, case, func, select, true, type_coerce

from core.domain.corpus import Document, FileStamp, Heading, Page, PagePlace, SearchScope, Source, SourcedPassage
from core.domain.kept_answers import KeptRule
from core.domain.passages import Passage, Span
from core.domain.readers import Narrowing
from core.errors import NotFound
from storage.database import Database
from storage.database.column_types import CompactJson, StorableText, from_compact_json
from storage.database.repositories.kept_answers import RULES, to_rule
from storage.database.repositories.revisions import DOCUMENT, DOCUMENT_READERS, PAGE, PASSAGE, SOURCE

T = TypeVar("T", int, str)

LIVE_PAGES = PAGE.join(DOCUMENT, PAGE.c.document_id == DOCUMENT.c.id).join(SOURCE, DOCUMENT.c.source_id == SOURCE.c.id)


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
OF_DOCUMENTS = select(*_DOCUMENT_COLUMNS).select_from(DOCUMENT.join(SOURCE))
_OF_PAGES = select(PAGE).select_from(LIVE_PAGES)
OF_PASSAGES = select(
    *(_undecoded(column).label(column.name) for column in PASSAGE.c),
    PAGE.c.number.label("page_number"),
    PAGE.c.revision.label("page_revision"),
    PAGE.c.title.label("page_title"),
    PAGE.c.deep_link.label("page_deep_link"),
    *_DOCUMENT_COLUMNS,
).select_from(PASSAGE.join(LIVE_PAGES, PASSAGE.c.page_id == PAGE.c.id))


IDS_PER_QUERY = 500  # SQLite built before 3.32 takes at most 999 values a query, and the scope needs some
MOST_NUMBER = 2**31 - 1  # limit of the column for page numbers


class SqlLibraryReads:
    """The reads of a CorpusRepository that answer questions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_sources(self, workspace: str) -> list[Source]:
        rows = await self._rows(select(SOURCE).where(SOURCE.c.workspace == workspace))
        # Sorted here and below, not in SQL: each database orders letters differently.
        return sorted(map(to_source, rows), key=lambda source: source.name)

    async def narrowed(self, workspace: str) -> Mapping[str, Narrowing]:
        named = DOCUMENT_READERS.c.document_id, DOCUMENT_READERS.c.readers
        joined = select(*named).select_from(DOCUMENT_READERS.join(SOURCE)).where(SOURCE.c.workspace == workspace)
        return {row.document_id: frozenset(map(frozenset, row.readers)) for row in await self._rows(joined)}

    async def kept_rules(self, workspace: str) -> list[KeptRule]:
        rows = await self._rows(RULES.where(SOURCE.c.workspace == workspace))
        named = {id for row in rows if row.rests_on for id in row.rests_on.get("documents", ())}
        found = select(DOCUMENT.c.id, DOCUMENT.c.source_id)
        sources = {
            row.id: row.source_id
            for row in await self._rows(*(found.where(DOCUMENT.c.id.in_(ids)) for ids in parts([*named])))
        }
        return [to_rule(row, sources) for row in rows]

    async def count_documents(self, *, except_kind: str) -> Mapping[str, int]:
        counted = select(SOURCE.c.workspace, func.count(DOCUMENT.c.revision).label("documents"))
        joined = counted.select_from(SOURCE.outerjoin(DOCUMENT)).where(SOURCE.c.kind != except_kind)
        return {row.workspace: row.documents for row in await self._rows(joined.group_by(SOURCE.c.workspace))}

    async def has_text(self, scope: SearchScope) -> bool:
        return bool(await self._rows(select(PAGE.c.id).select_from(LIVE_PAGES).where(*visible(scope)).limit(1)))

    async def get_page(self, page_id: str, scope: SearchScope) -> Page:
        rows = await self._rows(_OF_PAGES.where(*visible(scope)).where(PAGE.c.id == page_id))
        if not rows:
            raise NotFound(f"There is no page {page_id!r} here that may be read; search again for its present id")
        return _to_page(rows[0])

    async def find_page(self, document_id: str, number: int, scope: SearchScope) -> Page | None:
        pages = await self.find_pages(document_id, [number], scope)
        return pages[0] if pages else None

    async def find_pages(self, document_id: str, numbers: Sequence[int], scope: SearchScope) -> list[Page]:
        wanted = [number for number in numbers if 0 < number <= MOST_NUMBER]
        here = _OF_PAGES.where(*visible(scope)).where(PAGE.c.document_id == document_id)
        rows = await self._rows(*(here.where(PAGE.c.number.in_(some)) for some in parts(wanted)))
        found = {row.number: _to_page(row) for row in rows}
        return [found[number] for number in wanted if number in found]

    async def list_pages(self, document_id: str, scope: SearchScope) -> list[Page]:
        query = _OF_PAGES.where(*visible(scope)).where(PAGE.c.document_id == document_id).order_by(PAGE.c.number)
        return [_to_page(row) for row in await self._rows(query)]

    async def list_passages(self, passage_ids: Sequence[str], scope: SearchScope) -> list[SourcedPassage]:
        shown = OF_PASSAGES.where(*visible(scope))
        rows = await self._rows(*(shown.where(PASSAGE.c.id.in_(ids)) for ids in parts(passage_ids)))
        found = {item.passage.id: item for item in to_sourced_passages(rows)}
        return [found[passage_id] for passage_id in passage_ids if passage_id in found]

    async def list_page_passages(self, page_id: str, scope: SearchScope) -> list[SourcedPassage]:
        query = OF_PASSAGES.where(*visible(scope)).where(PASSAGE.c.page_id == page_id).order_by(PASSAGE.c.ordinal)
        return list(to_sourced_passages(await self._rows(query)))

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
    here = DOCUMENT.c.source_id.in_(scope.sources)
    shown = and_(here, DOCUMENT.c.id.not_in(scope.hidden)) if scope.hidden else here
    return SOURCE.c.workspace == scope.workspace, shown


def visible(scope: SearchScope) -> tuple[ColumnElement[bool], ...]:
    return *readable(scope), within_position(scope, PAGE.c.number)


def within_position(scope: SearchScope, page: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition on page numbers: one CASE, as SQLite limits the depth of a chain of ORs to 1,000."""
    if not scope.positions:
        return true()
    return page <= case(dict(scope.positions), value=DOCUMENT.c.id, else_=page)


def to_source(row: Row[Any]) -> Source:
    return Source(**{**row._mapping, "readers": frozenset(row.readers)})


def to_document(row: Row[Any]) -> Document:
    values = {name.removeprefix("document_"): value for name, value in row._mapping.items() if name in _DOCUMENT_LABELS}
    size, modified_ns = values.pop("stamp_size"), values.pop("stamp_modified_ns")
    lists = {name: tuple(from_compact_json(values[name])) for name in ("aliases", "depends_on", "hidden")}
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


def to_sourced_passages(rows: Iterable[Row[Any]]) -> Iterator[SourcedPassage]:
    documents: dict[str, Document] = {}
    for row in rows:
        if row.document_id not in documents:
            documents[row.document_id] = to_document(row)
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
