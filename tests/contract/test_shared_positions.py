"""Copies of a book share its reading position, on every database."""

from dataclasses import replace

import pytest

from core.access.positions.copies import Copies
from core.access.scopes import Access
from core.domain.corpus import Document, Source
from core.domain.service import TO_THE_END, PersonAddress
from storage.database import Database
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.settings import SqlSettingsRepository
from tests.builders import build_document, build_pages, build_passages, build_source

SHELF = build_source("shelf")
ELSEWHERE = build_source("far", workspace="elsewhere")
CHAPTERS = [
    "The miller rose before the sun and walked along the frozen weir. Nobody had seen his daughter since the fair.",
    "In the barn he found her shawl upon the ladder to the loft. It smelled of smoke and summer apples still.",
    "The priest refused to ring the bell for somebody not yet buried. So the miller rang it alone that evening.",
    "By spring the ice gave back a shoe and nothing else at all. Then a letter came from over the border.",
    "She wrote that she had married the piper and wanted no forgiveness. The miller read it once and never spoke.",
    "When he was dying the piper came and played under his window. It was the tune of the frozen weir.",
]


@pytest.fixture
async def corpus(database: Database) -> SqlCorpusRepository:
    repository = SqlCorpusRepository(database)
    for source in (SHELF, ELSEWHERE):
        await repository.save_source(source)
    return repository


async def put(corpus: SqlCorpusRepository, path: str, *texts: str, source: Source = SHELF) -> Document:
    document = build_document(path, source)
    pages = build_pages(document, *texts)
    await corpus.switch_revision(document, pages, build_passages(pages))
    return document


async def test_an_edition_ends_where_the_book_does(corpus: SqlCorpusRepository) -> None:
    book = await put(corpus, "miller.txt", *CHAPTERS)
    wrapped = [text.replace(" the ", "\nthe ") for text in CHAPTERS]
    prefaced = await put(corpus, "miller.epub", "A preface by the translator of this tale.", *wrapped)
    halves = await put(corpus, "miller.pdf", " ".join(CHAPTERS[:3]), " ".join(CHAPTERS[3:]))
    in_one = await put(corpus, "miller in one line.md", " ".join(CHAPTERS))

    shared = await Copies(corpus).share({book.id: 3}, "local")

    assert shared == {book.id: 3, prefaced.id: 4, halves.id: 1, in_one.id: 0}


async def test_a_copy_in_a_script_without_spaces_is_recognised(corpus: SqlCorpusRepository) -> None:
    chapters = [
        "磨坊主在日出之前起床，沿着结冰的堤坝行走。",
        "他在谷仓里的梯子上找到了她的披肩。",
        "牧师拒绝为尚未安葬的人敲响钟声。",
    ]
    book = await put(corpus, "mill.txt", *chapters)
    copy = await put(corpus, "mill in one.txt", "".join(chapters))
    assert await Copies(corpus).share({book.id: 1}, "local") == {book.id: 1, copy.id: 0}


@pytest.mark.parametrize("last", [0, 1, 5])
async def test_no_page_of_a_copy_has_what_is_hidden(corpus: SqlCorpusRepository, last: int) -> None:
    book = await put(corpus, "miller.txt", *CHAPTERS)
    pairs = [" ".join(CHAPTERS[place : place + 2]) for place in range(0, 6, 2)]
    copy = await put(corpus, "miller in pairs.txt", *pairs)

    end = (await Copies(corpus).share({book.id: last}, "local"))[copy.id]

    assert not any(text in pair for pair in pairs[:end] for text in CHAPTERS[last:])
    assert end == last // 2


async def test_who_may_read_to_the_end_may_read_a_copy_so(corpus: SqlCorpusRepository) -> None:
    book = await put(corpus, "miller.txt", *CHAPTERS)
    copy = await put(corpus, "miller again.txt", *CHAPTERS)
    assert await Copies(corpus).share({book.id: TO_THE_END}, "local") == {book.id: TO_THE_END, copy.id: TO_THE_END}


async def test_a_copy_with_a_position_of_its_own_keeps_it(corpus: SqlCorpusRepository) -> None:
    book = await put(corpus, "miller.txt", *CHAPTERS)
    copy = await put(corpus, "miller again.txt", *CHAPTERS)
    assert await Copies(corpus).share({book.id: 2, copy.id: 5}, "local") == {book.id: 2, copy.id: 5}


async def test_a_text_that_quotes_the_book_is_no_copy(corpus: SqlCorpusRepository) -> None:
    book = await put(corpus, "miller.txt", *CHAPTERS)
    await put(corpus, "review.md", f"My favourite sentence of the winter: {CHAPTERS[4]} What a book this was.")
    await put(corpus, "far.txt", *CHAPTERS, source=ELSEWHERE)
    assert await Copies(corpus).share({book.id: 2}, "local") == {book.id: 2}
    assert await Copies(corpus).share({}, "local") == {}


async def test_copies_are_looked_for_again_after_a_change(corpus: SqlCorpusRepository) -> None:
    copies = Copies(corpus)
    book = await put(corpus, "miller.txt", *CHAPTERS)
    assert await copies.share({book.id: 2}, "local") == {book.id: 2}

    copy = await put(corpus, "miller again.txt", *CHAPTERS)
    assert (await copies.share({book.id: 2}, "local"))[copy.id] == 2

    await put(corpus, "miller again.txt", "Nothing of it is left in this file, which is about hens.")
    assert await copies.share({book.id: 2}, "local") == {book.id: 2}


async def test_a_position_that_was_set_holds_in_copies(corpus: SqlCorpusRepository, database: Database) -> None:
    book = await put(corpus, "miller.txt", *CHAPTERS)
    copy = await put(corpus, "miller again.txt", *CHAPTERS)
    settings = SqlSettingsRepository(database)
    await settings.save_position(PersonAddress(workspace="local", person="ada"), book.id, 2)
    access = Access(corpus, settings)

    assert (await access.scope("local", reader="ada")).positions == {book.id: 2, copy.id: 2}
    assert (await access.scope("local", reader="ben")).positions == {}


async def test_texts_are_found_with_any_sign_in_place_of_a_line(corpus: SqlCorpusRepository) -> None:
    first = await put(corpus, "a.md", "the grey\nmill", "100 % of it")
    assert await corpus.find_texts("local", ["grey_mill", "no_such", "of_it"]) == [(first.id, 1, 0), (first.id, 2, 2)]
    assert await corpus.find_texts("local", []) == []
    assert await corpus.find_texts(replace(SHELF, workspace="nowhere").workspace, ["grey_mill"]) == []
