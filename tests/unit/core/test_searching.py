"""The second look into a long document, over an index that says what it is told to."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.common_names import LONG
from core.domain.corpus import IndexHit, Passage, SearchQuery, SearchScope
from core.searching import PassageSearch
from storage.memory.corpus import MemoryCorpusRepository
from storage.memory_index import MemoryIndex
from tests.builders import build_document, build_pages, build_passages, build_scope, build_source

NOTES = build_source("notes")
SCOPE = build_scope(NOTES)
# Tapio stands in every chapter but the one about his rent, the seventh.
NOVEL = build_document("books/ferry.txt", NOTES, title="The Last Ferry Over Salt Water")
CHAPTERS = [f"Tapio rowed, and slept on day {day}." for day in range(LONG)]
CHAPTERS[6] = "The old man owed nine barrels of rye for the mill."


class ToldIndex(MemoryIndex):
    """Scores by query text: what passages (ordinals of the novel) are found for it, with their scores."""

    def __init__(self, found: dict[str, dict[int, float]], passages: list[Passage]) -> None:
        super().__init__()
        self._found = found
        self._passages = passages
        self.asked: list[SearchQuery] = []

    async def search(self, query: SearchQuery, scope: SearchScope) -> list[IndexHit]:
        self.asked.append(query)
        scores = self._found.get(query.text, {})
        return [
            IndexHit(
                passage_id=passage.id,
                document_id=passage.document_id,
                page_id=passage.page_id,
                revision=passage.revision,
                score=scores[place],
            )
            for place, passage in sorted(enumerate(self._passages), key=lambda item: -scores.get(item[0], 0.0))
            if place in scores
        ]


async def library_of(
    found: dict[str, dict[int, float]], chapters: Sequence[str] = CHAPTERS
) -> tuple[PassageSearch, ToldIndex]:
    corpus = MemoryCorpusRepository()
    await corpus.save_source(NOTES)
    pages = build_pages(NOVEL, *chapters)
    passages = build_passages(pages)
    await corpus.switch_revision(replace(NOVEL, passages=len(passages)), pages, passages)
    index = ToldIndex(found, passages)
    return PassageSearch(corpus, index), index


async def numbers(search: PassageSearch, text: str, *, limit: int = 3, rerank: bool = False) -> list[int]:
    hits = await search.pages(SearchQuery(text=text, limit=limit, rerank=rerank), SCOPE)
    return [hit.page_number for hit in hits]


ASKED = "What rent did Tapio pay for the mill?"
TOLD = "What rent did pay for the mill?"
FOUND = {ASKED: {0: 2.0, 1: 1.9, 2: 1.8, 3: 1.7, 4: 1.6, 6: 1.5}, TOLD: {6: 2.5, 2: 1.2}}


async def test_a_long_documents_common_names_are_left_out_of_a_second_search_and_both_count() -> None:
    search, index = await library_of(FOUND)
    assert await numbers(search, ASKED) == [7, 3, 1]  # means: 2.0, 1.5, 1.0
    assert [(query.text, query.document_ids) for query in index.asked] == [
        (ASKED, frozenset()),
        (TOLD, frozenset({NOVEL.id})),
    ]
    assert await numbers(search, ASKED) == [7, 3, 1]


@pytest.mark.parametrize(
    ("chapters", "rerank", "text"),
    [
        (CHAPTERS[: LONG - 1], False, ASKED),  # a short document
        (CHAPTERS, True, ASKED),  # the cross-encoder's quarter of a second is not spent twice
        (CHAPTERS, False, ASKED.lower()),  # no capital says what a name is
        (CHAPTERS, False, "What did Tapio?"),  # nothing else to search for
        ([text.lower() for text in CHAPTERS], False, ASKED),  # no name there
    ],
)
async def test_elsewhere_one_search_is_enough(chapters: Sequence[str], rerank: bool, text: str) -> None:
    search, index = await library_of({text: FOUND[ASKED]}, chapters)
    assert await numbers(search, text, rerank=rerank) == [1, 2, 3]
    assert len(index.asked) == 1


async def test_inside_a_document_that_is_named_common_names_are_left_out_too() -> None:
    found = {f"In The Last Ferry Over Salt Water, {ASKED}": {0: 2.0, 1: 1.0}, **FOUND}
    search, index = await library_of(found)
    hits = await search.pages(SearchQuery(text=f"In The Last Ferry Over Salt Water, {ASKED}", limit=2), SCOPE)
    assert [(hit.page_number, hit.score) for hit in hits] == [(7, 2.5), (3, 1.875)]  # means, and a quarter more
    assert [query.text for query in index.asked][1:] == [ASKED, TOLD]
