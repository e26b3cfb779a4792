"""The tables of extracts, and of the runs that found them."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Index

from core.domain.extracts import ExtractType
from storage.database.tables.base import FootnoteTable, json_column, key_column, one_of, text_column, time_column


class ExtractionRow(FootnoteTable, table=True):
    """An extractor's last run over a document."""

    __tablename__ = "extraction"
    __table_args__ = (CheckConstraint("version >= 1 AND extracts >= 0", name="counts"),)

    document_id: str = key_column(foreign_key="document.id", ondelete="CASCADE")
    extractor: str = key_column()
    version: int
    revision: str = text_column()
    extracts: int
    extracted_at: datetime = time_column()
    error: str | None = text_column(default=None)
    warning: str | None = text_column(default=None)


class ExtractRow(FootnoteTable, table=True):
    """An extract. It goes with its page, and so with the revision; `last_page` is the last one that it tells of.

    `words` is its data as lower-case text, for filters.
    """

    __tablename__ = "extract"
    __table_args__ = (
        one_of("type", ExtractType),
        CheckConstraint("span_start >= 0 AND span_end >= span_start", name="span"),
        CheckConstraint("confidence >= 0 AND confidence <= 1", name="confidence"),
        Index(None, "document_id", "extractor"),
        Index(None, "type"),
    )

    id: str = key_column()
    document_id: str = text_column(foreign_key="document.id", ondelete="CASCADE")
    page_id: str = text_column(foreign_key="page.id", ondelete="CASCADE", index=True)
    extractor: str = text_column()
    type: str = text_column()
    schema_name: str = text_column()
    last_page: int
    span_start: int
    span_end: int
    confidence: float
    words: str = text_column()
    data: dict[str, Any] = json_column()
