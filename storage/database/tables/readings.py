"""The tables of what models said of documents, and what it cost."""

from datetime import datetime
from typing import Any

from storage.database.tables.base import FootnoteTable, json_column, key_column, text_column, time_column


class ModelReadingRow(FootnoteTable, table=True):
    """What a model said of one piece of a document for one extractor; `said` is a list of JSON objects."""

    __tablename__ = "model_reading"

    document_id: str = key_column(foreign_key="document.id", ondelete="CASCADE")
    piece: str = key_column()
    extractor: str = key_column()
    version: int
    read_at: datetime = time_column()
    said: list[Any] = json_column()
    error: str | None = text_column(default=None)


class ModelSpendingRow(FootnoteTable, table=True):
    """What extractors asked of models on one day (YYYY-MM-DD, UTC)."""

    __tablename__ = "model_spending"

    day: str = key_column()
    requests: int
    tokens: int
