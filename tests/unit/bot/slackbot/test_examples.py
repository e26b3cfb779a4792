"""Example questions: about what the library holds, as far as it may be read."""

from dataclasses import replace
from datetime import timedelta

from bot.slackbot.actions.assistant_pane import example_questions
from core.domain.corpus import SearchScope, Source
from core.features.kept_answers import KEPT_SOURCE
from storage.database.repositories.corpus import SqlCorpusRepository
from tests.builders import NOON, build_document, build_scope, build_source
from tests.stores import Stores
from tests.unit.core.library_builder import Shelf, _page


async def suggested(corpus: SqlCorpusRepository, scope: SearchScope, most: int = 4) -> list[str]:
    documents = await corpus.list_documents(scope.workspace, None)
    return await example_questions(documents, corpus, scope, most)


async def put(corpus: SqlCorpusRepository, source: Source, path: str, *pages: str, title: str, hours: int = 0) -> None:
    await corpus.save_source(source)
    document = build_document(path, source, title=title, pages=len(pages))
    document = replace(document, crawled_at=NOON + timedelta(hours=hours))
    await corpus.switch_revision(document, [_page(document, at, text) for at, text in enumerate(pages, start=1)], [])


async def test_they_name_a_section_of_each_document() -> None:
    shelf = Shelf()
    await shelf.add("house.md", "# House\n\n## Keys\n\nUnder the stairs.", title="House")
    await shelf.add("tides.md", "# High water\n\nAt noon.", title="Tides")
    assert await suggested(shelf.corpus, shelf.scope()) == [
        "What does “House” say about “Keys”?",
        "What does “Tides” say about “High water”?",
    ]
    assert len(await suggested(shelf.corpus, shelf.scope(), 1)) == 1


async def test_headings_that_say_nothing_are_passed_over() -> None:
    shelf = Shelf()
    pages = ("# Contents\n\n# Chapter 1\n\n# IV.", "no heading at all", "# The house\n\n# Cellar")
    await shelf.add("house.md", *pages, title="House")
    await shelf.add("bare.md", "no heading", title="Bare")
    assert await suggested(shelf.corpus, shelf.scope()) == ["What does “House” say about “Cellar”?"]


async def test_nothing_beyond_a_reading_position_is_named() -> None:
    shelf = Shelf()
    document = await shelf.add("novel.md", "# Novel", "# The murderer is the gardener", title="Novel")
    assert await suggested(shelf.corpus, shelf.scope()) != []
    read = replace(shelf.scope(), positions={document.id: 1})
    assert await suggested(shelf.corpus, read) == []


async def test_sources_take_turns_and_the_newest_documents_come_first() -> None:
    corpus, first, second = Stores().corpus, build_source("first"), build_source("second")
    await put(corpus, first, "a.md", "# Anchors", title="Old", hours=1)
    await put(corpus, first, "b.md", "# Boats", title="New", hours=3)
    await put(corpus, second, "c.md", "# Cranes", title="Other", hours=2)
    assert await suggested(corpus, build_scope(first, second)) == [
        "What does “New” say about “Boats”?",
        "What does “Other” say about “Cranes”?",
        "What does “Old” say about “Anchors”?",
    ]


async def test_other_sources_and_kept_answers_are_left_out() -> None:
    corpus, kept, closed = Stores().corpus, build_source(KEPT_SOURCE), build_source("closed")
    await put(corpus, kept, "a.md", "# Anchors", title="Kept answers")
    await put(corpus, closed, "b.md", "# Boats", title="Closed")
    assert await suggested(corpus, build_scope(kept)) == []
    assert len(await suggested(corpus, build_scope(closed))) == 1


async def test_long_names_are_shortened() -> None:
    shelf = Shelf()
    await shelf.add("long.md", f"# {'harbour ' * 40}", title="tide " * 40)
    [question] = await suggested(shelf.corpus, shelf.scope())
    assert len(question) < 150
