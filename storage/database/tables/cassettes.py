"""The tables of recorded runs."""

from datetime import datetime

from sqlalchemy import LargeBinary
from sqlmodel import Field

from storage.database.tables.base import FootnoteTable, key_column, text_column, time_column


class CassetteRow(FootnoteTable, table=True):
    """One run. `documents` counts those it has rows for: with fewer left, one was removed, and so is the run."""

    __tablename__ = "cassette"

    message_id: str = key_column(foreign_key="message.id", ondelete="CASCADE")
    workspace: str = text_column(index=True)
    question: str = text_column()
    recorded_at: datetime = time_column(index=True)
    is_case: bool = Field(default=False)
    documents: int
    data: bytes = Field(sa_type=LargeBinary)


class CassetteDocumentRow(FootnoteTable, table=True):
    """A document whose text a run holds."""

    __tablename__ = "cassette_document"

    message_id: str = key_column(foreign_key="cassette.message_id", ondelete="CASCADE")
    document_id: str = key_column(foreign_key="document.id", ondelete="CASCADE", index=True)
