"""The list of documents: within the scope, by filter, with pages, and what else is new."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.answering.tools.list_documents import ListDocumentsArguments, ListDocumentsTool
from core.errors import ToolRetry
from tests.builders import NOON, build_pages, build_scope, build_source
from tests.unit.core.library_builder import Shelf

COUNCILS = ("2026-02-10-council.md", "2026-01-13-council.md", "2026-04-01-council.md")


@pytest.fixture
async def shelf() -> Shelf:
    """Today is 1 March 2026, a Sunday. The council of April is still to come."""
    shelf = Shelf()
    for path in COUNCILS:
        document = await shelf.add(path, "Ferries.", title=f"Council {path[:10]}", crawled_at=NOON - timedelta(days=30))
        await shelf.corpus.switch_revision(replace(document, dated=path[:10]), build_pages(document, "Ferries."), [])
    await shelf.add("guide.md", "Keys.", "Locks.", title="Guide", crawled_at=NOON)
    await shelf.add("book.pdf", "Tides.", title="Tides", kind="pdf", crawled_at=NOON - timedelta(days=30))
    return shelf


async def listed(shelf: Shelf, **arguments: object) -> list[str]:
    """The lines, of documents only their paths."""
    finding = await ListDocumentsTool().run(ListDocumentsArguments(**arguments), shelf.context())
    assert finding.passages == ()
    return [
        line.removeprefix("- ").split(": ")[0] if line.startswith("- ") else line for line in finding.text.split("\n")
    ]


async def test_all_are_listed_the_latest_first_and_those_to_come_after_them(shelf: Shelf) -> None:
    assert await listed(shelf) == [
        "5 documents, newest first:",
        "2026-02-10-council.md",
        "2026-01-13-council.md",
        "2026-04-01-council.md",
        "guide.md",
        "book.pdf",
    ]


async def test_a_line_has_title_day_kind_pages_and_source(shelf: Shelf) -> None:
    finding = await ListDocumentsTool().run(ListDocumentsArguments(words="guide"), shelf.context())
    assert finding.text == "1 document for words 'guide':\n- guide.md: \"Guide\", markdown, 2 pages, source handbook"


async def test_the_last_two_are_found(shelf: Shelf) -> None:
    assert await listed(shelf, words="council meetings", limit=2) == [
        "3 documents for words 'council meetings', 1 to 2, newest first:",
        "2026-02-10-council.md",
        "2026-01-13-council.md",
        "1 more: call again with offset 2.",
    ]
    assert await listed(shelf, words="council meetings", limit=2, offset=2) == [
        "3 documents for words 'council meetings', 3 to 3, newest first:",
        "2026-04-01-council.md",
    ]


async def test_since_a_day_those_of_that_day_on_and_those_that_came_since(shelf: Shelf) -> None:
    assert await listed(shelf, since="2026-02-01") == [
        "2 documents for since '2026-02-01', newest first:",
        "2026-04-01-council.md",
        "2026-02-10-council.md",
        "Added or changed here since Sunday, 1 February 2026, with another date or none: 1 other document.",
        "guide.md",
    ]


async def test_relative_days_are_read(shelf: Shelf) -> None:
    assert (await listed(shelf, since="yesterday", until="today"))[0] == (
        "0 documents for since 'yesterday', until 'today'."
    )
    assert (await listed(shelf, since="january", until="february"))[1:] == [
        "2026-02-10-council.md",
        "2026-01-13-council.md",
    ]
    with pytest.raises(ToolRetry, match="'soonish' is no day: write 2026-06-09"):
        await listed(shelf, since="soonish")


async def test_where_nothing_fits_the_library_is_summed_up(shelf: Shelf) -> None:
    assert await listed(shelf, kind="docx") == [
        "0 documents for kind 'docx'.",
        "There are 5 in all: 4 markdown, 1 pdf; by source: 5 handbook.",
    ]


async def test_by_title_all_are_in_one_order(shelf: Shelf) -> None:
    assert (await listed(shelf, order="title"))[-2:] == ["guide.md", "book.pdf"]


async def test_a_question_about_one_document_lists_that_alone(shelf: Shelf) -> None:
    context = shelf.context(document_ids=frozenset({"local/handbook/guide.md"}))
    finding = await ListDocumentsTool().run(ListDocumentsArguments(), context)
    assert finding.text.splitlines()[1:] == ['- guide.md: "Guide", markdown, 2 pages, source handbook']


async def test_pages_are_counted_up_to_the_position_and_hidden_documents_are_not_named(shelf: Shelf) -> None:
    scope = shelf.scope(**{"local/handbook/guide.md": 1})
    finding = await ListDocumentsTool().run(ListDocumentsArguments(words="guide"), shelf.context(scope=scope))
    assert "1 page, source" in finding.text
    hidden = replace(shelf.scope(), hidden=frozenset({"local/handbook/guide.md"}))
    finding = await ListDocumentsTool().run(ListDocumentsArguments(), shelf.context(scope=hidden))
    assert "4 documents" in finding.text and "guide" not in finding.text
    nothing = await ListDocumentsTool().run(
        ListDocumentsArguments(), shelf.context(scope=build_scope(build_source("empty")))
    )
    assert nothing.text == "0 documents.\nNo document can be read here."
