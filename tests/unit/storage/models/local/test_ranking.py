from collections.abc import Iterator, Sequence

import pytest

from storage.models.local import ranking
from storage.models.local.encoders import LocalEmbedder
from storage.models.local.files import find_embedding_model
from storage.models.local.ranking import VectorSentenceRanker
from tests.fakes import HashEmbedder
from tests.unit.storage.search_builders import build_sourced

SHOP = "The harbour shop opens at noon. A spyglass costs 1,000 gp. The master keeps the **key** under a barrel."


class CountingEmbedder(HashEmbedder):
    """Remembers what it embedded."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> list[object]:
        self.embedded += texts
        return super().embed_passages(texts)


@pytest.fixture
def ranker() -> VectorSentenceRanker:
    return VectorSentenceRanker(HashEmbedder())


@pytest.fixture(scope="module")
def packaged_embedder() -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder(find_embedding_model(None))
    yield embedder
    embedder.close()


async def test_the_sentence_that_answers_comes_first(ranker: VectorSentenceRanker) -> None:
    passage = build_sourced(SHOP)

    best, *rest = await ranker.rank("How much does a spyglass cost?", [passage])

    assert best.span.of(passage.passage.text) == "A spyglass costs 1,000 gp."
    assert best.passage_id == passage.passage.id
    assert all(0 <= other.score <= best.score <= 1 for other in rest)


async def test_meaning_finds_a_sentence_without_a_shared_word(packaged_embedder: LocalEmbedder) -> None:
    passage = build_sourced("Payment takes thirty days. Annual leave is requested by mail. The roof is green.")

    best = (await VectorSentenceRanker(packaged_embedder).rank("How do I ask for vacation?", [passage]))[0]

    assert best.span.of(passage.passage.text) == "Annual leave is requested by mail."


async def test_spans_are_offsets_of_the_page_also_when_the_passage_begins_later(ranker: VectorSentenceRanker) -> None:
    page = "Something else. " + SHOP
    shifted = build_sourced(SHOP)
    shift = len(page) - len(SHOP)
    moved = _moved(shifted, shift)

    best = (await ranker.rank("spyglass cost", [moved], limit=1))[0]

    assert best.span.of(page) == "A spyglass costs 1,000 gp."


async def test_no_more_sentences_are_given_than_asked_for(ranker: VectorSentenceRanker) -> None:
    assert len(await ranker.rank("spyglass", [build_sourced(SHOP)], limit=2)) == 2


async def test_nothing_in_gives_nothing_out(ranker: VectorSentenceRanker) -> None:
    assert await ranker.rank("spyglass", []) == []
    assert await ranker.rank("spyglass", [build_sourced("*** --- ***")]) == []


async def scores(ranker: VectorSentenceRanker, question: str, text: str) -> dict[str, float]:
    ranked = await ranker.rank(question, [build_sourced(text)])
    return {found.span.of(text): found.score for found in ranked}


async def test_a_rare_word_counts_more_than_a_common_one(ranker: VectorSentenceRanker) -> None:
    text = "The harbour is old. The harbour is wet. The harbour is big. The lighthouse is dark."

    found = await scores(ranker, "harbour lighthouse", text)

    assert found["The lighthouse is dark."] > found["The harbour is wet."] > 0


async def test_only_the_best_passages_are_read(ranker: VectorSentenceRanker) -> None:
    passages = [build_sourced(f"Spyglass {n}.", document=f"{n}.md", score=n / 10) for n in range(6)]

    found = [item.passage_id for item in await ranker.rank("spyglass", passages)]

    assert set(found) == {p.passage.id for p in passages[-3:]}


async def test_a_sentence_of_a_better_passage_comes_first(ranker: VectorSentenceRanker) -> None:
    poor, good = (build_sourced("Spyglass.", document=f"{score}.md", score=score) for score in (0.2, 0.9))

    best, other = await ranker.rank("spyglass", [poor, good])

    assert best.passage_id == good.passage.id and best.score > other.score


async def test_a_sentence_shared_by_overlapping_passages_is_taken_once(ranker: VectorSentenceRanker) -> None:
    first, second = build_sourced(SHOP, ordinal=0), build_sourced(SHOP, ordinal=1, score=0.5)

    found = await ranker.rank("spyglass", [first, second])

    assert [item.passage_id for item in found] == [first.passage.id] * 3


async def test_passages_of_many_short_sentences_are_read_up_to_a_bound(ranker: VectorSentenceRanker) -> None:
    found = await ranker.rank("spyglass", [build_sourced("Yes. " * 100)], limit=1000)
    assert len(found) == ranking.SENTENCES_READ


async def test_scores_of_zero_count_as_equal(ranker: VectorSentenceRanker) -> None:
    passages = [build_sourced("Spyglass.", document=f"{n}.md", score=0.0) for n in range(2)]

    first, second = await ranker.rank("spyglass", passages)

    assert first.score == second.score > 0


async def test_a_sentence_is_embedded_once_and_then_remembered() -> None:
    embedder = CountingEmbedder()
    ranker = VectorSentenceRanker(embedder)

    first = await ranker.rank("spyglass", [build_sourced(SHOP)])
    embedded = len(embedder.embedded)
    again = await ranker.rank("spyglass", [build_sourced(SHOP)])

    assert first == again
    assert len(embedder.embedded) == embedded == len(set(embedder.embedded))


async def test_the_memory_of_sentences_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "CACHED_SENTENCES", 2)
    embedder = CountingEmbedder()
    ranker = VectorSentenceRanker(embedder)

    await ranker.rank("spyglass", [build_sourced(SHOP)])
    embedded = len(embedder.embedded)
    await ranker.rank("spyglass", [build_sourced(SHOP)])

    assert len(embedder.embedded) > embedded
    assert len(ranker._cache) == 2


def _moved(found: object, shift: int) -> object:
    from dataclasses import replace

    passage = found.passage
    spans = tuple(type(s)(s.start + shift, s.end + shift) for s in passage.sentences)
    span = type(passage.span)(passage.span.start + shift, passage.span.end + shift)
    return replace(found, passage=replace(passage, span=span, sentences=spans))
