"""Reading positions are understood, or refused: never guessed open."""

import pytest

from core.access.positions.named_places import find_position
from core.access.positions.reading import lowest, positions_for, split_position
from core.domain.corpus import Page, SearchScope
from core.errors import BadInput
from storage.database.repositories.corpus import SqlCorpusRepository
from tests.builders import build_document, build_scope, build_source
from tests.stores import Stores

TITLES = [
    "Title page",
    "Chapter I. The Letter",
    "Chapter II. The Train",
    "III",
    "Chapter 4",
    "Chapter Five",
    "I went home",
]


def pages(titles: list[str] = TITLES, document_id: str = "d") -> list[Page]:
    return [
        Page(id=f"{document_id}{n}", document_id=document_id, revision="r1", number=n, title=title, text="text")
        for n, title in enumerate(titles, start=1)
    ]


@pytest.mark.parametrize(
    ("text", "parts"),
    [("5", (None, "5")), ("book.epub=chapter 9", ("book.epub", "chapter 9")), (" = chapter 2 ", (None, "chapter 2"))],
)
def test_a_position_names_a_place_and_perhaps_a_document(text: str, parts: tuple[str | None, str]) -> None:
    assert split_position(text) == parts


def test_a_position_without_a_place_is_refused() -> None:
    with pytest.raises(BadInput, match="names no place"):
        split_position("book.epub=")


@pytest.mark.parametrize(
    ("place", "last"),
    [
        ("3", 3),
        ("99", None),  # of a printed edition, perhaps: it opens nothing
        ("chapter 2", 3),
        ("Chapter ii", 3),
        ("chapter three", 4),
        ("chapter 4", 5),
        ("I've finished chapter 5", 6),
        ("title page", 1),
        ("chapter 1", 2),  # not "I went home"
        ("chapter 40", None),
        ("somewhere", None),
        ("0", None),
    ],
)
def test_places_become_the_last_page_that_may_be_read(place: str, last: int | None) -> None:
    assert find_position(place, pages()) == last


def test_a_chapter_of_several_pages_is_read_to_its_end_but_not_into_a_later_part() -> None:
    assert find_position("chapter 1", pages(["Chapter 1", "Chapter 1", "Chapter 2", "Chapter 1"])) == 2


async def corpus_of(*documents: tuple[str, list[str]]) -> tuple[SqlCorpusRepository, SearchScope]:
    corpus, source = Stores().corpus, build_source()
    await corpus.save_source(source)
    for path, titles in documents:
        document = build_document(path, source, pages=len(titles))
        await corpus.switch_revision(document, pages(titles, document.id), [])
    return corpus, build_scope(source)


async def test_a_chapter_without_a_document_holds_for_every_document_that_has_it() -> None:
    corpus, scope = await corpus_of(
        ("a.txt", ["Chapter 1", "Chapter 2"]), ("b.txt", ["Intro", "Chapter 1"]), ("c.md", ["x", "y"])
    )
    found = await positions_for("chapter 1", None, corpus, scope)

    assert sorted(found.values()) == [1, 2]


@pytest.mark.parametrize("place", ["12", "chapter 77"])
async def test_a_place_that_fits_no_document_is_refused(place: str) -> None:
    corpus, scope = await corpus_of(("a.txt", ["Chapter 1", "Chapter 2"]))

    with pytest.raises(BadInput):
        await positions_for(place, None, corpus, scope)


async def test_a_place_that_its_document_does_not_have_is_refused() -> None:
    corpus, scope = await corpus_of(("a.txt", ["Chapter 1", "Chapter 2"]))
    document = (await corpus.list_documents("local"))[0]

    assert await positions_for("chapter 2", document, corpus, scope) == {document.id: 2}
    with pytest.raises(BadInput, match="has no chapter or page 'chapter 9'"):
        await positions_for("chapter 9", document, corpus, scope)


@pytest.mark.parametrize("place", ["end", "The End", "finished"])
async def test_the_end_opens_everything(place: str) -> None:
    corpus, scope = await corpus_of(("a.txt", ["Chapter 1"]))

    assert await positions_for(place, None, corpus, scope) == {}


def test_of_several_positions_the_lowest_of_each_document_holds() -> None:
    assert lowest({"a": 3, "b": 1}, {"a": 2, "c": 9}, {}) == {"a": 2, "b": 1, "c": 9}
    assert lowest() == {}


async def test_a_place_that_goes_on_and_on_is_refused_before_any_book_is_opened() -> None:
    with pytest.raises(BadInput, match="of 5,000 characters"):
        await positions_for("12. may " * 625, None, Stores().corpus, build_scope(build_source("books")))
