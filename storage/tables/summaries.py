"""The table of kept summaries, beside those of corpus.py; whoever needs all imports this one."""

from sqlalchemy import CheckConstraint
from sqlmodel import Field

from core.domain.summaries import SummaryKind
from storage.tables.column_types import StorableText
from storage.tables.stale import FootnoteTable

__all__ = ["FootnoteTable", "SummaryRow"]

_KINDS = ", ".join(f"'{kind.value}'" for kind in SummaryKind)


class SummaryRow(FootnoteTable, table=True):
    """The newest summary of a subject and kind. The column of the subject's own table holds its id once more.

    So it goes with its document, page or conversation, whoever removes that.
    """

    __tablename__ = "summary"
    __table_args__ = (
        CheckConstraint(f"kind IN ({_KINDS})", name="kind"),
        CheckConstraint("coalesce(document_id, page_id, conversation_id) = subject", name="subject"),
    )

    workspace: str = Field(primary_key=True, sa_type=StorableText)
    kind: str = Field(primary_key=True, sa_type=StorableText)
    subject: str = Field(primary_key=True, sa_type=StorableText)
    revision: str = Field(sa_type=StorableText)
    document_id: str | None = Field(
        default=None, sa_type=StorableText, foreign_key="document.id", ondelete="CASCADE", index=True
    )
    page_id: str | None = Field(
        default=None, sa_type=StorableText, foreign_key="page.id", ondelete="CASCADE", index=True
    )
    conversation_id: str | None = Field(
        default=None, sa_type=StorableText, foreign_key="conversation.id", ondelete="CASCADE", index=True
    )
    text: str = Field(sa_type=StorableText)
