from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.corpus import SearchScope, SourcedPassage
from core.domain.passages import IndexHit
from storage.index.index import QdrantIndex
from storage.index.opening import index_meta
from storage.index.reranking import RERANKED, Reranker, blend
from storage.index.server import open_memory
from tests.fakes import HashEmbedder
from tests.unit.storage.search_builders import ask, build_entry, stand_in, within


class ListedCorpus:
    """Hands out the passages it was given, remembering in which scope."""

    def __init__(self, entries: Sequence[Any]) -> None:
        self._found = {
            e.passage.id: SourcedPassage(passage=e.passage, document=stand_in(e), page_title="") for e in entries
        }
        self.scopes: list[SearchScope] = []

    async def list_passages(self, passage_ids: Sequence[str], scope: SearchScope) -> list[SourcedPassage]:
        self.scopes.append(scope)
        return [self._found[id] for id in passage_ids if id in self._found]


class WordJudge:
    """Finds a text relevant when it holds the word `wanted`."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.read: list[str] = []

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float]:
        self.read += texts
        return [float(self.wanted in text) for text in texts]


def entries(count: int) -> list[Any]:
    return [build_entry(f"spyglass number {n}", document=f"{n}.md", heading_path=("Shop",)) for n in range(count)]


async def reranked(library: list[Any], wanted: str, known: list[Any] | None = None) -> tuple[QdrantIndex, Any, Any]:
    corpus, judge, embedder = ListedCorpus(library if known is None else known), WordJudge(wanted), HashEmbedder()
    index = QdrantIndex(lambda: open_memory(index_meta(embedder)), embedder, Reranker(corpus, judge))
    await index.add(library)
    return index, corpus, judge


async def test_a_query_that_asks_for_it_is_judged_on_title_headings_and_text() -> None:
    library = entries(5)
    index, corpus, judge = await reranked(library, "")
    # All five score almost alike: which is second depends on how this machine's processor rounds.
    second = (await index.search(ask("spyglass"), within()))[1].passage_id
    judge.wanted = next(entry.passage.text for entry in library if entry.passage.id == second)

    best = (await index.search(ask("spyglass", rerank=True, limit=1), within()))[0]

    assert best.passage_id == second
    assert f"Guide\nShop\n{judge.wanted}" in judge.read
    assert corpus.scopes == [within()]


async def test_other_queries_are_not_judged() -> None:
    index, corpus, judge = await reranked(entries(3), "number 2")

    assert len(await index.search(ask("spyglass"), within())) == 3
    assert (corpus.scopes, judge.read) == ([], [])


async def test_more_candidates_are_judged_than_are_given() -> None:
    index, _, judge = await reranked(entries(30), "nothing")

    assert len(await index.search(ask("spyglass", rerank=True, limit=3), within())) == 3
    assert len(judge.read) == RERANKED


async def test_hits_beyond_those_judged_follow_in_order() -> None:
    library = entries(30)
    index, _, _ = await reranked(library, "spyglass")

    hits = await index.search(ask("spyglass", rerank=True, limit=25), within())

    assert len(hits) == 25
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)


async def test_a_hit_whose_passage_may_not_be_read_any_more_is_left_out() -> None:
    library = entries(3)
    index, _, _ = await reranked(library, "spyglass", known=library[1:])

    found = {h.passage_id for h in await index.search(ask("spyglass", rerank=True), within())}

    assert found == {e.passage.id for e in library[1:]}


async def test_nothing_found_is_nothing_judged() -> None:
    index, _, judge = await reranked([], "spyglass")

    assert await index.search(ask("spyglass", rerank=True), within()) == []
    assert judge.read == []


HIT = IndexHit(passage_id="p", document_id="d", page_id="g", revision="r", score=0.0)


@pytest.mark.parametrize(
    ("scores", "relevance", "order"),
    [
        ([3.0, 2.0, 1.0], [0.0, 0.0, 0.9], [0, 2, 1]),  # .5, .25, .45
        ([3.0, 2.0, 1.0], [0.0, 1.0, 0.9], [1, 0, 2]),  # .5, .75, .45
        ([2.0, 2.0], [0.5, 0.5], [0, 1]),
        ([], [], []),
    ],
)
def test_scaled_scores_and_relevance_are_mixed_half_and_half(
    scores: list[float], relevance: list[float], order: list[int]
) -> None:
    hits = [replace(HIT, passage_id=str(place), score=score) for place, score in enumerate(scores)]

    assert [int(item.passage_id) for item in blend(hits, relevance)] == order


@given(st.lists(st.tuples(st.floats(-10, 10), st.floats(0, 1)), max_size=20))
def test_blending_keeps_every_hit_with_a_score_in_0_to_1(pairs: list[tuple[float, float]]) -> None:
    hits = [replace(HIT, passage_id=str(place), score=score) for place, (score, _) in enumerate(pairs)]

    blended = blend(hits, [judged for _, judged in pairs])

    assert {item.passage_id for item in blended} == {item.passage_id for item in hits}
    assert all(0 <= item.score <= 1 for item in blended)
