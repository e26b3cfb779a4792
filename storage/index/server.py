"""Qdrant through qdrant-client: a server or cluster by URL, or the client's own local mode.

Local mode searches by brute force in Python: for platforms without an Edge wheel, and for contract tests.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from threading import RLock

from pydantic import ValidationError
from qdrant_client import QdrantClient, models
from qdrant_client.common.version_check import is_compatible
from qdrant_client.http.exceptions import ApiException

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
from storage.index.folder import IndexFolder, IndexMeta, damaged, mismatch, parse_meta
from storage.index.index import hit
from storage.models.local.encoders import Vector

UPSERT_BATCH = 128  # points in one request: about 1 MB of JSON
SCROLL_PAGE = 5_000  # points in one read of `revisions`
TIMEOUT_SECONDS = 30
LOCAL_COLLECTION = "footnote"
NEW_COLLECTION = "name a new [index] collection and build that one with `footnote db reindex`"
META_KEY = "footnote"  # of the collection's metadata: the model its vectors come from

_log = logging.getLogger(__name__)


class ClientEngine:
    """An Engine on a QdrantClient, opened by `open_server`, `open_local` or `open_memory`.

    A lock keeps local mode to one call at a time, as it is not thread-safe; a server's calls run side by side.
    """

    def __init__(
        self, client: QdrantClient, collection: str, *, name: str, folder: IndexFolder | None = None, local: bool
    ) -> None:
        self._client = client
        self._collection = collection
        self._name = name  # for messages: URL or folder
        self._folder = folder
        self._lock = RLock() if local else None
        self._local = local

    def upsert(self, points: Sequence[StoredPoint]) -> None:
        for batch in slices(points, UPSERT_BATCH):
            with self._call():
                self._client.upsert(self._collection, [_point(point) for point in batch], wait=True)

    def query(self, query: HybridQuery) -> list[IndexHit]:
        with self._call():
            response = self._client.query_points(
                self._collection,
                prefetch=[
                    models.Prefetch(
                        query=_vector(vector),
                        using=using,
                        filter=filter_of(query.rule),
                        limit=query.candidates,
                        params=models.SearchParams(exact=True) if self._local and using == DENSE else None,
                    )
                    for using, vector in query.halves.items()
                ],
                query=models.FusionQuery(fusion=models.Fusion.DBSF),
                limit=query.limit,
                with_payload=list(HIT_FIELDS),
            )
        return [hit(str(point.id), point.payload or {}, point.score) for point in response.points]

    def delete(self, rule: Rule) -> None:
        with self._call():
            self._client.delete(self._collection, models.FilterSelector(filter=filter_of(rule)), wait=True)

    def revisions(self) -> Counter[tuple[str, str]]:
        pairs: Counter[tuple[str, str]] = Counter()
        offset = None
        while True:
            with self._call():
                records, offset = self._client.scroll(
                    self._collection, limit=SCROLL_PAGE, offset=offset, with_payload=list(REVISION_FIELDS)
                )
            pairs.update(revision_pair(record.payload or {}) for record in records)
            if offset is None:
                return pairs

    def count(self) -> int:
        with self._call():
            return self._client.count(self._collection, exact=True).count

    def optimise(self) -> None:
        """Nothing: a server compacts by itself, local mode has nothing to compact."""

    def erase(self) -> None:
        """Nothing: a server erases by itself, local mode has deleted rows overwritten."""

    def close(self) -> None:
        try:
            with self._call():
                self._client.close()
        finally:
            if self._folder is not None:
                self._folder.release()

    def prepare(self, meta: IndexMeta) -> None:
        """Create the collection and its payload indexes if missing. Raises StorageError for another model."""
        with self._call():
            if not self._client.collection_exists(self._collection):
                self._create_or_find(meta)
            if self._local:
                return  # payload indexes have no effect there, and its folder has been checked
            stored = self._client.get_collection(self._collection)
        _check(self._name, self._collection, stored.config, meta)
        kinds = dict.fromkeys(KEYWORD_FIELDS, models.PayloadSchemaType.KEYWORD) | dict.fromkeys(
            INTEGER_FIELDS, models.PayloadSchemaType.INTEGER
        )
        for field, kind in kinds.items():
            if field not in stored.payload_schema:
                with self._call():
                    self._client.create_payload_index(self._collection, field, kind, wait=True)

    def _create_or_find(self, meta: IndexMeta) -> None:
        """Create the collection, or use the one of another process that started at the same moment.

        Raises ApiException when it is still missing.
        """
        try:
            self._client.create_collection(
                self._collection,
                vectors_config={DENSE: models.VectorParams(size=meta.dimensions, distance=models.Distance.COSINE)},
                sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
                metadata={META_KEY: asdict(meta)},
            )
        except ApiException:
            if not self._client.collection_exists(self._collection):
                raise

    @contextmanager
    def _call(self) -> Iterator[None]:
        if self._lock is None:
            with _errors(self._name):
                yield
        else:
            with self._lock:
                yield


def open_server(url: str, collection: str, meta: IndexMeta, api_key: str | None = None) -> ClientEngine:
    """Connect to a Qdrant server or cluster. Raises StorageError without one, or for a collection of another model."""
    # The client's own check runs in a thread during the first requests, and prints a bare Python warning.
    client = QdrantClient(url=url, api_key=api_key, timeout=TIMEOUT_SECONDS, check_compatibility=False)
    engine = ClientEngine(client, collection, name=url, local=False)
    try:
        engine.prepare(meta)
    except StorageError:
        client.close()
        raise
    _check_version(client, url)
    return engine


def _check_version(client: QdrantClient, url: str) -> None:
    """Log a warning if the server's version isn't within one minor version of the client's."""
    ours = version("qdrant-client")
    try:
        theirs = client.info().version
    except (ApiException, ValidationError) as error:
        _log.warning("The version of Qdrant at %s can't be checked: %s", url, error)
        return
    if not is_compatible(ours, theirs):
        major, minor = ours.split(".")[:2]
        _log.warning(
            "Qdrant at %s has version %s, but Footnote's client is made for %s.%s. Searches may fail. Install Qdrant "
            "%s.%s, or a version next to it.",
            url,
            theirs,
            major,
            minor,
            major,
            minor,
        )


