"""Sources, documents, pages and passages as rows of their tables, and back. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from sqlalchemy import Row

from core.domain.corpus import Document, FileStamp, Heading, Page, PagePlace, Passage, Source, SourcedPassage, Span
from storage.database.tables import DocumentRow
from storage.database.tables.column_types import from_compact_json


def stamp_values(stamp: FileStamp | None) -> dict[str, int | None]:
    if stamp is None:
        return {"stamp_size": None, "stamp_modified_ns": None}
    return {"stamp_size": stamp.size, "stamp_modified_ns": stamp.modified_ns}


def to_document_row(document: Document) -> DocumentRow:
    stamp = stamp_values(document.stamp)
    return DocumentRow(
        id=document.id,
        source_id=document.source_id,
        path=document.path,
        title=document.title,
        kind=document.kind,
        revision=document.revision,
        url=document.url,
        crawled_at=document.crawled_at,
        extracted_at=document.extracted_at,
        failed_reason=document.failed_reason,
        aliases=list(document.aliases),
        depends_on=list(document.depends_on),
        stamp_size=stamp["stamp_size"],
        stamp_modified_ns=stamp["stamp_modified_ns"],
    )


def page_values(page: Page) -> dict[str, object]:
    return {
        "id": page.id,
        "document_id": page.document_id,
        "revision": page.revision,
        "number": page.number,
        "title": page.title,
        "deep_link": page.deep_link,
        "heading_path": page.heading_path,
        "headings": [(heading.level, heading.title, heading.start) for heading in page.headings],
        "anchors": page.anchors,
        "place": {key: value for key, value in asdict(page.place).items() if value} if page.place else None,
        "text": page.text,
    }


def passage_values(passage: Passage) -> dict[str, object]:
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


def to_source(row: Row[Any]) -> Source:
    return Source(**row._mapping)


def to_document(row: Row[Any]) -> Document:
    has_stamp = row.document_stamp_size is not None
    return Document(
        id=row.document_id,
        workspace=row.document_workspace,
        source_id=row.document_source_id,
        source=row.document_source,
        source_kind=row.document_source_kind,
        path=row.document_path,
        title=row.document_title,
        kind=row.document_kind,
        revision=row.document_revision,
        aliases=tuple(from_compact_json(row.document_aliases)),
        url=row.document_url,
        pages=row.document_pages,
        passages=row.document_passages,
        stamp=FileStamp(size=row.document_stamp_size, modified_ns=row.document_stamp_modified_ns)
        if has_stamp
        else None,
        depends_on=tuple(from_compact_json(row.document_depends_on)),
        crawled_at=row.document_crawled_at,
        extracted_at=row.document_extracted_at,
        failed_reason=row.document_failed_reason,
    )


def to_page(row: Row[Any]) -> Page:
    return Page(
        id=row.id,
        document_id=row.document_id,
        revision=row.revision,
        number=row.number,
        title=row.title,
        text=row.text,
        heading_path=tuple(row.heading_path),
        headings=tuple(Heading(level=level, title=title, start=start) for level, title, start in row.headings),
        anchors=tuple((name, place) for name, place in row.anchors),
        deep_link=row.deep_link,
        place=PagePlace(**row.place) if row.place is not None else None,
    )


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
