"""Searches, and documents that they name."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from core.domain.corpus import Document, Page, SearchQuery, SearchScope
from core.domain.passages import IndexHit, Passage
from core.errors import InvalidState
from core.knowledge.search import long_documents
from core.knowledge.search.searching import LONG, MOST_NAMED, Named, PassageSearch, find_named
from storage.database.repositories.corpus import SqlCorpusRepository
from tests.builders import build_document, build_pages, build_passages, build_scope, build_source
from tests.fakes import MemoryIndex
from tests.stores import InMemoryDatabase, Stores

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

    async def count(self) -> int:
        return len(self._passages)

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


class CountingCorpus(SqlCorpusRepository):
    """Counts how often all pages of a document are read."""

    reads = 0

    async def list_pages(self, document_id: str, scope: SearchScope) -> list[Page]:
        self.reads += 1
        return await super().list_pages(document_id, scope)


async def library_of(
    found: dict[str, dict[int, float]],
    chapters: Sequence[str] = CHAPTERS,
    others: Mapping[Document, Sequence[str]] | None = None,
    corpus: SqlCorpusRepository | None = None,
) -> tuple[PassageSearch, ToldIndex]:
    """The novel, and what stands besides it: `found` counts its passages on from the novel's."""
    corpus = corpus or Stores().corpus
    await corpus.save_source(NOTES)
    stored: list[Passage] = []
    for document, texts in {NOVEL: chapters, **(others or {})}.items():
        pages = build_pages(document, *texts)
        passages = build_passages(pages)
        await corpus.switch_revision(replace(document, passages=len(passages)), pages, passages)
        stored += passages
    index = ToldIndex(found, stored)
    return PassageSearch(corpus, index), index


async def numbers(search: PassageSearch, text: str, *, limit: int = 3, rerank: bool = False) -> list[int]:
    hits = await search.pages(SearchQuery(text=text, limit=limit, rerank=rerank), SCOPE)
    return [hit.page_number for hit in hits]


ASKED = "What rent did Tapio pay for the mill?"
TOLD = "What rent did pay for the mill?"
FOUND = {ASKED: {0: 2.0, 1: 1.9, 2: 1.8, 3: 1.7, 4: 1.6, 6: 1.5}, TOLD: {6: 2.5, 2: 1.2}}
# Names alone, and none of the words of its passages besides: its pages are alike.
ALIKE = [text.replace("rye for the mill", "rye") for text in CHAPTERS]


async def test_a_long_documents_common_names_are_left_out_of_a_second_search_and_both_count() -> None:
    search, index = await library_of(FOUND, ALIKE)
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
        (ALIKE, False, ASKED.lower()),  # no capital says what a name is
        (CHAPTERS, False, "What did Tapio?"),  # nothing else to search for
        ([text.lower() for text in ALIKE], False, ASKED),  # no name there
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
    assert [(hit.page_number, hit.score) for hit in hits] == [(7, 2.5), (3, 2.375)]  # two best scores, a quarter more
    assert [query.text for query in index.asked][1:] == [ASKED, TOLD]


async def test_pages_of_a_long_document_that_use_the_words_of_the_question_come_first() -> None:
    search, index = await library_of({ASKED.lower(): FOUND[ASKED]})
    assert await numbers(search, ASKED.lower()) == [7, 1, 2]  # the mill stands in the seventh alone
    assert len(index.asked) == 1


async def test_a_look_into_one_document_changes_nothing_between_it_and_others() -> None:
    """The novel's passages change places with each other, not with the note's."""
    note = build_document("mill.md", NOTES, title="Mill")
    scores = {ASKED: {**FOUND[ASKED], LONG: 1.95, LONG + 1: 0.5}}
    search, _ = await library_of(scores, others={note: ["The mill is sold.", "Its rope."]})
    hits = await search.pages(SearchQuery(text=ASKED, limit=20), SCOPE)
    assert [(hit.document.path, hit.page_number, hit.score) for hit in hits] == [
        ("books/ferry.txt", 7, 2.0),
        ("mill.md", 1, 1.95),
        ("books/ferry.txt", 1, 1.9),
        ("books/ferry.txt", 2, 1.8),
        ("books/ferry.txt", 3, 1.7),
        ("books/ferry.txt", 4, 1.6),
        ("books/ferry.txt", 5, 1.5),
        ("mill.md", 2, 0.5),
    ]


