"""The tables of extracts, beside those of corpus.py; whoever needs all imports this one."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Index
from sqlmodel import Field

from core.domain.extracts import ExtractType
from storage.tables.column_types import CompactJson, StorableText, UtcTime
from storage.tables.settings import FootnoteTable

__all__ = ["ExtractRow", "ExtractionRow", "FootnoteTable", "ModelReadingRow", "ModelSpendingRow"]

_TYPES = ", ".join(f"'{kind.value}'" for kind in ExtractType)


class ExtractionRow(FootnoteTable, table=True):
    """An extractor's last run over a document."""

    __tablename__ = "extraction"
    __table_args__ = (CheckConstraint("version >= 1 AND extracts >= 0", name="counts"),)

    document_id: str = Field(primary_key=True, sa_type=StorableText, foreign_key="document.id", ondelete="CASCADE")
    extractor: str = Field(primary_key=True, sa_type=StorableText)
    version: int
    revision: str = Field(sa_type=StorableText)
    extracts: int
    extracted_at: datetime = Field(sa_type=UtcTime)
    error: str | None = Field(default=None, sa_type=StorableText)
    warning: str | None = Field(default=None, sa_type=StorableText)


class ExtractRow(FootnoteTable, table=True):
    """An extract. It goes with its page, and so with the revision; `last_page` is the last one that it tells of.

    `words` is its data as lower-case text, for filters.
    """

    __tablename__ = "extract"
    __table_args__ = (
        CheckConstraint(f"type IN ({_TYPES})", name="type"),
        CheckConstraint("span_start >= 0 AND span_end >= span_start", name="span"),
        CheckConstraint("confidence >= 0 AND confidence <= 1", name="confidence"),
        Index(None, "document_id", "extractor"),
        Index(None, "type"),
    )

    id: str = Field(primary_key=True, sa_type=StorableText)
    document_id: str = Field(sa_type=StorableText, foreign_key="document.id", ondelete="CASCADE")
    page_id: str = Field(sa_type=StorableText, foreign_key="page.id", ondelete="CASCADE", index=True)
    extractor: str = Field(sa_type=StorableText)
    type: str = Field(sa_type=StorableText)
    schema_name: str = Field(sa_type=StorableText)
    last_page: int
    span_start: int
    span_end: int
    confidence: float
    words: str = Field(sa_type=StorableText)
    data: dict[str, Any] = Field(sa_type=CompactJson)


class ModelReadingRow(FootnoteTable, table=True):
    """What a model said of one piece of a document for one extractor; `said` is a list of JSON objects."""

    __tablename__ = "model_reading"

    document_id: str = Field(primary_key=True, sa_type=StorableText, foreign_key="document.id", ondelete="CASCADE")
    piece: str = Field(primary_key=True, sa_type=StorableText)
    extractor: str = Field(primary_key=True, sa_type=StorableText)
    version: int
    read_at: datetime = Field(sa_type=UtcTime)
    said: list[Any] = Field(sa_type=CompactJson)
    error: str | None = Field(default=None, sa_type=StorableText)


class ModelSpendingRow(FootnoteTable, table=True):
    """What extractors asked of models on one day (YYYY-MM-DD, UTC)."""

    __tablename__ = "model_spending"

    day: str = Field(primary_key=True, sa_type=StorableText)
    requests: int
    tokens: int
