"""The table of syncs, beside those of corpus.py; whoever needs all imports this one."""

from datetime import datetime

from sqlalchemy import CheckConstraint
from sqlmodel import Field

from core.domain.syncs import SyncResult
from storage.tables.column_types import CompactJson, StorableText, UtcTime
from storage.tables.extracts import FootnoteTable

__all__ = ["FootnoteTable", "SyncRow"]

_RESULTS = ", ".join(f"'{result.value}'" for result in SyncResult)


class SyncRow(FootnoteTable, table=True):
    """A source's last sync. No foreign key: a source that never came in has a state, too."""

    __tablename__ = "source_sync"
    __table_args__ = (
        CheckConstraint(f"result IN ({_RESULTS})", name="result"),
        CheckConstraint("(result = 'failed') = (error IS NOT NULL)", name="error"),
        CheckConstraint("(result = 'failed') = (failing_since IS NOT NULL)", name="failing_since"),
    )

    workspace: str = Field(primary_key=True, sa_type=StorableText)
    source: str = Field(primary_key=True, sa_type=StorableText)
    kind: str = Field(sa_type=StorableText)
    result: str = Field(sa_type=StorableText)
    started_at: datetime = Field(sa_type=UtcTime)
    ended_at: datetime = Field(sa_type=UtcTime)
    good_at: datetime | None = Field(default=None, sa_type=UtcTime)
    failing_since: datetime | None = Field(default=None, sa_type=UtcTime)
    error: str | None = Field(default=None, sa_type=StorableText)
    job_id: str | None = Field(default=None, sa_type=StorableText)
    counts: dict[str, int] = Field(sa_type=CompactJson)
    warnings: list[str] = Field(sa_type=CompactJson)
