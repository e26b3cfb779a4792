"""SearchIndex over the Qdrant engines: the collection, its filters and its hybrid query, described once for all.

edge.py and server.py translate these values into their engine's own types.
"""

import asyncio
import logging
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar

from core.domain.corpus import SearchQuery, SearchScope, SourcedPassage
from core.domain.passages import IndexEntry, IndexHit
from core.ports import AnswerJudge, CorpusRepository
from core.text.words import count_tokens, tokens
from core.thread_work import to_its_end
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


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Weights of words: parallel, sorted by index, no index twice. May be empty."""

    indices: tuple[int, ...] = ()  # unsigned, 32 bits
    values: tuple[float, ...] = ()


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


DENSE = "dense"  # named vector: cosine, from the embedding model
SPARSE = "bm25"  # named sparse vector: term weights; the engine multiplies in the IDF
KEYWORD_FIELDS = ("workspace", "source", "document", "page", "revision", "kind")  # payload fields indexed as keywords
INTEGER_FIELDS = ("position",)  # payload fields indexed as integers: the page number
HIT_FIELDS = ("document", "page", "revision")  # returned with a hit
REVISION_FIELDS = ("document", "revision")
# Candidates that each half of the hybrid hands to the fusion: DBSF over 50 + 50 was best on every set measured.
PREFETCH_LIMIT = 50


@dataclass(frozen=True, slots=True)
class Rule:
    """Which passages may be seen: each of these fields holds one of its values, and no page is past a position."""

    any_of: Mapping[str, Sequence[str]]  # by keyword field
    last_pages: Mapping[str, int] = field(default_factory=dict)  # reading positions by document


@dataclass(frozen=True, slots=True)
class HybridQuery:
    """Two searches, fused by distribution-based score fusion (DBSF), the best `limit` kept.

    Each half takes the whole rule itself: a filter outside would come after its cut.
    """

    halves: Mapping[str, "Vector | SparseVector"]  # DENSE, and SPARSE
    rule: Rule
    candidates: int  # of each half
    limit: int


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A passage as an engine stores it. Texts stay in the database."""

    id: str  # the passage id, a UUID
    dense: "Vector"
    sparse: SparseVector
    payload: Mapping[str, str | int]


def scope_rule(query: SearchQuery, scope: SearchScope) -> Rule:
    """Return the scope, narrowed by the query's own filters."""
    any_of: dict[str, Sequence[str]] = {"workspace": (scope.workspace,), "source": sorted(scope.sources)}
    if query.kind is not None:
        any_of["kind"] = (query.kind,)
    if query.document_ids:
        any_of["document"] = sorted(query.document_ids)
    return Rule(any_of, dict(sorted(scope.positions.items())))


def document_rule(document_id: str, revision: str | None = None) -> Rule:
    """Return the rule for all passages of a document, or of one revision of it."""
    return Rule({"document": (document_id,), **({"revision": (revision,)} if revision is not None else {})})


def hybrid_query(query: SearchQuery, scope: SearchScope, dense: "Vector", sparse: SparseVector) -> HybridQuery:
    """Return the hybrid search; a query without a word that BM25 knows is searched only by meaning."""
    halves: dict[str, Vector | SparseVector] = {DENSE: dense, **({SPARSE: sparse} if sparse.indices else {})}
    return HybridQuery(halves, scope_rule(query, scope), max(PREFETCH_LIMIT, query.limit), query.limit)


def payload(entry: IndexEntry) -> dict[str, str | int]:
    passage = entry.passage
    return {
        "workspace": entry.workspace,
        "source": entry.source_id,
        "document": passage.document_id,
        "page": passage.page_id,
        "revision": passage.revision,
        "kind": entry.kind,
        "position": passage.page_number,
    }


def hit(passage_id: str, payload: Mapping[str, object], score: float) -> IndexHit:
    """Return a hit from an engine's result, whose `payload` has at least HIT_FIELDS."""
    document, page, revision = (str(payload[name]) for name in HIT_FIELDS)
    return IndexHit(passage_id=passage_id, document_id=document, page_id=page, revision=revision, score=score)


def revision_pair(payload: Mapping[str, object]) -> tuple[str, str]:
    document, revision = (str(payload[name]) for name in REVISION_FIELDS)
    return document, revision


def slices(points: Sequence[StoredPoint], size: int) -> list[Sequence[StoredPoint]]:
    """Return `points` in runs of at most `size`."""
    return [points[start : start + size] for start in range(0, len(points), size)]


RERANKED = 20  # hits that the cross-encoder reads
JUDGE_SHARE = 0.5  # of the blended score
ADD_BATCH = 128  # passages embedded before they are stored: limits memory, and the loss after an interruption
SCORE_DIGITS = 9  # behind the point; scores are 0 to 2, and smaller differences come from the order of additions
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
    """A SearchIndex on an engine that is opened at its first use; all work runs in its own threads."""

    def __init__(
        self, open_engine: Callable[[], Engine], embedder: Embedder, reranker: "Reranker | None" = None
    ) -> None:
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


class Reranker:
    """A cross-encoder for the hits of queries that ask for it.

    By itself, a cross-encoder makes results worse outside its training data; mixed half and half with the hybrid score,
    it kept or gained .001-.023 nDCG@10. It takes about 250 ms on two cores, so it is optional for each query.
    """

    def __init__(self, corpus: CorpusRepository, judge: AnswerJudge) -> None:
        self._corpus = corpus
        self._judge = judge

    async def rerank(self, query: SearchQuery, hits: Sequence[IndexHit], scope: SearchScope) -> list[IndexHit]:
        """Return at most `query.limit` hits, judged by their texts, which are read in scope."""
        first, rest = hits[:RERANKED], hits[RERANKED:]
        found = {
            item.passage.id: item for item in await self._corpus.list_passages([h.passage_id for h in first], scope)
        }
        readable = [item for item in first if item.passage_id in found]
        judged = await self._judge.relevance(query.text, [_judged_text(found[item.passage_id]) for item in readable])
        return [*blend(readable, judged), *_below(rest)][: query.limit]


def blend(hits: Sequence[IndexHit], relevance: Sequence[float]) -> list[IndexHit]:
    """Return hits by the mean of their score, scaled to 0..1 over `hits`, and their relevance; best first."""
    scores = [item.score for item in hits]
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    blended = [
        replace(item, score=(1 - JUDGE_SHARE) * _scaled(item.score, low, high) + JUDGE_SHARE * judged)
        for item, judged in zip(hits, relevance, strict=True)
    ]
    return sorted(blended, key=lambda item: -item.score)


def _scaled(score: float, low: float, high: float) -> float:
    return (score - low) / (high - low) if high > low else 1.0


def _below(hits: Sequence[IndexHit]) -> list[IndexHit]:
    """Return the hits that were not judged, in order, with scores below the judged ones."""
    return [replace(item, score=-float(place)) for place, item in enumerate(hits, start=1)]


def _judged_text(found: SourcedPassage) -> str:
    return "\n".join((found.document.title, " > ".join(found.passage.heading_path), found.passage.text))
