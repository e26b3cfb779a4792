"""A job: a durable, visible unit of work, in a tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from core.errors import NotFound

# Keys of an output for another attempt at the same question, not for display (core/work/steps.py).
CALL = "call"  # a digest of everything that decides a step's result
KEPT = "kept"  # the step's result, while another attempt may need it

# Trees and the inbox's entries are kept this long after their end, for audits.
RETENTION = timedelta(days=90)


class JobKind(StrEnum):
    REQUEST = "request"
    PLANNING = "planning"
    TOOL = "tool"
    SYNTHESIS = "synthesis"
    POST = "post"
    INGEST = "ingest"
    SYNC = "sync"
    EXTRACTION = "extraction"
    MAINTENANCE = "maintenance"


class JobStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self in (JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One node of a job tree. `input` and `output` are small JSON objects: ids and counts, never texts of pages.

    `FoundText` is read when the tree is shown.
    """

    id: str
    workspace: str
    root_id: str  # the request at the top; its own id for a root
    parent_id: str | None
    kind: JobKind
    name: str
    status: JobStatus
    created_at: datetime
    input: Mapping[str, object] = field(default_factory=dict)
    output: Mapping[str, object] = field(default_factory=dict)
    error: str | None = None
    attempts: int = 1
    started_at: datetime | None = None
    completed_at: datetime | None = None

    @property
    def asked(self) -> str:
        """The query, the question, or the thing that is read, in its own words; "" for none."""
        given = (self.input.get(name) for name in ("query", "question", "name", "journal", "document", "page_id"))
        return next((str(value) for value in given if value), "")

    @property
    def public_output(self) -> Mapping[str, object]:
        """The output for people, without the data kept for another attempt."""
        return {name: value for name, value in self.output.items() if name not in (CALL, KEPT)}

    @property
    def duration_ms(self) -> float | None:
        if self.started_at is None or self.completed_at is None:
            return None
        return (self.completed_at - self.started_at).total_seconds() * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundText:
    """The beginning of a passage that a tool found, as its reader may see it now."""

    page_id: str
    document_title: str
    page_number: int
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTree:
    """A tree, its root first, with the texts that its tools found by the id of their job."""

    jobs: Sequence[Job]
    found: Mapping[str, Sequence[FoundText]] = field(default_factory=dict)


def no_such_job(job_id: str) -> NotFound:
    """Return the error for an unknown or deleted job."""
    return NotFound(
        f"There is no job {job_id!r}: it never was, or its tree was deleted, as all are {RETENTION.days} days after "
        "their end; `footnote jobs` lists the newest"
    )
