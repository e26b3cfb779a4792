"""The table of how far answers were compared, beside those of corpus.py; whoever needs all imports this one."""

from typing import Any

from sqlmodel import Field

from storage.tables.column_types import CompactJson, StorableText
from storage.tables.syncs import FootnoteTable

__all__ = ["CitationCheckRow", "FootnoteTable"]


class CitationCheckRow(FootnoteTable, table=True):
    """What comparing an answer with a document that it cites found last; no row: they were not compared yet.

    `checked_revision` is "" where the document was out, NULL for answers of the time before there were comparisons.
    `lost` is [[footnote, fate], ...]; `note_id` a note that is due to tell of it.
    """

    __tablename__ = "citation_check"

    message_id: str = Field(primary_key=True, sa_type=StorableText, foreign_key="message.id", ondelete="CASCADE")
    document_id: str = Field(primary_key=True, sa_type=StorableText, index=True)
    checked_revision: str | None = Field(default=None, sa_type=StorableText)
    note_id: str | None = Field(default=None, sa_type=StorableText, index=True)
    lost: list[Any] = Field(sa_type=CompactJson)