# Of the first two chapters one has a mill, the other a rope; all later ones have either, as the case may be.
BEFORE = ["A mill and oars.", "A rope and oars."]


@pytest.mark.parametrize(
    ("last", "shown"), [(None, {"mill": [2, 1], "rope": [1, 2]}), (2, {"mill": [1, 2], "rope": [1, 2]})]
)
async def test_words_beyond_a_reading_position_count_for_nothing(last: int | None, shown: dict[str, list[int]]) -> None:
    query = "who sold a rope and a mill"
    scope = SCOPE if last is None else replace(SCOPE, positions={NOVEL.id: last})
    for word, expected in shown.items():
        chapters = [*BEFORE, *(f"A {word}." for _ in range(LONG))]
        search, _ = await library_of({query: {0: 1.2, 1: 1.1, 2: 0.9, 3: 0.8, 4: 0.7}}, chapters)
        hits = await search.pages(SearchQuery(text=query, limit=2), scope)
        assert [hit.page_number for hit in hits] == expected, word


async def test_what_tells_how_far_somebody_has_read_is_not_searched_for() -> None:
    search, index = await library_of({ASKED: FOUND[ASKED]})
    assert await numbers(search, f"I'm at chapter 90: {ASKED}") == [7, 1, 2]
    assert index.asked[0].text == ASKED


async def test_an_empty_index_of_a_filled_library_is_an_error_and_not_nothing_found() -> None:
    corpus = Stores().corpus
    await corpus.save_source(NOTES)
    pages = build_pages(NOVEL, *CHAPTERS)
    await corpus.switch_revision(NOVEL, pages, build_passages(pages))

    with pytest.raises(InvalidState, match="footnote db reindex"):
        await PassageSearch(corpus, MemoryIndex()).pages(SearchQuery(text="barrels", limit=5), SCOPE)


async def test_an_empty_library_has_nothing() -> None:
    search = PassageSearch(Stores().corpus, MemoryIndex())

    assert await search.pages(SearchQuery(text="barrels", limit=5), SCOPE) == []


async def test_however_many_ask_at_once_a_book_is_read_once() -> None:
    corpus = CountingCorpus(InMemoryDatabase())
    search, _ = await library_of(FOUND, corpus=corpus)
    answers = await asyncio.gather(*(numbers(search, ASKED) for _ in range(5)))
    assert answers == [[7, 3, 1]] * 5
    assert corpus.reads == 1


async def test_a_book_that_is_asked_about_stays_at_hand_however_many_others_are_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_documents, "KEPT", 2)
    corpus = CountingCorpus(InMemoryDatabase())
    search, _ = await library_of(FOUND, corpus=corpus)
    query = SearchQuery(text=ASKED, limit=1)
    for last in (50, 51, 50, 52, 50):  # what is read of a book is another book for each place
        await search.pages(query, replace(SCOPE, positions={NOVEL.id: last}))
    assert corpus.reads == 3


async def test_of_a_document_that_is_too_long_to_be_counted_the_passages_alone_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_documents, "MOST_COUNTED", LONG - 1)
    search, _ = await library_of({ASKED.lower(): FOUND[ASKED], **FOUND})
    assert await numbers(search, ASKED.lower()) == [1, 2, 3]
    assert await numbers(search, ASKED) == [7, 3, 1]  # its names are known all the same


