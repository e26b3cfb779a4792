"""Suggestions are about sections next to what was cited, and only such as a search finds."""

from dataclasses import replace

import pytest

from core.answering.answers.suggestions import MAX_SUGGESTIONS, question_about, suggest
from tests.builders import build_citation
from tests.unit.core.library_builder import Shelf


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
    await shelf.add("b.md", "# Boats\n\nb", title="Boats")
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


async def test_sections_that_the_quotes_speak_of_are_suggested_alone() -> None:
    shelf = Shelf()
    document = await shelf.add(
        "a.md", "# Fares\n\nf", "# The bell buoy\n\nb", "# Dogs on deck\n\nd", "# Tasks\n\nt", title="Minutes"
    )
    quotes = ("Tom: free the bell buoy off Hallow, by 16 June", "Ann: paint the signs")
    citations = [
        build_citation(document.id, document_title="Minutes", page_number=4, heading_path=("Tasks",), quote=quote)
        for quote in quotes
    ]
    found = await suggest("Which tasks are open?", citations, shelf.corpus, shelf.library, shelf.scope())

    assert found == ("What does “Minutes” say about “The bell buoy”?",)


async def test_a_list_from_many_sections_is_not_followed_by_what_stands_beside_them() -> None:
    shelf = Shelf()
    names = ("Fares", "Dogs", "Ramps", "Guests")
    document = await shelf.add("a.md", *(f"# {name}\n\nx" for name in names), title="Minutes")
    citations = [
        build_citation(document.id, document_title="Minutes", page_number=number, heading_path=(name,), quote="Yes.")
        for number, name in enumerate(names[:3], start=1)
    ]
    shelves = (shelf.corpus, shelf.library, shelf.scope())

    assert await suggest("List the decisions", citations, *shelves) == ()
    assert await suggest("What of dogs?", citations[:1], *shelves) == (
        "What does “Minutes” say about “Ramps”?",
    )  # nor is another cited section ever suggested


@pytest.mark.parametrize(
    ("document", "section", "asked"),
    [
        (
            "Harbour council, 9 June 2026",
            "4. The bell buoy",
            "“Harbour council, 9 June 2026” say about “The bell buoy”",
        ),
        ("House", "2026 season", "“House” say about “2026 season”"),
        ("House", "3.1 Keys", "“House” say about “Keys”"),
        ("House", "7.", "“House” say about “7.”"),
        (
            "The keeper's handbook of the northern isles",
            "Fog",
            "“The keeper's handbook of the northern isles” say about “Fog”",
        ),
    ],
)
def test_a_question_names_as_much_of_both_as_a_button_holds(document: str, section: str, asked: str) -> None:
    text = question_about(document, section)
    assert text == f"What does {asked}?"
    assert len(text) <= 75


def test_of_two_long_names_the_section_keeps_more() -> None:
    text = question_about("A handbook for all who sail or wait", "What to do when the gates do not open at night")
    assert text == "What does “A handbook for all who sail…” say about “What to do when the…”?"
