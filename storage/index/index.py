"""SearchIndex over the Qdrant engines: passages and questions as vectors and word weights, searched in scope."""

import asyncio
import logging
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from core.domain.corpus import SearchQuery, SearchScope
from core.domain.passages import IndexEntry, IndexHit
from core.text.words import count_tokens, tokens
from core.thread_work import to_its_end
from storage.index.engine import (
    DENSE,
    HIT_FIELDS,
    SPARSE,
    Engine,
    HybridQuery,
    Rule,
    SparseVector,
    StoredPoint,
    document_rule,
    payload,
)
from storage.index.reranking import RERANKED, Reranker
from storage.models.local.encoders import Embedder
from storage.text import has_words, indexed_text, plain

if TYPE_CHECKING:
    from storage.models.local.encoders import Vector

# BM25's usual constants: how fast repeats of a word stop counting, and how much length is held against a text.
SATURATION = 1.2
LENGTH_PENALTY = 0.75
# Tokens (stop words left out) of an average passage. Fixed, because stored weights are computed with it: passages are
# packed to 128-256 model tokens, of which 60-110 are such words. On 142 questions, values from 75 to 256 moved the
# hybrid's nDCG@10 by .005 (BM25's own by .02): fitting it to each corpus isn't worth recomputing stored weights.
AVERAGE_LENGTH = 110.0
# Candidates that each half of the hybrid hands to the fusion: DBSF over 50 + 50 was best on every set measured.
PREFETCH_LIMIT = 50
ADD_BATCH = 128  # passages embedded before they are stored: limits memory, and the loss after an interruption
SCORE_DIGITS = 9  # behind the point; scores are 0 to 2, and smaller differences come from the order of additions
THREADS = 4  # searches under way at once; more would only wait for the two cores a small machine has

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


def weigh_passage(text: str) -> SparseVector:
    """Return the BM25 term weights of a passage, without the IDF."""
    words = count_tokens(text)
    penalty = SATURATION * (1 - LENGTH_PENALTY + LENGTH_PENALTY * words.total() / AVERAGE_LENGTH)
    return _sparse({word: n * (SATURATION + 1) / (n + penalty) for word, n in words.items()})


def weigh_query(text: str) -> SparseVector:
    """Return each word of a query once, with weight 1. Empty for a query of stop words."""
    return _sparse(dict.fromkeys(tokens(text), 1.0))


def _sparse(weights: dict[str, float]) -> SparseVector:
    hashed: dict[int, float] = {}
    for word, weight in weights.items():
        index = zlib.crc32(word.encode())
        hashed[index] = max(weight, hashed.get(index, 0.0))  # two words on one index are as one: rarer than 1 in 10,000
    ordered = sorted(hashed)
    return SparseVector(tuple(ordered), tuple(hashed[index] for index in ordered))


def scope_rule(query: SearchQuery, scope: SearchScope) -> Rule:
    """Return the scope, narrowed by the query's own filters."""
    any_of: dict[str, Sequence[str]] = {"workspace": (scope.workspace,), "source": sorted(scope.sources)}
    if query.kind is not None:
        any_of["kind"] = (query.kind,)
    if query.document_ids:
        any_of["document"] = sorted(query.document_ids)
    return Rule(any_of, dict(sorted({**scope.positions, **dict.fromkeys(scope.hidden, 0)}.items())))


def hybrid_query(query: SearchQuery, scope: SearchScope, dense: "Vector", sparse: SparseVector) -> HybridQuery:
    """Return the hybrid search; a query without a word that BM25 knows is searched only by meaning."""
    halves: dict[str, Vector | SparseVector] = {DENSE: dense, **({SPARSE: sparse} if sparse.indices else {})}
    return HybridQuery(halves, scope_rule(query, scope), max(PREFETCH_LIMIT, query.limit), query.limit)


def hit(passage_id: str, payload: Mapping[str, object], score: float) -> IndexHit:
    """Return a hit from an engine's result, whose `payload` has at least HIT_FIELDS."""
    document, page, revision = (str(payload[name]) for name in HIT_FIELDS)
    return IndexHit(passage_id=passage_id, document_id=document, page_id=page, revision=revision, score=score)


class QdrantIndex:
    """A SearchIndex on an engine that is opened at its first use; all work runs in its own threads."""

    def __init__(self, open_engine: Callable[[], Engine], embedder: Embedder, reranker: Reranker | None = None) -> None:
        self._open_engine = open_engine
        self._embedder = embedder
        self._reranker = reranker
        self._engine: Engine | None = None
        self._opening = Lock()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="index")

    async def add(self, entries: Sequence[IndexEntry]) -> None:
        for start in range(0, len(entries), ADD_BATCH):
            await self._run(partial(self._add, entries[start : start + ADD_BATCH]))

    async def search(self, query: SearchQuery, scope: SearchScope) -> list[IndexHit]:
        if not scope.sources or query.limit < 1 or not has_words(query.text):
            return []
        if not query.rerank or self._reranker is None:
            return await self._run(lambda: self._search(query, scope))
        candidates = replace(query, limit=max(query.limit, RERANKED))
        return await self._reranker.rerank(query, await self._run(lambda: self._search(candidates, scope)), scope)

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

    async def erase(self) -> None:
        await self._run(lambda: self._opened().erase())

    async def close(self) -> None:
        """Finish current work and release the folder; safe to repeat."""
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
        # Engines return copies of a passage in any order, with scores that differ in the last digit; without rounding,
        # the same question would cite another copy each time.
        exact = (replace(hit, score=round(hit.score, SCORE_DIGITS)) for hit in hits)
        return sorted(exact, key=lambda hit: (-hit.score, hit.passage_id))

    def _close(self) -> None:
        self._threads.shutdown(wait=True)
        with self._opening:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()
