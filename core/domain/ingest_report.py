"""Reports of ingests and extractions: counts, and each problem with its reason."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import TypedDict

from core.domain.extracts import ExtractType, Spending
from core.domain.reader_kinds import UNREAD_FORMATS

_SHOWN = 10  # failures and warnings of one document that its job shows
NO_READER = "no reader for"  # begins the reason of a file that nothing here could read


def failure_words(name: str, reason: str) -> str:
    """Return the reason why a file was not read as sentences for a person, without its name."""
    suffix = PurePath(name).suffix.lower()
    if reason.startswith(f"{NO_READER} this"):
        reason = reason.removeprefix(NO_READER).strip().replace(": ", " can't be read: ", 1)
    elif reason.startswith(NO_READER) and not suffix:
        reason = "files without an ending such as .pdf can't be read"
    elif reason.startswith(NO_READER):
        known = UNREAD_FORMATS.get(suffix)
        kind, advice = (known[0], f". Export it as {known[1]}") if known else (suffix, "")
        reason = f"{kind} files can't be read{advice}"
    return f"{reason[:1].upper()}{reason[1:].rstrip('.')}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A file that could not be read."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestProgress:
    """Progress of an ingest; `total` counts the files to read, or the documents to extract."""

    done: int
    total: int
    path: str  # the file just finished, or under way
    stage: str = "Reading"
    page: int = 0  # of the file under way
    pages: int = 0  # 0: not known
    is_under_way: bool = False


ProgressCallback = Callable[[IngestProgress], None]


def ignore_progress(progress: IngestProgress) -> None:
    """Ignore progress."""


class DocumentCounts(TypedDict):
    added: int
    updated: int
    unchanged: int
    removed: int
    failed: int


class FailureJson(TypedDict):
    path: str
    reason: str


class WarningJson(TypedDict):
    path: str
    warning: str


class ReportJson(TypedDict):
    documents: DocumentCounts
    pages: int
    passages: int
    extracts: int
    seconds: float
    failures: list[FailureJson]
    warnings: list[WarningJson]


@dataclass(slots=True, kw_only=True)
class IngestReport:
    """Counts of one ingest. `pages` and `passages` belong to the added and updated documents."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    pages: int = 0
    passages: int = 0
    extracts: int = 0
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)  # (path, one sentence)

    def add(self, other: "IngestReport") -> None:
        """Take in the report of another path of the same command."""
        self.added += other.added
        self.updated += other.updated
        self.unchanged += other.unchanged
        self.removed += other.removed
        self.pages += other.pages
        self.passages += other.passages
        self.extracts += other.extracts
        self.seconds += other.seconds
        self.failures += other.failures
        self.warnings += other.warnings

    def to_json(self) -> ReportJson:
        return {
            "documents": {
                "added": self.added,
                "updated": self.updated,
                "unchanged": self.unchanged,
                "removed": self.removed,
                "failed": len(self.failures),
            },
            "pages": self.pages,
            "passages": self.passages,
            "extracts": self.extracts,
            "seconds": round(self.seconds, 3),
            "failures": [{"path": failure.path, "reason": failure.reason} for failure in self.failures],
            "warnings": [{"path": path, "warning": warning} for path, warning in self.warnings],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """Differences between the index and the database, over all workspaces."""

    expected: int  # passages it should hold
    lacking: int  # of these, passages it lacks
    incomplete: tuple[str, ...]  # sorted IDs of their documents
    left_over: tuple[tuple[str, str], ...]  # (document id, revision) pairs that are no longer live, sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairReport:
    """The changes of a repair to the index."""

    documents: int  # indexed again
    passages: int  # of these documents
    left_over: int  # revisions removed

    def to_json(self) -> dict[str, int]:
        """Return the JSON of `footnote db reindex`."""
        return {"documents": self.documents, "passages": self.passages, "left_over": self.left_over}


@dataclass(slots=True, kw_only=True)
class ExtractionReport:
    """The outcome of an extraction. `failures` and `warnings` are (path, extractor, reason).

    A failure is an extractor that failed, or a refused extract. A warning is data left out because of a limit.
    """

    documents: int = 0  # read by at least one extractor
    unchanged: int = 0  # up to date
    counts: Counter[ExtractType] = field(default_factory=Counter)
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: list[tuple[str, str, str]] = field(default_factory=list)
    spent: Spending = field(default_factory=Spending)  # on a model
    stopped: str | None = None  # why a model wasn't asked about all: a budget or an error
    resume_at: datetime | None = None  # when the rest can be asked about, if known
    waiting: int = 0  # documents left for a model
    seconds: float = 0.0
    job_id: str | None = None  # root of its tree; None if there was nothing to do

    @property
    def extracts(self) -> int:
        return sum(self.counts.values())

    def add(self, other: "ExtractionReport") -> None:
        """Add the outcome of another run."""
        self.documents += other.documents
        self.unchanged += other.unchanged
        self.counts += other.counts
        self.failures += other.failures
        self.warnings += other.warnings
        self.spent += other.spent
        self.stopped = other.stopped or self.stopped
        self.resume_at = other.resume_at or self.resume_at
        self.waiting += other.waiting
        self.seconds += other.seconds
        self.job_id = other.job_id or self.job_id

    def note(self, path: str, extractor: str, *, error: str | None, warning: str | None) -> None:
        """Add the problems of an extractor in a document."""
        if error is not None:
            self.failures.append((path, extractor, error))
        if warning is not None:
            self.warnings.append((path, extractor, warning))

    def troubles(self, path: str) -> dict[str, object]:
        """Return the problems of a document for its job."""
        problems = {"failures": self.failures, "warnings": self.warnings}
        named = {
            kind: [f"{name}: {why}" for where, name, why in items if where == path] for kind, items in problems.items()
        }
        return {kind: items[:_SHOWN] for kind, items in named.items() if items}

    def to_json(self) -> dict[str, object]:
        return {
            "documents": self.documents,
            "unchanged": self.unchanged,
            "extracts": self.extracts,
            "by_type": {kind.value: count for kind, count in self.counts.items()},
            "seconds": round(self.seconds, 3),
            "failures": [_to_json(failure) for failure in self.failures],
            "warnings": [_to_json(warning) for warning in self.warnings],
            "model": {
                "requests": self.spent.requests,
                "tokens": self.spent.tokens,
                "stopped": self.stopped,
                "waiting": self.waiting,
            },
            "job": self.job_id,
        }


def _to_json(item: tuple[str, str, str]) -> dict[str, str]:
    path, extractor, reason = item
    return {"path": path, "extractor": extractor, "reason": reason}
