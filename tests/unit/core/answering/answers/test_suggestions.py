"""Suggested questions: made from headings that ask and from extracts, and only such as a search finds."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from core.answering.answers.suggestions import LONGEST, MAX_SUGGESTIONS
from core.domain.corpus import Document, PageHit, SearchQuery, SearchScope
from core.domain.extracts import ExtractType
from core.errors import StorageError
from tests.builders import NOON, build_citation, build_scope, build_source
from tests.unit.core.library_builder import Shelf

Data = Mapping[str, object]


async def after(shelf: Shelf, document: Document, *numbers: int, asked: str = "Where is the key?") -> tuple[str, ...]:
    citations = [
        build_citation(document.id, document_title=document.title, page_number=number, heading_path=("Keys",))
        for number in numbers
    ]
    return await shelf.suggestions.after(asked, citations, shelf.scope())


async def about(shelf: Shelf, scope: SearchScope | None = None, most: int = 4) -> list[str]:
    documents = await shelf.corpus.list_documents("local", None)
    return [*await shelf.suggestions.about(documents, scope or shelf.scope(), most)]


# ------------------------------------------------------------------------------------------------ after an answer


async def test_headings_that_ask_are_suggested_and_subjects_are_not() -> None:
    shelf = Shelf()
    pages = ("# Keys\n\nk", "# Garden\n\ng", "# Who may enter the cellar\n\nc", "# How high is the roof?\n\nr")
    document = await shelf.add("a.md", *pages, title="House")

    assert await after(shelf, document, 2) == ("Who may enter the cellar?", "How high is the roof?")


@pytest.mark.parametrize(
    "heading",
    ["Why it happened", "How to react", "How we write here", "What?", "Where", "Is it", "The question of the roof"],
)
async def test_a_heading_in_the_form_of_a_statement_is_no_question(heading: str) -> None:
    shelf = Shelf()
    document = await shelf.add("a.md", "# Keys\n\nk", f"# {heading}\n\nx", title="House")

    assert await after(shelf, document, 1) == ()


@pytest.mark.parametrize(
    ("kind", "data", "questions"),
    [
        (
            ExtractType.MEETING,
            {"date": "2026-06-09", "decisions": [{"text": "Fares stay.", "page_number": 2, "span": (0, 3)}]},
            ("What was decided on 9 June 2026?",),
        ),
        (
            ExtractType.MEETING,
            {"action_items": [{"description": "Paint.", "owner": "Ann", "page_number": 2, "span": (0, 3)}]},
            ("What are the action items of Ann?",),
        ),
        (
            ExtractType.API,
            {"endpoints": [{"method": "GET", "path": "/boats", "page_number": 2, "span": (0, 3)}]},
            ("What does GET /boats do?",),
        ),
        (ExtractType.ENTITY, {"name": "A gill", "kind": "term", "definition": "a measure"}, ("What is A gill?",)),
        (ExtractType.ENTITY, {"name": "Maren Holt", "kind": "person", "definition": "chair"}, ("Who is Maren Holt?",)),
        (ExtractType.ENTITY, {"name": "Maren Holt", "kind": "person"}, ()),
        (ExtractType.MEETING, {"date": "2026-06-09"}, ()),
    ],
)
async def test_extracts_give_the_questions_they_answer(kind: ExtractType, data: Data, questions: tuple[str]) -> None:
    shelf = Shelf()
    text = "On 9 June 2026 Ann and Maren Holt decided on the action items: what GET boats do is a gill."
    document = await shelf.add("a.md", "# Keys\n\nk", text, title="Minutes")
    await shelf.extract(document, kind, data, page=2)

    assert await after(shelf, document, 1) == questions


async def test_what_the_question_or_the_footnote_named_is_not_suggested() -> None:
    shelf = Shelf()
    document = await shelf.add("a.md", "# Keys\n\nk", "# What is in the garden shed?\n\ng", title="House")

    assert await after(shelf, document, 1, asked="What do we have in the garden shed?") == ()


async def test_a_question_whose_page_no_search_finds_is_not_suggested() -> None:
    shelf = Shelf()
    document = await shelf.add("a.md", "# Keys\n\nk", "# What is in the garden?\n\ng", title="House")
    await shelf.add("b.md", "# Boats\n\nb", title="Boats")
    assert await after(shelf, document, 1) != ()
    await shelf.index.remove_document(document.id)

    assert await after(shelf, document, 1) == ()


async def test_nothing_beyond_a_reading_position_is_suggested() -> None:
    shelf = Shelf()
    document = await shelf.add("a.md", "# Keys\n\nk", "# Who is the murderer?\n\nThe gardener.", title="House")
    scope = replace(shelf.scope(), positions={document.id: 1})
    citation = build_citation(document.id, document_title="House", heading_path=("Keys",))

    assert await shelf.suggestions.after("Where?", [citation], shelf.scope()) == ("Who is the murderer?",)
    assert await shelf.suggestions.after("Where?", [citation], scope) == ()
    assert await about(shelf, scope) == []


async def test_suggestions_are_few_and_never_cut() -> None:
    shelf = Shelf()
    pages = [f"# What is in room {n}{' and in the next' * n}?\n\nx" for n in range(6)]
    document = await shelf.add("a.md", "# Keys\n\nk", *pages, title="House")
    found = await after(shelf, document, 3)

    assert len(found) == MAX_SUGGESTIONS
    assert all(text.endswith("?") and len(text) <= LONGEST for text in found)


async def test_questions_that_the_quotes_speak_of_are_suggested_alone() -> None:
    shelf = Shelf()
    pages = (
        "# What do fares cost?\n\nf",
        "# Where is the bell buoy?\n\nb",
        "# May dogs go on deck?\n\nd",
        "# Tasks\n\nt",
    )
    document = await shelf.add("a.md", *pages, title="Minutes")
    quotes = ("Tom: free the bell buoy off Hallow, by 16 June", "Ann: paint the signs")
    citations = [
        build_citation(document.id, document_title="Minutes", page_number=4, heading_path=("Tasks",), quote=quote)
        for quote in quotes
    ]

    found = await shelf.suggestions.after("Which tasks are open?", citations, shelf.scope())

    assert found == ("Where is the bell buoy?",)


async def test_a_list_from_many_sections_is_not_followed_by_what_stands_beside_them() -> None:
    shelf = Shelf()
    names = ("Fares", "Dogs", "Ramps", "Are guests allowed?")
    document = await shelf.add("a.md", *(f"# {name}\n\nx" for name in names), title="Minutes")
    citations = [
        build_citation(document.id, document_title="Minutes", page_number=number, heading_path=(name,), quote="Yes.")
        for number, name in enumerate(names[:3], start=1)
    ]

    assert await shelf.suggestions.after("List the decisions", citations, shelf.scope()) == ()
    assert await shelf.suggestions.after("What of ramps?", citations[2:], shelf.scope()) == ("Are guests allowed?",)


# --------------------------------------------------------------------------------------- before the first question


async def test_each_document_gives_one_question() -> None:
    shelf = Shelf()
    await shelf.add("house.md", "# House\n\n## Where are the keys?\n\nk\n\n## Is it dry?", title="House")
    await shelf.add("tides.md", "# When is high water?\n\nAt noon.", title="Tides")
    await shelf.add("bare.md", "# Boats\n\nno question", title="Bare")

    assert await about(shelf) == ["Where are the keys?", "When is high water?"]
    assert await about(shelf, most=1) == ["Where are the keys?"]


async def test_questions_are_looked_for_once_until_a_document_changes() -> None:
    shelf, searches = Shelf(), []
    find = shelf.library.search

    async def search(query: SearchQuery, scope: SearchScope) -> list[PageHit]:
        searches.append(query.text)
        await asyncio.sleep(0)
        return await find(query, scope)

    shelf.library.search = search
    await shelf.add("house.md", "# Where are the keys?\n\nk", title="House")
    together = await asyncio.gather(about(shelf), about(shelf))
    again, hidden = await about(shelf), await about(shelf, build_scope())
    await shelf.add("house.md", "# Is it dry?\n\nYes.", title="House", revision="r2")
    changed = await about(shelf)

    assert [*together, again] == [["Where are the keys?"]] * 3
    assert (hidden, changed) == ([], ["Is it dry?"])
    assert searches == ["Where are the keys?", "Is it dry?"]


async def test_a_search_that_failed_is_tried_again() -> None:
    shelf = Shelf()
    find, failed = shelf.library.search, []

    async def search(query: SearchQuery, scope: SearchScope) -> list[PageHit]:
        if not failed:
            failed.append(query)
            raise StorageError("the index is away")
        return await find(query, scope)

    shelf.library.search = search
    await shelf.add("house.md", "# Is it dry?\n\nYes.", title="House")
    with pytest.raises(StorageError):
        await about(shelf)

    assert await about(shelf) == ["Is it dry?"]


async def test_sources_take_turns_and_the_newest_documents_come_first() -> None:
    shelf, first, second = Shelf(), build_source("first"), build_source("second")
    for source, subject, hours in ((first, "anchors", 1), (first, "boats", 3), (second, "cranes", 2)):
        shelf.source = source
        page = f"# Where are the {subject}?\n\nx"
        await shelf.add(f"{subject}.md", page, crawled_at=NOON + timedelta(hours=hours))

    asked = await about(shelf, build_scope(first, second))

    assert asked == ["Where are the boats?", "Where are the cranes?", "Where are the anchors?"]
    assert await about(shelf, build_scope(second)) == ["Where are the cranes?"]
