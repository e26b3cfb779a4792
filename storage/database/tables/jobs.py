"""The table of job trees."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Index

from core.domain.jobs import JobKind, JobStatus
from storage.database.tables.base import FootnoteTable, json_column, key_column, one_of, text_column, time_column


class JobRow(FootnoteTable, table=True):
    """A job. Parent and root are no foreign keys: steps of a tree that run side by side are saved as they end."""

    __tablename__ = "job"
    __table_args__ = (
        one_of("kind", JobKind),
        one_of("status", JobStatus),
        CheckConstraint("attempts >= 0", name="attempts"),
        CheckConstraint("(parent_id IS NULL) = (root_id = id)", name="root"),
        Index(None, "workspace", "created_at"),
    )

    id: str = key_column()
    workspace: str = text_column()
    root_id: str = text_column(index=True)
    parent_id: str | None = text_column(default=None)
    kind: str = text_column()
    name: str = text_column()
    status: str = text_column()
    attempts: int = 1
    created_at: datetime = time_column()
    started_at: datetime | None = time_column(default=None)
    completed_at: datetime | None = time_column(default=None)
    error: str | None = text_column(default=None)
    input: dict[str, Any] = json_column()
    output: dict[str, Any] = json_column()
