"""What the library asks of its tables: queries with the scope inside. Pure."""

from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, select, true, type_coerce

from core.domain.corpus import (
    SearchScope,
)
from storage.database.tables import FootnoteTable
from storage.database.tables.column_types import CompactJson, StorableText

SOURCE, DOCUMENT, PAGE, PASSAGE = (
    FootnoteTable.metadata.tables[name] for name in ("source", "document", "page", "passage")
)
_DOCUMENTS = DOCUMENT.join(SOURCE)
_PAGES = PAGE.join(DOCUMENT, PAGE.c.document_id == DOCUMENT.c.id).join(SOURCE, DOCUMENT.c.source_id == SOURCE.c.id)


def _undecoded(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """JSON as its text: rows repeat it (100 passages of 10 documents), decoding waits until it is needed."""
    return type_coerce(column, StorableText) if isinstance(column.type, CompactJson) else column


_DOCUMENT_COLUMNS = (
    *(_undecoded(column).label(f"document_{column.name}") for column in DOCUMENT.c),
    SOURCE.c.workspace.label("document_workspace"),
    SOURCE.c.name.label("document_source"),
    SOURCE.c.kind.label("document_source_kind"),
)


# Made once: of forty columns that takes longer than to run them.
_OF_DOCUMENTS = select(*_DOCUMENT_COLUMNS).select_from(_DOCUMENTS)
_OF_PAGES = select(PAGE).select_from(_PAGES)
_OF_PASSAGES = select(
    *(_undecoded(column).label(column.name) for column in PASSAGE.c),
    PAGE.c.number.label("page_number"),
    PAGE.c.revision.label("page_revision"),
    PAGE.c.title.label("page_title"),
    PAGE.c.deep_link.label("page_deep_link"),
    *_DOCUMENT_COLUMNS,
).select_from(PASSAGE.join(_PAGES, PASSAGE.c.page_id == PAGE.c.id))


def document_query() -> Select[Any]:
    """All documents; rows for `to_document`."""
    return _OF_DOCUMENTS


def readable(scope: SearchScope) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Conditions on document and source."""
    return SOURCE.c.workspace == scope.workspace, DOCUMENT.c.source_id.in_(scope.sources)


def _within_position(scope: SearchScope) -> ColumnElement[bool]:
    """The condition on page numbers. One CASE, because SQLite bounds how deep a chain of ORs may be (1,000)."""
    if not scope.positions:
        return true()
    return PAGE.c.number <= case(dict(scope.positions), value=DOCUMENT.c.id, else_=PAGE.c.number)


def page_query(scope: SearchScope) -> Select[Any]:
    return _OF_PAGES.where(*readable(scope), _within_position(scope))


def count_query(scope: SearchScope) -> Select[Any]:
    """Document id, pages and passages of each document that has any within its reading position."""
    passages = select(func.count()).where(PASSAGE.c.page_id == PAGE.c.id).correlate(PAGE).scalar_subquery()
    return (
        select(DOCUMENT.c.id.label("document_id"), func.count().label("pages"), func.sum(passages).label("passages"))
        .select_from(_PAGES)
        .where(*readable(scope), _within_position(scope))
        .group_by(DOCUMENT.c.id)
    )


def passage_query(scope: SearchScope) -> Select[Any]:
    return _OF_PASSAGES.where(*readable(scope), _within_position(scope))


def live_passage_query(document_id: str) -> Select[Any]:
    """Whoever may read them; in text order."""
    return _OF_PASSAGES.where(DOCUMENT.c.id == document_id).order_by(PAGE.c.number, PASSAGE.c.ordinal)
