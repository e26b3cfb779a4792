"""The table of syncs."""

from datetime import datetime

from sqlalchemy import CheckConstraint

from core.domain.sources import SyncResult
from storage.database.tables.base import FootnoteTable, json_column, key_column, one_of, text_column, time_column


class SyncRow(FootnoteTable, table=True):
    """A source's last sync. No foreign key: a source that never came in has a state, too."""

    __tablename__ = "source_sync"
    __table_args__ = (
        one_of("result", SyncResult),
        CheckConstraint("(result = 'failed') = (error IS NOT NULL)", name="error"),
        CheckConstraint("(result = 'failed') = (failing_since IS NOT NULL)", name="failing_since"),
    )

    workspace: str = key_column()
    source: str = key_column()
    kind: str = text_column()
    result: str = text_column()
    started_at: datetime = time_column()
    ended_at: datetime = time_column()
    good_at: datetime | None = time_column(default=None)
    failing_since: datetime | None = time_column(default=None)
    error: str | None = text_column(default=None)
    job_id: str | None = text_column(default=None)
    counts: dict[str, int] = json_column()
    warnings: list[str] = json_column()
