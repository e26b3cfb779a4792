"""Suggestions are about sections next to what was cited, and only such as a search finds."""

from dataclasses import replace

from core.suggestions import MAX_SUGGESTIONS, suggest
from tests.builders import build_citation
from tests.unit.core.shelf import Shelf


async def suggestions(shelf: Shelf, *pages: tuple[str, int], question: str = "Where is the key?") -> tuple[str, ...]:
    documents = {document.path: document for document in await shelf.corpus.list_documents("local")}
    citations = [
        build_citation(
            documents[path].id,
            document=path,
            document_title=documents[path].title,
            page_number=number,
            heading_path=("Keys",),
        )
        for path, number in pages
    ]
    return await suggest(question, citations, shelf.corpus, shelf.library, shelf.scope())


async def test_headings_of_the_cited_and_the_next_pages_come_first() -> None:
    shelf = Shelf()
    await shelf.add(
        "a.md", "# Cellar\n\nx", "# Keys\n\nk\n\n## Locks\n\nl", "# Garden\n\ng", "# Roof\n\nr", title="House"
    )

    assert await suggestions(shelf, ("a.md", 2)) == (
        "What does “House” say about “Locks”?",
        "What does “House” say about “Garden”?",
        "What does “House” say about “Roof”?",
    )


async def test_what_the_question_or_the_footnote_named_is_not_suggested() -> None:
    shelf = Shelf()
    await shelf.add("a.md", "# Keys\n\nk", "# Garden shed\n\ng", title="House")

    assert await suggestions(shelf, ("a.md", 1), question="What is in the garden shed?") == ()


async def test_a_heading_that_no_search_finds_is_not_suggested() -> None:
    shelf = Shelf()
    document = await shelf.add("a.md", "# Keys\n\nk", "# Garden\n\ng", title="House")
    await shelf.index.remove_document(document.id)

    assert await suggestions(shelf, ("a.md", 1)) == ()


async def test_nothing_beyond_a_reading_position_is_suggested() -> None:
    shelf = Shelf()
    document = await shelf.add("a.md", "# Keys\n\nk", "# Garden\n\ng", title="House")
    scope = replace(shelf.scope(), positions={document.id: 1})
    citation = build_citation(document.id, document_title="House", heading_path=("Keys",))

    assert await suggest("Where?", [citation], shelf.corpus, shelf.library, scope) == ()


async def test_several_documents_give_three_short_suggestions_at_most() -> None:
    shelf = Shelf()
    for name in ("a.md", "b.md"):
        await shelf.add(name, "# Keys\n\nk", *(f"# Room {n} {'long ' * 30}\n\nx" for n in range(2)), title=name * 20)
    found = await suggestions(shelf, ("a.md", 1), ("b.md", 1))

    assert 0 < len(found) <= MAX_SUGGESTIONS
    assert all(len(text) <= 75 for text in found)
    assert len(set(found)) == len(found)
