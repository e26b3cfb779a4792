"""Revisions of documents, written in one transaction: a document's row, its pages and its passages."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from core.domain.corpus import Document, FileStamp, Page
from core.domain.passages import Passage
from core.errors import NotFound
from storage.database import Database
from storage.database.tables import TABLES

SOURCE, DOCUMENT, PAGE, PASSAGE = (TABLES[name] for name in ("source", "document", "page", "passage"))
DOCUMENT_READERS = TABLES["document_readers"]


def check_revision(document: Document, pages: Sequence[Page], passages: Sequence[Passage]) -> None:
    """Raise ValueError for a part of another revision, or a passage that differs from its span in the page."""
    if document.revision is None:
        raise ValueError(f"the document {document.path!r} has no revision to switch to")
    for page in pages:
        if (page.document_id, page.revision) != (document.id, document.revision):
            raise ValueError(f"page {page.number} is not of revision {document.revision!r} of {document.path!r}")
    by_id = {page.id: page for page in pages}
    for passage in passages:
        name, found = f"passage {passage.ordinal}", by_id.get(passage.page_id)
        if found is None or (passage.document_id, passage.revision) != (document.id, document.revision):
            raise ValueError(f"{name} is not of revision {document.revision!r} of {document.path!r}")
        if passage.page_number != found.number or passage.text != passage.span.of(found.text):
            raise ValueError(f"{name} of {document.path!r} is not what page {found.number} says there")


def switch_revision(
    connection: Connection, database: Database, document: Document, pages: Sequence[Page], passages: Sequence[Passage]
) -> None:
    """Make the document's revision the only one."""
    _require_source(connection, document)
    row = {**_document_values(document), "pages": len(pages), "passages": len(passages)}
    connection.execute(database.upsert(DOCUMENT), row)
    connection.execute(delete(PAGE).where(PAGE.c.document_id == document.id))  # its passages go with it
    for table, rows in ((PAGE, map(_page_values, pages)), (PASSAGE, map(_passage_values, passages))):
        if values := list(rows):
            connection.execute(insert(table), values)


def save_failure(connection: Connection, document: Document) -> None:
    """Record the reason and the stamp; insert a document that never was read."""
    _require_source(connection, document)
    failure = {"failed_reason": document.failed_reason, **stamp_values(document.stamp)}
    known = update(DOCUMENT).where(DOCUMENT.c.id == document.id).values(**failure)
    if not connection.execute(known).rowcount:
        values = {**_document_values(document), "revision": None, "pages": 0, "passages": 0}
        connection.execute(insert(DOCUMENT), values)


def _require_source(connection: Connection, document: Document) -> None:
    query = select(SOURCE.c.workspace).where(SOURCE.c.id == document.source_id)
    if connection.execute(query).scalar() != document.workspace:
        raise NotFound(f"There is no source {document.source!r} for {document.path!r}; add the source first")


def stamp_values(stamp: FileStamp | None) -> dict[str, int | None]:
    if stamp is None:
        return {"stamp_size": None, "stamp_modified_ns": None}
    return {"stamp_size": stamp.size, "stamp_modified_ns": stamp.modified_ns}


def _document_values(document: Document) -> dict[str, Any]:
    values = {
        column.name: getattr(document, column.name) for column in DOCUMENT.c if not column.name.startswith("stamp_")
    }
    return values | stamp_values(document.stamp)


def _page_values(page: Page) -> dict[str, object]:
    return {
        **{column.name: getattr(page, column.name) for column in PAGE.c},
        "headings": [(heading.level, heading.title, heading.start) for heading in page.headings],
        "place": {key: value for key, value in asdict(page.place).items() if value} if page.place else None,
    }


def _passage_values(passage: Passage) -> dict[str, object]:
    return {
        "id": passage.id,
        "page_id": passage.page_id,
        "ordinal": passage.ordinal,
        "span_start": passage.span.start,
        "span_end": passage.span.end,
        "heading_path": passage.heading_path,
        "sentences": [offset for span in passage.sentences for offset in (span.start, span.end)],
        "text": passage.text,
    }
