"""SearchIndex in memory: for tests and for trying things out."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

from core.domain.corpus import IndexEntry, IndexHit, SearchQuery, SearchScope
from core.text.tokens import tokens
from storage.plain_text import has_words, indexed_text


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


def _matches(entry: IndexEntry, query: SearchQuery, scope: SearchScope) -> bool:
    passage = entry.passage
    last = scope.positions.get(passage.document_id)
    return (
        entry.workspace == scope.workspace
        and entry.source_id in scope.sources
        and (last is None or passage.page_number <= last)
        and query.kind in (None, entry.kind)
        and (not query.document_ids or passage.document_id in query.document_ids)
    )


def _hit(entry: IndexEntry, score: float) -> IndexHit:
    passage = entry.passage
    return IndexHit(
        passage_id=passage.id,
        document_id=passage.document_id,
        page_id=passage.page_id,
        revision=passage.revision,
        score=score,
    )
