"""The collection, its payload, its filters and its one hybrid query, described once for every engine. Pure.

edge.py and server.py translate these values into their engine's own types and add nothing of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.domain.corpus import IndexEntry, IndexHit, SearchQuery, SearchScope
from storage.index.bm25 import SparseVector

if TYPE_CHECKING:
    from storage.models.local.embeddings import Vector

DENSE = "dense"  # named vector: cosine, from the embedding model
SPARSE = "bm25"  # named sparse vector: term weights; the engine multiplies in the IDF
KEYWORD_FIELDS = ("workspace", "source", "document", "page", "revision", "kind")  # payload fields indexed as keywords
INTEGER_FIELDS = ("position",)  # payload fields indexed as integers: the page number
HIT_FIELDS = ("document", "page", "revision")  # what a hit carries back
REVISION_FIELDS = ("document", "revision")
# Candidates that each half of the hybrid hands to the fusion: DBSF over 50 + 50 was best on every set measured.
PREFETCH_LIMIT = 50


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A keyword field holds one of the values."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Beyond:
    """A passage of `document` on a page after `last`: past a reading position."""

    document: str
    last: int


@dataclass(frozen=True, slots=True)
class Rule:
    """Which passages may be seen: all of `must`, none of `must_not`."""

    must: tuple[AnyOf, ...] = ()
    must_not: tuple[Beyond, ...] = ()


@dataclass(frozen=True, slots=True)
class Prefetch:
    """One half of a hybrid query. It carries the whole rule itself: a filter outside would come after its cut."""

    using: str  # DENSE or SPARSE
    vector: "Vector | SparseVector"
    rule: Rule
    limit: int


@dataclass(frozen=True, slots=True)
class HybridQuery:
    """Prefetches fused by distribution-based score fusion (DBSF), the best `limit` kept."""

    prefetches: tuple[Prefetch, ...]
    limit: int


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A passage as an engine stores it. Texts stay in the database."""

    id: str  # the passage id, a UUID
    dense: "Vector"
    sparse: SparseVector
    payload: Mapping[str, str | int]


def scope_rule(query: SearchQuery, scope: SearchScope) -> Rule:
    """The scope, narrowed by the query's own filters."""
    must = [AnyOf("workspace", (scope.workspace,)), AnyOf("source", tuple(sorted(scope.sources)))]
    if query.kind is not None:
        must.append(AnyOf("kind", (query.kind,)))
    if query.document_ids:
        must.append(AnyOf("document", tuple(sorted(query.document_ids))))
    beyond = tuple(Beyond(document, last) for document, last in sorted(scope.positions.items()))
    return Rule(must=tuple(must), must_not=beyond)


def document_rule(document_id: str, revision: str | None = None) -> Rule:
    """All passages of a document, or of one revision of it."""
    must = (AnyOf("document", (document_id,)),)
    return Rule(must=must if revision is None else (*must, AnyOf("revision", (revision,))))


def hybrid_query(query: SearchQuery, scope: SearchScope, dense: "Vector", sparse: SparseVector) -> HybridQuery:
    """The one search there is. A query without a word that BM25 knows is searched by meaning alone."""
    rule = scope_rule(query, scope)
    limit = max(PREFETCH_LIMIT, query.limit)
    prefetches = [Prefetch(DENSE, dense, rule, limit)]
    if sparse.indices:
        prefetches.append(Prefetch(SPARSE, sparse, rule, limit))
    return HybridQuery(tuple(prefetches), query.limit)


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
    """A hit from what an engine hands back; `payload` holds HIT_FIELDS at least."""
    document, page, revision = (str(payload[name]) for name in HIT_FIELDS)
    return IndexHit(passage_id=passage_id, document_id=document, page_id=page, revision=revision, score=score)


def revision_pair(payload: Mapping[str, object]) -> tuple[str, str]:
    document, revision = (str(payload[name]) for name in REVISION_FIELDS)
    return document, revision


def slices(points: Sequence[StoredPoint], size: int) -> list[Sequence[StoredPoint]]:
    """`points` in runs of at most `size`."""
    return [points[start : start + size] for start in range(0, len(points), size)]
