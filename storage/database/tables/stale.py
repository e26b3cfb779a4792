"""The table of how far answers were compared with their documents."""

from typing import Any

from storage.database.tables.base import FootnoteTable, json_column, key_column, text_column


class CitationCheckRow(FootnoteTable, table=True):
    """What comparing an answer with a document that it cites found last; no row: they were not compared yet.

    `checked_revision` is "" where the document was out, NULL for answers of the time before there were comparisons.
    `lost` is [[footnote, fate], ...]; `note_id` a note that is due to tell of it.
    """

    __tablename__ = "citation_check"

    message_id: str = key_column(foreign_key="message.id", ondelete="CASCADE")
    document_id: str = key_column(index=True)
    checked_revision: str | None = text_column(default=None)
    note_id: str | None = text_column(default=None, index=True)
    lost: list[Any] = json_column()