def open_local(path: Path, meta: IndexMeta) -> ClientEngine:
    """Open local mode in `path`. StorageError when it is in use, damaged or of another model."""
    folder = IndexFolder(path)
    folder.acquire(meta)
    try:
        # One call at a time (see ClientEngine), from any thread: SQLite's own check would refuse that.
        client = QdrantClient(path=str(path / "local"), force_disable_check_same_thread=True)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        folder.release()
        raise StorageError(damaged(path, str(error))) from error
    engine = ClientEngine(client, LOCAL_COLLECTION, name=str(path), folder=folder, local=True)
    engine.prepare(meta)
    return engine


def open_memory(meta: IndexMeta) -> ClientEngine:
    """Local mode that leaves nothing behind."""
    engine = ClientEngine(QdrantClient(":memory:"), LOCAL_COLLECTION, name=":memory:", local=True)
    engine.prepare(meta)
    return engine


def filter_of(rule: Rule) -> models.Filter:
    return models.Filter(
        must=[
            models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))
            for field, values in rule.any_of.items()
        ],
        must_not=[
            models.Filter(
                must=[
                    models.FieldCondition(key="document", match=models.MatchValue(value=document)),
                    models.FieldCondition(key="position", range=models.Range(gt=last)),
                ]
            )
            for document, last in rule.last_pages.items()
        ]
        or None,
    )


def _vector(vector: "Vector | SparseVector") -> list[float] | models.SparseVector:
    if isinstance(vector, SparseVector):
        return models.SparseVector(indices=list(vector.indices), values=list(vector.values))
    floats: list[float] = vector.tolist()
    return floats


def _point(point: StoredPoint) -> models.PointStruct:
    return models.PointStruct(
        id=point.id, vector={DENSE: _vector(point.dense), SPARSE: _vector(point.sparse)}, payload=dict(point.payload)
    )


def _check(name: str, collection: str, stored: models.CollectionConfig, wanted: IndexMeta) -> None:
    index = f"The collection {collection!r} at {name}"
    try:
        meta = parse_meta((stored.metadata or {}).get(META_KEY))
    except ValueError as error:
        raise StorageError(
            f"{index} was not made by Footnote: name another one under [index] collection in the configuration."
        ) from error
    if meta != wanted:
        raise StorageError(mismatch(index, meta, wanted, NEW_COLLECTION))


@contextmanager
def _errors(url: str) -> Iterator[None]:
    try:
        yield
    except ApiException as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise StorageError(
            f"The Qdrant server at {url} refused a request ({reason}): check that it runs, its URL and its API key."
        ) from error
