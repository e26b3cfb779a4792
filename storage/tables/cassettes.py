"""The tables of recorded runs, beside those of corpus.py; whoever needs all imports this one."""

from datetime import datetime

from sqlalchemy import LargeBinary
from sqlmodel import Field

from storage.tables.column_types import StorableText, UtcTime
from storage.tables.summaries import FootnoteTable

__all__ = ["CassetteDocumentRow", "CassetteRow", "FootnoteTable"]


class CassetteRow(FootnoteTable, table=True):
    """One run. `documents` counts those it has rows for: with fewer left, one was removed, and so is the run."""

    __tablename__ = "cassette"

    message_id: str = Field(primary_key=True, sa_type=StorableText, foreign_key="message.id", ondelete="CASCADE")
    workspace: str = Field(sa_type=StorableText, index=True)
    question: str = Field(sa_type=StorableText)
    recorded_at: datetime = Field(sa_type=UtcTime, index=True)
    is_case: bool = Field(default=False)
    documents: int
    data: bytes = Field(sa_type=LargeBinary)


class CassetteDocumentRow(FootnoteTable, table=True):
    """A document whose text a run holds."""

    __tablename__ = "cassette_document"

    message_id: str = Field(
        primary_key=True, sa_type=StorableText, foreign_key="cassette.message_id", ondelete="CASCADE"
    )
    document_id: str = Field(
        primary_key=True, sa_type=StorableText, foreign_key="document.id", ondelete="CASCADE", index=True
    )
