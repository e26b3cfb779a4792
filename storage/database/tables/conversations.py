"""The tables of conversation -> message -> message_document. Deleting the left deletes the right."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Index, UniqueConstraint

from core.domain.answer import AnswerStatus
from core.domain.conversation import Role
from storage.database.tables.base import FootnoteTable, json_column, key_column, one_of, text_column, time_column


class ConversationRow(FootnoteTable, table=True):
    """A conversation. Its messages' sequence numbers have gaps where some were removed.

    The document ids are no foreign keys: a removed document leaves its conversations readable (`forget_document`).
    """

    __tablename__ = "conversation"
    __table_args__ = (
        UniqueConstraint("platform", "workspace", "channel", "thread"),
        CheckConstraint("message_count >= 0", name="message_count"),
        CheckConstraint(
            "(focus_document_id IS NULL) = (focus_touched_at IS NULL)"
            " AND (focus_document_id IS NULL) = (focus_document IS NULL)"
            " AND (focus_document_id IS NULL) = (focus_title IS NULL)",
            name="focus",
        ),
        Index(None, "workspace", "last_message_at"),
    )

    id: str = key_column()
    platform: str = text_column()
    workspace: str = text_column()
    channel: str = text_column()
    thread: str = text_column()
    title: str = text_column()
    owner: str = text_column()
    created_at: datetime = time_column()
    last_message_at: datetime = time_column()
    message_count: int = 0
    pinned_document_id: str | None = text_column(default=None)
    focus_document_id: str | None = text_column(default=None)
    focus_document: str | None = text_column(default=None)
    focus_title: str | None = text_column(default=None)
    focus_touched_at: datetime | None = time_column(default=None)
    focus_sections: list[str] = json_column()


class MessageRow(FootnoteTable, table=True):
    """A message; `sequence` counts from 1 in its conversation, in the order of arrival."""

    __tablename__ = "message"
    __table_args__ = (
        UniqueConstraint("conversation_id", "sequence"),
        CheckConstraint("sequence >= 1", name="sequence"),
        one_of("role", Role),
        one_of("status", AnswerStatus),
    )

    id: str = key_column()
    conversation_id: str = text_column(foreign_key="conversation.id", ondelete="CASCADE")
    sequence: int
    role: str = text_column()
    author: str = text_column()
    status: str | None = text_column(default=None)
    job_id: str | None = text_column(default=None)
    stale: bool = False
    created_at: datetime = time_column()
    content: str = text_column()
    references: list[Any] = json_column()
    citations: list[Any] = json_column()
    tool_calls: list[Any] = json_column()
    outcome: dict[str, Any] | None = json_column(default=None)


class MessageDocumentRow(FootnoteTable, table=True):
    """A document that a message cites: what finds conversations by document without reading JSON."""

    __tablename__ = "message_document"

    message_id: str = key_column(foreign_key="message.id", ondelete="CASCADE")
    document_id: str = key_column(index=True)
