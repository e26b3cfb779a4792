"""The table of kept summaries."""

from sqlalchemy import CheckConstraint

from core.domain.service import SummaryKind
from storage.database.tables.base import FootnoteTable, key_column, one_of, text_column


class SummaryRow(FootnoteTable, table=True):
    """The newest summary of a subject and kind. The column of the subject's own table holds its id once more.

    So it goes with its document, page or conversation, whoever removes that.
    """

    __tablename__ = "summary"
    __table_args__ = (
        one_of("kind", SummaryKind),
        CheckConstraint("coalesce(document_id, page_id, conversation_id) = subject", name="subject"),
    )

    workspace: str = key_column()
    kind: str = key_column()
    subject: str = key_column()
    revision: str = text_column()
    document_id: str | None = text_column(default=None, foreign_key="document.id", ondelete="CASCADE", index=True)
    page_id: str | None = text_column(default=None, foreign_key="page.id", ondelete="CASCADE", index=True)
    conversation_id: str | None = text_column(
        default=None, foreign_key="conversation.id", ondelete="CASCADE", index=True
    )
    text: str = text_column()
