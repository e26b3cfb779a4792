"""The interface of an engine: the points that it stores, its rules and its hybrid query, described once for all.

edge.py and server.py translate these values into their engine's own types.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from core.domain.passages import IndexEntry, IndexHit

if TYPE_CHECKING:
    from storage.models.local.encoders import Vector

DENSE = "dense"  # named vector: cosine, from the embedding model
SPARSE = "bm25"  # named sparse vector: term weights; the engine multiplies in the IDF
KEYWORD_FIELDS = ("workspace", "source", "document", "page", "revision", "kind")  # payload fields indexed as keywords
INTEGER_FIELDS = ("position",)  # payload fields indexed as integers: the page number
HIT_FIELDS = ("document", "page", "revision")  # returned with a hit
REVISION_FIELDS = ("document", "revision")


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Weights of words: parallel, sorted by index, no index twice. May be empty."""

    indices: tuple[int, ...] = ()  # unsigned, 32 bits
    values: tuple[float, ...] = ()


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

    def erase(self) -> None:
        """Leave no bytes of deleted points on the disk, if any were deleted; a server does so in its own time."""
        ...

    def close(self) -> None: ...


def document_rule(document_id: str, revision: str | None = None) -> Rule:
    """Return the rule for all passages of a document, or of one revision of it."""
    return Rule({"document": (document_id,), **({"revision": (revision,)} if revision is not None else {})})


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


def revision_pair(payload: Mapping[str, object]) -> tuple[str, str]:
    document, revision = (str(payload[name]) for name in REVISION_FIELDS)
    return document, revision


def slices(points: Sequence[StoredPoint], size: int) -> list[Sequence[StoredPoint]]:
    """Return `points` in runs of at most `size`."""
    return [points[start : start + size] for start in range(0, len(points), size)]