MILL = build_document("books/mill.txt", title="The Mill on the Long Water")
ISLAND = build_document("books/salt-island.txt", title="salt-island")
MEETING = build_document("minutes/Meeting 12.md", title="Harbour board, twelfth meeting")
LANTERN = build_document("books/lantern.epub", title="Lantern", aliases=("A Lamp in the Dark Wood",))
DAILY_NOTES = build_document("daily-notes.md", title="Daily Notes")
COUNCIL = build_document("minutes/2024-05-14.md", title="Council")
CRANES = build_document("rules/rfc-0012-cranes.rst", title="Cranes and their ropes")
PIERS = build_document("adrs/0007-use-piers.md", title="Use piers")
SHELF = (COUNCIL, CRANES, PIERS, MILL, ISLAND, MEETING, LANTERN, DAILY_NOTES)


@pytest.mark.parametrize(
    ("query", "document", "rest"),
    [
        ("In The Mill on the Long Water, who owns the boat?", MILL, "who owns the boat?"),
        ("in the mill on the long water who owns the boat", MILL, "who owns the boat"),
        ("Who owns the boat in “The Mill on the Long Water”?", MILL, "Who owns the boat?"),
        ("Does The Mill on the Long Water say who owns the boat?", MILL, "Does say who owns the boat?"),
        ("How much gold was left at the end of Salt Island?", ISLAND, "How much gold was left at the end?"),
        ("When does the crane arrive, according to Meeting 12?", MEETING, "When does the crane arrive?"),
        ("Who steered the crane in the first Meeting 12?", MEETING, "Who steered the crane in the first?"),
        ("Who was late at the council on 14 May 2024?", COUNCIL, "Who was late at the council?"),
        ("Which ropes were sold, in the notes of 2024-05-14?", COUNCIL, "Which ropes were sold, in the notes?"),
        ("Who is the author of RFC 12?", CRANES, "Who is the author?"),
        ("Who decided ADR 7?", PIERS, "Who decided?"),
        ("In Lantern, who lights the lamp first?", LANTERN, "who lights the lamp first?"),
        ("In the novel A Lamp in the Dark Wood, who lights the fire?", LANTERN, "who lights the fire?"),
    ],
)
def test_a_document_is_named_by_title_alias_or_file_name(query: str, document: Document, rest: str) -> None:
    assert find_named(query, SHELF) == Named(frozenset({document.id}), rest)


@pytest.mark.parametrize(
    "query",
    [
        "Who owns the boat?",
        "How do daily notes use templates?",  # two words with nothing that points to a place: the subject itself
        "Who carries the lantern in lantern light?",  # one word, not set apart
        "What was agreed in Meeting 121 about cranes?",  # another meeting
        "What is The Mill on the Long Water about?",  # nothing is left to search for
        "In Salt Island?",
        "Which crane needs 12 ropes?",
        "How did the council of 2024 vote on cranes?",
    ],
)
def test_what_only_looks_like_a_name_changes_nothing(query: str) -> None:
    assert find_named(query, SHELF) is None


def test_the_longest_name_counts() -> None:
    part = build_document("books/long-water.txt", title="Long Water")
    query = "In The Mill on the Long Water, who owns the boat?"
    assert find_named(query, [part, MILL]) == Named(frozenset({MILL.id}), "who owns the boat?")


def test_copies_of_a_document_are_named_together() -> None:
    copy = build_document("old/salt-island.txt", title="salt-island")
    named = find_named("Who digs first in Salt Island?", [ISLAND, copy])
    assert named is not None
    assert named.document_ids == {ISLAND.id, copy.id}


def test_a_name_that_many_share_points_to_none() -> None:
    many = [build_document(f"{number}/minutes-of-board.md", title=f"No {number}") for number in range(MOST_NAMED + 1)]
    assert find_named("Who came late, according to minutes of board?", many[:1]) is not None
    assert find_named("Who came late, according to minutes of board?", many) is None


def test_a_question_may_name_several_documents() -> None:
    named = find_named("Did the crane of Meeting 12 carry the gold in Salt Island?", SHELF)
    assert named == Named(frozenset({MEETING.id, ISLAND.id}), "Did the crane carry the gold?")
