"""A cross-encoder that blends its relevance into the scores of the first hits."""

from collections.abc import Sequence
from dataclasses import replace

from core.domain.corpus import SearchQuery, SearchScope, SourcedPassage
from core.domain.passages import IndexHit
from core.ports import AnswerJudge, CorpusRepository

RERANKED = 20  # hits that the cross-encoder reads
JUDGE_SHARE = 0.5  # of the blended score


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
