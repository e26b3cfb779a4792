"""A SearchIndex with a cross-encoder behind it, for queries that ask for it.

The cross-encoder alone makes results worse outside its training data; mixed half and half with the hybrid score it kept
or gained .001-.023 nDCG@10. It takes some 250 ms on two cores, so it is asked for query by query.
"""

from collections.abc import Sequence
from dataclasses import replace

from core.domain.corpus import IndexEntry, IndexHit, SearchQuery, SearchScope, SourcedPassage
from core.ports import AnswerJudge, CorpusRepository, SearchIndex

RERANKED = 20  # hits that the cross-encoder reads
JUDGE_SHARE = 0.5  # of the blended score


class RerankedIndex:
    """Hands everything on to `index`; hits of a `rerank` query are judged on their texts, read in scope."""

    def __init__(self, index: SearchIndex, corpus: CorpusRepository, judge: AnswerJudge) -> None:
        self._index = index
        self._corpus = corpus
        self._judge = judge

    async def search(self, query: SearchQuery, scope: SearchScope) -> list[IndexHit]:
        if not query.rerank:
            return await self._index.search(query, scope)
        hits = await self._index.search(replace(query, limit=max(query.limit, RERANKED)), scope)
        first, rest = hits[:RERANKED], hits[RERANKED:]
        found = {
            item.passage.id: item for item in await self._corpus.list_passages([h.passage_id for h in first], scope)
        }
        readable = [item for item in first if item.passage_id in found]
        judged = await self._judge.relevance(query.text, [_text(found[item.passage_id]) for item in readable])
        return [*blend(readable, judged), *_below(rest)][: query.limit]

    async def add(self, entries: Sequence[IndexEntry]) -> None:
        await self._index.add(entries)

    async def remove_revision(self, document_id: str, revision: str) -> None:
        await self._index.remove_revision(document_id, revision)

    async def remove_document(self, document_id: str) -> None:
        await self._index.remove_document(document_id)

    async def revisions(self) -> dict[tuple[str, str], int]:
        return await self._index.revisions()

    async def count(self) -> int:
        return await self._index.count()

    async def optimise(self) -> None:
        await self._index.optimise()

    async def close(self) -> None:
        await self._index.close()


def blend(hits: Sequence[IndexHit], relevance: Sequence[float]) -> list[IndexHit]:
    """Hits by the mean of their score, scaled to 0..1 over `hits`, and their relevance; best first, equals in order."""
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
    """Hits that were not judged: kept in order, scored below those that were."""
    return [replace(item, score=-float(place)) for place, item in enumerate(hits, start=1)]


def _text(found: SourcedPassage) -> str:
    return "\n".join((found.document.title, " > ".join(found.passage.heading_path), found.passage.text))
