"""The result of an ingest: counts, and the failed files with their reasons."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypedDict

NO_READER = "no reader for"  # begins the reason of a file that nothing here could read


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A file that could not be read."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestProgress:
    """The progress of an ingest; `total` counts the files to read, or the documents to extract."""

    done: int
    total: int
    path: str  # the file just finished
    stage: str = "Reading"


ProgressCallback = Callable[[IngestProgress], None]


def ignore_progress(progress: IngestProgress) -> None:
    """For callers that show none."""


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
    """Counts of one ingest. `pages` and `passages` are of added and updated documents only."""

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
