"""What is known of the syncs of a source: the last run, its result, and since when it fails."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class SyncResult(StrEnum):
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncState:
    """The last sync of a source. A failed one leaves the documents as the last good one made them."""

    workspace: str
    source: str  # its name
    kind: str
    result: SyncResult
    started_at: datetime
    ended_at: datetime
    good_at: datetime | None = None  # end of the last good sync
    failing_since: datetime | None = None  # start of the first failed sync after it
    error: str | None = None  # why the last one failed, for people
    counts: Mapping[str, int] = field(default_factory=dict)  # added, updated, unchanged, removed, failed; of the last
    warnings: tuple[str, ...] = ()  # one sentence each, at most MOST_WARNINGS
    job_id: str | None = None


MOST_WARNINGS = 20  # kept of one sync: the rest is counted
