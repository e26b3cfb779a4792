"""SearchIndex over any of the Qdrant engines: all work in threads of its own, never on the event loop."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Protocol, TypeVar

from core.domain.corpus import IndexEntry, IndexHit, SearchQuery, SearchScope
from core.thread_work import to_its_end
from storage.index.bm25 import weigh_passage, weigh_query
from storage.index.query import HybridQuery, Rule, StoredPoint, document_rule, hybrid_query, payload
from storage.models.local.embeddings import Embedder
from storage.text import has_words, indexed_text, plain

ADD_BATCH = 128  # passages embedded before they are stored: bounds memory, and what an interruption can lose
SCORE_DIGITS = 9  # behind the point; scores are 0 to 2, and what is below comes from the order of additions
THREADS = 4  # searches under way at once; more would only wait for the two cores a small machine has

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class Engine(Protocol):
    """An opened collection. Blocking, and safe to call from several threads. Raises StorageError."""

    def upsert(self, points: Sequence[StoredPoint]) -> None:
        """Insert or replace by id; when it returns, a killed process loses nothing of it."""
        ...

    def query(self, query: HybridQuery) -> list[IndexHit]:
        """Best first, at most `query.limit`."""
        ...

    def delete(self, rule: Rule) -> None: ...

    def revisions(self) -> Counter[tuple[str, str]]:
        """How many points there are of each (document id, revision)."""
        ...

    def count(self) -> int: ...

    def optimise(self) -> None:
        """Compact after many writes, and have them on disk."""
        ...

    def close(self) -> None: ...


class QdrantIndex:
    """A SearchIndex on an engine that is opened at its first use, so that commands which do not search pay nothing."""

    def __init__(self, open_engine: Callable[[], Engine], embedder: Embedder) -> None:
        self._open_engine = open_engine
        self._embedder = embedder
        self._engine: Engine | None = None
        self._opening = Lock()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="index")

    async def add(self, entries: Sequence[IndexEntry]) -> None:
        for start in range(0, len(entries), ADD_BATCH):
            await self._run(partial(self._add, entries[start : start + ADD_BATCH]))

    async def search(self, query: SearchQuery, scope: SearchScope) -> list[IndexHit]:
        if not scope.sources or query.limit < 1 or not has_words(query.text):
            return []
        return await self._run(lambda: self._search(query, scope))

    async def remove_revision(self, document_id: str, revision: str) -> None:
        await self._run(lambda: self._opened().delete(document_rule(document_id, revision)))

    async def remove_document(self, document_id: str) -> None:
        await self._run(lambda: self._opened().delete(document_rule(document_id)))

    async def revisions(self) -> dict[tuple[str, str], int]:
        return await self._run(lambda: self._opened().revisions())

    async def count(self) -> int:
        return await self._run(lambda: self._opened().count())

    async def optimise(self) -> None:
        await self._run(lambda: self._opened().optimise())

    async def close(self) -> None:
        """Finish what is under way and release the folder; safe to repeat."""
        await to_its_end(self._close)

    async def _run(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _opened(self) -> Engine:
        with self._opening:
            if self._engine is None:
                self._engine = self._open_engine()
            return self._engine

    def _add(self, entries: Sequence[IndexEntry]) -> None:
        engine = self._opened()
        texts = [indexed_text(entry) for entry in entries]
        vectors = self._embedder.embed_passages(texts)
        engine.upsert(
            [
                StoredPoint(entry.passage.id, vector, weigh_passage(text), payload(entry))
                for entry, text, vector in zip(entries, texts, vectors, strict=True)
            ]
        )
        _log.debug("indexed %d passages", len(entries))

    def _search(self, query: SearchQuery, scope: SearchScope) -> list[IndexHit]:
        text = plain(query.text) or query.text
        engine = self._opened()
        hits = engine.query(hybrid_query(query, scope, self._embedder.embed_query(text), weigh_query(text)))
        # Engines give copies of a passage in any order, and scores that differ in the last digit, so that the same
        # question would cite another one each time.
        exact = (replace(hit, score=round(hit.score, SCORE_DIGITS)) for hit in hits)
        return sorted(exact, key=lambda hit: (-hit.score, hit.passage_id))

    def _close(self) -> None:
        self._threads.shutdown(wait=True)
        with self._opening:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()
