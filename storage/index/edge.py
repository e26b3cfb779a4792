"""The embedded default: Qdrant Edge, Qdrant's own engine inside this process, in a folder on disk."""

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, Lock
from typing import Any, cast

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
# While deleted points are erased: each segment with one is rewritten. The engine's defaults leave up to a fifth.
ERASING = {"deleted_threshold": 1e-9, "vacuum_min_vector_number": 1}
_FIELDS = dict.fromkeys(KEYWORD_FIELDS, qe.PayloadSchemaType.Keyword) | dict.fromkeys(
    INTEGER_FIELDS, qe.PayloadSchemaType.Integer
)
SHARD = "edge"  # folder of the engine's files


class EdgeEngine:
    """An Engine on an EdgeShard, opened by `open_edge`.

    Writes are in its log at once, which survives a killed process; `optimise` and `close` flush it to the disk (an
    fsync takes up to 300 ms on a busy one).
    """

    def __init__(self, shard: qe.EdgeShard, folder: IndexFolder, dimensions: int) -> None:
        self._shard = shard
        self._dimensions = dimensions
        self._folder = folder
        self._unsealed = 0  # points written since the last sealing
        self._sealing = Lock()
        self._gate = _Gate()
        self._deleted = folder.path / "deleted"

    def upsert(self, points: Sequence[StoredPoint]) -> None:
        self._folder.require_space()
        with self._using("written") as shard:
            for batch in slices(points, UPSERT_BATCH):
                shard.update(qe.UpdateOperation.upsert_points([_point(point) for point in batch]))
        if self._is_full(len(points)):
            self.optimise()

    def query(self, query: HybridQuery) -> list[IndexHit]:
        with self._using("searched") as shard:
            found = shard.query(query_request(query))
        return [hit(str(point.id), point.payload or {}, point.score) for point in found]

    def delete(self, rule: Rule) -> None:
        with self._using("written") as shard:
            self._deleted.touch()
            shard.update(qe.UpdateOperation.delete_points_by_filter(filter_of(rule)))

    def revisions(self) -> Counter[tuple[str, str]]:
        pairs: Counter[tuple[str, str]] = Counter()
        offset = None
        while True:
            request = qe.ScrollRequest(
                offset=offset, limit=SCROLL_PAGE, with_payload=list(REVISION_FIELDS), with_vector=False
            )
            with self._using("read") as shard:
                records, offset = shard.scroll(request)
            pairs.update(revision_pair(record.payload or {}) for record in records)
            if offset is None:
                return pairs

    def count(self) -> int:
        with self._using("read") as shard:
            return shard.count(qe.CountRequest(exact=True))

    def optimise(self) -> None:
        with self._using("compacted") as shard:
            shard.flush()
            shard.optimize()

    def erase(self) -> None:
        """Rewrite segments with deleted points, and empty the log, which holds all writes.

        The log is emptied only when all of it is in the segments. A killed process erases at the next call.
        """
        if not self._deleted.exists():
            return
        with self._gate.alone(), _errors(self._folder.path, "compacted"):
            self._shard.flush()
            self._shard.close()
            try:
                self._empty_log()
                eager = _load(self._folder, self._dimensions, **ERASING)
                eager.optimize()
                for field in _FIELDS:  # the index of a field keeps values that no point has any more
                    eager.update(qe.UpdateOperation.delete_field_index(field))
                _index_fields(eager)
                eager.flush()
                eager.close()
                self._deleted.unlink(missing_ok=True)
            finally:
                self._shard = _load(self._folder, self._dimensions)

    def close(self) -> None:
        try:
            with _errors(self._folder.path, "closed"):
                self._shard.close()
        finally:
            self._folder.release()

    @contextmanager
    def _using(self, done: str) -> Iterator[qe.EdgeShard]:
        with self._gate.shared(), _errors(self._folder.path, done):
            yield self._shard

    def _empty_log(self) -> None:
        log, old = self._folder.path / SHARD / "wal", self._folder.path / "wal.erased"
        shutil.rmtree(old, ignore_errors=True)
        if log.exists():
            log.rename(old)  # at once: half a log can't be opened
            shutil.rmtree(old)

    def _is_full(self, written: int) -> bool:
        """Return whether `written` more points fill the open segment: True for only one of several threads."""
        with self._sealing:
            self._unsealed += written
            if self._unsealed < SEGMENT_POINTS:
                return False
            self._unsealed = 0
            return True


class _Gate:
    """Lets many threads in, or one without any other."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._inside = 0
        self._is_closed = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._is_closed)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._is_closed)
            self._is_closed = True
            self._changed.wait_for(lambda: self._inside == 0)
        try:
            yield
        finally:
            with self._changed:
                self._is_closed = False
                self._changed.notify_all()


def open_edge(path: Path, meta: IndexMeta) -> EdgeEngine:
    """Open the index in `path`, created empty if missing.

    Raises StorageError when it is in use, damaged, or of another model.
    """
    folder = IndexFolder(path)
    folder.acquire(meta)
    try:
        return EdgeEngine(_load_or_create(folder, meta.dimensions), folder, meta.dimensions)
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
    shard = folder.path / SHARD
    if (shard / "edge_config.json").exists():
        return _load(folder, dimensions)
    folder.require_space()
    with _errors(folder.path, "made"):
        return _create(shard, dimensions)


def _load(folder: IndexFolder, dimensions: int, **optimising: float) -> qe.EdgeShard:
    with _errors(folder.path, "opened", is_open=False):
        return qe.EdgeShard.load(str(folder.path / SHARD), _config(dimensions, **optimising))


def _create(path: Path, dimensions: int) -> qe.EdgeShard:
    created = qe.EdgeShard.create(str(path), _config(dimensions))
    _index_fields(created)
    return created


def _index_fields(shard: qe.EdgeShard) -> None:
    for field, kind in _FIELDS.items():
        shard.update(qe.UpdateOperation.create_field_index(field, kind))


def _config(dimensions: int, **optimising: Any) -> qe.EdgeConfig:
    """Return the configuration, also for opening: it sets the threads for this machine."""
    return qe.EdgeConfig(
        vectors={DENSE: qe.EdgeVectorParams(size=dimensions, distance=qe.Distance.Cosine)},
        sparse_vectors={SPARSE: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf)},
        hnsw_config=qe.HnswIndexConfig(m=GRAPH_EDGES, ef_construct=100, full_scan_threshold=10_000),
        optimizers=qe.EdgeOptimizersConfig(default_segment_number=MOST_SEGMENTS, **optimising),
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
