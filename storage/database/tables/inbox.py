"""The table of the durable inbox."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Index, text
from sqlmodel import Field

from core.domain.service import InboxStatus
from storage.database.tables.base import FootnoteTable, json_column, one_of, text_column, time_column


class InboxRow(FootnoteTable, table=True):
    """A received event with the decision about it; `seq` is the order inside a thread.

    Open rows (not finished) of a thread are answered one by one: the partial index finds each thread's first.
    """

    __tablename__ = "inbox"
    __table_args__ = (
        one_of("status", InboxStatus),
        CheckConstraint("(finished_at IS NULL) = (status IN ('queued', 'running'))", name="finished"),
        CheckConstraint("(owner IS NULL) = (lease_until IS NULL)", name="lease"),
        CheckConstraint("attempts >= 0 AND failures >= 0", name="attempts"),
        Index(None, "workspace", "seq"),
        Index(None, "thread", "seq"),
        Index(
            "ix_inbox_open",
            "thread",
            "seq",
            sqlite_where=text("finished_at IS NULL"),
            postgresql_where=text("finished_at IS NULL"),
        ),
    )

    seq: int | None = Field(default=None, primary_key=True)
    event_key: str = text_column(unique=True)
    message_key: str = text_column(index=True)
    workspace: str = text_column()
    platform: str = text_column()
    thread: str = text_column()
    author: str = text_column()
    status: str = text_column()
    code: str = text_column()
    sentence: str = text_column()
    created_at: datetime = time_column()
    finished_at: datetime | None = time_column(default=None)
    owner: str | None = text_column(default=None)
    lease_until: datetime | None = time_column(default=None)
    waits_until: datetime | None = time_column(default=None)
    attempts: int = 0
    failures: int = 0
    error: str | None = text_column(default=None)
    final_error: str | None = text_column(default=None)
    cancelled_by: str | None = text_column(default=None)
    post_ref: str | None = text_column(default=None)
    incoming: dict[str, Any] = json_column()
