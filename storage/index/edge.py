"""The embedded default: Qdrant Edge, Qdrant's own engine inside this process, in a folder on disk."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import cast

import qdrant_edge as qe

from core.domain.passages import IndexHit
from core.errors import StorageError
from storage.index.engine import (
    DENSE,
    HIT_FIELDS,
    INTEGER_FIELDS,
    KEYWORD_FIELDS,
    REVISION_FIELDS,
    SPARSE,
    HybridQuery,
    Rule,
    SparseVector,
    StoredPoint,
    revision_pair,
    slices,
)
from storage.index.folder import IndexFolder, IndexMeta, damaged
from storage.index.index import hit
from storage.models.local.encoders import Vector, cores

UPSERT_BATCH = 512  # points in one update
SCROLL_PAGE = 5_000  # points in one read of `revisions`
# Edges of the HNSW graph: none, as dense search is exact (7 ms at 100,000 passages, where HNSW lost 2-8 % of the hits).
GRAPH_EDGES = 0
# Points after which a segment is sealed: each search thread reads segments of its own, so an index in one piece keeps
# one core busy and the rest idle. Smaller ones cost more per search than they share out.
SEGMENT_POINTS = 25_000
MOST_SEGMENTS = 9  # beyond it the smallest are merged; one of them is the open one


class EdgeEngine:
    """An Engine on an EdgeShard, opened by `open_edge`.

    Writes are in its log at once, which survives a killed process; `optimise` and `close` flush it to the disk (an
    fsync takes up to 300 ms on a busy one).
    """

    def __init__(self, shard: qe.EdgeShard, folder: IndexFolder) -> None:
        self._shard = shard
        self._folder = folder
        self._unsealed = 0  # points written since the last sealing
        self._sealing = Lock()

    def upsert(self, points: Sequence[StoredPoint]) -> None:
        self._folder.require_space()
        with _errors(self._folder.path, "written"):
            for batch in slices(points, UPSERT_BATCH):
                self._shard.update(qe.UpdateOperation.upsert_points([_point(point) for point in batch]))
        if self._is_full(len(points)):
            self.optimise()

    def query(self, query: HybridQuery) -> list[IndexHit]:
        with _errors(self._folder.path, "searched"):
            found = self._shard.query(query_request(query))
        return [hit(str(point.id), point.payload or {}, point.score) for point in found]

    def delete(self, rule: Rule) -> None:
        with _errors(self._folder.path, "written"):
            self._shard.update(qe.UpdateOperation.delete_points_by_filter(filter_of(rule)))

    def revisions(self) -> Counter[tuple[str, str]]:
        pairs: Counter[tuple[str, str]] = Counter()
        offset = None
        while True:
            request = qe.ScrollRequest(
                offset=offset, limit=SCROLL_PAGE, with_payload=list(REVISION_FIELDS), with_vector=False
            )
            with _errors(self._folder.path, "read"):
                records, offset = self._shard.scroll(request)
            pairs.update(revision_pair(record.payload or {}) for record in records)
            if offset is None:
                return pairs

    def count(self) -> int:
        with _errors(self._folder.path, "read"):
            return self._shard.count(qe.CountRequest(exact=True))

    def optimise(self) -> None:
        with _errors(self._folder.path, "compacted"):
            self._shard.flush()
            self._shard.optimize()

    def close(self) -> None:
        try:
            with _errors(self._folder.path, "closed"):
                self._shard.close()
        finally:
            self._folder.release()

    def _is_full(self, written: int) -> bool:
        """Return whether `written` more points fill the open segment: True for only one of several threads."""
        with self._sealing:
            self._unsealed += written
            if self._unsealed < SEGMENT_POINTS:
                return False
            self._unsealed = 0
            return True


def open_edge(path: Path, meta: IndexMeta) -> EdgeEngine:
    """Open the index in `path`, created empty if missing.

    Raises StorageError when it is in use, damaged, or of another model.
    """
    folder = IndexFolder(path)
    folder.acquire(meta)
    try:
        return EdgeEngine(_load_or_create(folder, meta.dimensions), folder)
    except StorageError:
        folder.release()
        raise


def query_request(query: HybridQuery) -> qe.QueryRequest:
    return qe.QueryRequest(
        limit=query.limit,
        prefetches=[
            qe.Prefetch(
                limit=query.candidates,
                query=qe.Query.Nearest(_vector(vector), using=using),
                filter=filter_of(query.rule),
                params=qe.SearchParams(exact=using == DENSE),
            )
            for using, vector in query.halves.items()
        ],
        query=cast("qe.Fusion", qe.Fusion.Dbsf()),  # missing in its stubs
        with_payload=list(HIT_FIELDS),
    )


def filter_of(rule: Rule) -> qe.Filter:
    return qe.Filter(
        must=[qe.FieldCondition(field, match=qe.MatchAny(list(values))) for field, values in rule.any_of.items()],
        must_not=[
            qe.Filter(
                must=[
                    qe.FieldCondition("document", match=qe.MatchValue(document)),
                    qe.FieldCondition("position", range=qe.RangeFloat(gt=last)),
                ]
            )
            for document, last in rule.last_pages.items()
        ],
    )


def _vector(vector: "Vector | SparseVector") -> list[float] | qe.SparseVector:
    if isinstance(vector, SparseVector):
        return qe.SparseVector(list(vector.indices), list(vector.values))
    floats: list[float] = vector.tolist()
    return floats


def _point(point: StoredPoint) -> qe.Point:
    return qe.Point(point.id, {DENSE: _vector(point.dense), SPARSE: _vector(point.sparse)}, dict(point.payload))


def _load_or_create(folder: IndexFolder, dimensions: int) -> qe.EdgeShard:
    shard = folder.path / "edge"
    if (shard / "edge_config.json").exists():
        with _errors(folder.path, "opened", is_open=False):
            return qe.EdgeShard.load(str(shard), _config(dimensions))
    folder.require_space()
    with _errors(folder.path, "made"):
        return _create(shard, dimensions)


def _create(path: Path, dimensions: int) -> qe.EdgeShard:
    created = qe.EdgeShard.create(str(path), _config(dimensions))
    kinds = dict.fromkeys(KEYWORD_FIELDS, qe.PayloadSchemaType.Keyword) | dict.fromkeys(
        INTEGER_FIELDS, qe.PayloadSchemaType.Integer
    )
    for field, kind in kinds.items():
        created.update(qe.UpdateOperation.create_field_index(field, kind))
    return created


def _config(dimensions: int) -> qe.EdgeConfig:
    """Return the configuration, also for opening: it sets the threads for this machine."""
    return qe.EdgeConfig(
        vectors={DENSE: qe.EdgeVectorParams(size=dimensions, distance=qe.Distance.Cosine)},
        sparse_vectors={SPARSE: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf)},
        hnsw_config=qe.HnswIndexConfig(m=GRAPH_EDGES, ef_construct=100, full_scan_threshold=10_000),
        optimizers=qe.EdgeOptimizersConfig(default_segment_number=MOST_SEGMENTS),
        max_search_threads=cores(),
    )


@contextmanager
def _errors(path: Path, done: str, *, is_open: bool = True) -> Iterator[None]:
    """Raise the engine's errors, always plain Exceptions, as StorageError; a narrower class is a bug."""
    try:
        yield
    except Exception as error:
        if type(error) is not Exception:
            raise
        reason = str(error).splitlines()[0].removeprefix("Service runtime error: ")
        if is_open:
            raise StorageError(f"The search index in {str(path)!r} can't be {done} ({reason}).") from error
        raise StorageError(damaged(path, reason)) from error
