"""Small fakes with state, where the real part is slow or hard to foresee."""

import math
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from core.domain.chat import Capabilities
from core.domain.corpus import SearchQuery, SearchScope
from core.domain.jobs import Job
from core.domain.passages import IndexEntry, IndexHit
from core.text.words import tokens
from storage.models.local.encoders import Vector
from storage.text import has_words, indexed_text


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

    async def erase(self) -> None: ...

    async def close(self) -> None: ...


def _common_words(query: str, text: str) -> float:
    return float(len(set(query.lower().split()) & set(text.lower().replace(".", " ").split())))


def _matches(entry: IndexEntry, query: SearchQuery, scope: SearchScope) -> bool:
    last = scope.positions.get(entry.passage.document_id)
    return (
        entry.workspace == scope.workspace
        and entry.source_id in scope.sources
        and entry.passage.document_id not in scope.hidden
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


class MemoryIndex:
    """A SearchIndex that ranks by the shared words, rare ones counting more, and then by passage id."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[IndexEntry, Counter[str]]] = {}

    async def add(self, entries: Sequence[IndexEntry]) -> None:
        self._entries.update({e.passage.id: (e, Counter(tokens(indexed_text(e)))) for e in entries})

    async def search(self, query: SearchQuery, scope: SearchScope) -> list[IndexHit]:
        if not has_words(query.text):
            return []
        words = set(tokens(query.text))
        visible = [(e, counts) for e, counts in self._entries.values() if _matches(e, query, scope)]
        scored = [(self._score(counts, words), e) for e, counts in visible]
        scored.sort(key=lambda pair: (-pair[0], pair[1].passage.id))
        return [_hit(entry, score) for score, entry in scored[: max(query.limit, 0)]]

    async def remove_revision(self, document_id: str, revision: str) -> None:
        self._keep(lambda e: (e.passage.document_id, e.passage.revision) != (document_id, revision))

    async def remove_document(self, document_id: str) -> None:
        self._keep(lambda e: e.passage.document_id != document_id)

    async def revisions(self) -> dict[tuple[str, str], int]:
        return Counter((e.passage.document_id, e.passage.revision) for e, _ in self._entries.values())

    async def count(self) -> int:
        return len(self._entries)

    async def optimise(self) -> None:
        """Nothing to compact."""

    async def erase(self) -> None:
        """Nothing is on the disk."""

    async def close(self) -> None:
        """Nothing to release."""

    def _score(self, counts: Counter[str], words: set[str]) -> float:
        total = sum(counts.values()) or 1
        return sum(self._rarity(word) * counts[word] / (counts[word] + 1) for word in words) + 1 / (1000 + total)

    def _rarity(self, word: str) -> float:
        holding = sum(1 for _, counts in self._entries.values() if word in counts)
        return math.log(1 + (len(self._entries) - holding + 0.5) / (holding + 0.5))

    def _keep(self, wanted: Callable[[IndexEntry], bool]) -> None:
        self._entries = {key: pair for key, pair in self._entries.items() if wanted(pair[0])}


def _hit(entry: IndexEntry, score: float) -> IndexHit:
    passage = entry.passage
    return IndexHit(
        passage_id=passage.id,
        document_id=passage.document_id,
        page_id=passage.page_id,
        revision=passage.revision,
        score=score,
    )


HASH_DIMENSIONS = 256


class HashEmbedder:
    """An Embedder by feature hashing: texts that share words are near each other. The same on every machine."""

    name = "hash-256"
    dimensions = HASH_DIMENSIONS

    def embed_query(self, text: str) -> Vector:
        vector = np.full(HASH_DIMENSIONS, 1e-3, dtype=np.float32)  # never all zero, which has no direction
        for word, times in Counter(tokens(text)).items():
            digest = zlib.crc32(b"sign" + word.encode())
            vector[digest % HASH_DIMENSIONS] += math.sqrt(times) * (1 if digest & 0x8000_0000 else -1)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return [self.embed_query(text) for text in texts]

    def close(self) -> None:
        """Nothing to release."""


class MemoryCapabilities:
    """What was found out, for as long as the process runs (implements core.ports.providers.CapabilityMemory)."""

    def __init__(self) -> None:
        self._kept: dict[str, Capabilities] = {}

    async def find(self, key: str) -> Capabilities | None:
        return self._kept.get(key)

    async def keep(self, key: str, found: Capabilities) -> None:
        self._kept[key] = found


async def never(*_: object) -> str:
    """Stands for what a test doesn't call."""
    raise AssertionError("it was called")
