"""Small fakes with state, for what tests need in a simpler form than the in-memory twins give it."""

import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from core.domain.corpus import IndexEntry, IndexHit, SearchQuery, SearchScope
from core.domain.jobs import Job


class ManualClock:
    """Time that passes when a test says so."""

    def __init__(self, start: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)) -> None:
        self._start = start
        self.seconds = 0.0

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    def advance(self, seconds: float) -> None:
        self.seconds += seconds


class RecordingProgress:
    """Keeps what an answer in the making would show."""

    def __init__(self) -> None:
        self.shown = ""
        self.resets = 0
        self.steps: list[Job] = []

    def text(self, piece: str) -> None:
        self.shown += piece

    def reset(self) -> None:
        self.shown = ""
        self.resets += 1

    def step(self, job: Job) -> None:
        self.steps.append(job)


class WordIndex:
    """A SearchIndex whose score is the number of the query's words in the passage: easy to foresee."""

    def __init__(self) -> None:
        self.entries: dict[str, IndexEntry] = {}
        self.queries: list[SearchQuery] = []

    async def add(self, entries: Sequence[IndexEntry]) -> None:
        self.entries.update((entry.passage.id, entry) for entry in entries)

    async def search(self, query: SearchQuery, scope: SearchScope) -> list[IndexHit]:
        self.queries.append(query)
        hits = [
            IndexHit(
                passage_id=entry.passage.id,
                document_id=entry.passage.document_id,
                page_id=entry.passage.page_id,
                revision=entry.passage.revision,
                score=_common_words(query.text, f"{entry.title} {entry.passage.text}"),
            )
            for entry in self.entries.values()
            if _matches(entry, query, scope)
        ]
        return sorted((hit for hit in hits if hit.score), key=lambda hit: -hit.score)[: query.limit]

    async def remove_revision(self, document_id: str, revision: str) -> None:
        gone = [
            k for k, e in self.entries.items() if (e.passage.document_id, e.passage.revision) == (document_id, revision)
        ]
        for key in gone:
            del self.entries[key]

    async def remove_document(self, document_id: str) -> None:
        for key in [key for key, entry in self.entries.items() if entry.passage.document_id == document_id]:
            del self.entries[key]

    async def revisions(self) -> dict[tuple[str, str], int]:
        return Counter((entry.passage.document_id, entry.passage.revision) for entry in self.entries.values())

    async def count(self) -> int:
        return len(self.entries)

    async def optimise(self) -> None: ...

    async def close(self) -> None: ...


def _common_words(query: str, text: str) -> float:
    return float(len(set(query.lower().split()) & set(text.lower().replace(".", " ").split())))


def _matches(entry: IndexEntry, query: SearchQuery, scope: SearchScope) -> bool:
    last = scope.positions.get(entry.passage.document_id)
    return (
        entry.workspace == scope.workspace
        and entry.source_id in scope.sources
        and (last is None or entry.passage.page_number <= last)
        and query.kind in (None, entry.kind)
        and (not query.document_ids or entry.passage.document_id in query.document_ids)
    )


class RealClock:
    """The machine's time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()
