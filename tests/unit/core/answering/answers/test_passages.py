"""What stands around a quote, as the page is now."""

from dataclasses import replace

import pytest

from core.answering.answers.passages import CHANGED, GONE, NEIGHBOURS, surroundings
from core.domain.answer import Citation
from core.domain.passages import Span
from tests.builders import build_citation, build_scope
from tests.unit.core.library_builder import Shelf

QUOTE = "The key hangs under the stairs."


async def cited(shelf: Shelf, text: str, quote: str = QUOTE) -> Citation:
    document = await shelf.add("house.md", text, title="House")
    page = await shelf.library.page_by_number("House", 1, shelf.scope())
    start = text.find(quote)
    return build_citation(document.id, page_id=page.page.id, quote=quote, span=Span(start, start + len(quote)))


async def test_a_short_page_is_shown_whole_without_the_marks_of_its_headings() -> None:
    shelf = Shelf()
    found = await surroundings(await cited(shelf, f"# Keys\n\n{QUOTE}\n\nTake it."), shelf.corpus, shelf.scope())

    assert (found.before, found.quote, found.behind, found.note) == ("Keys", QUOTE, "Take it.", "")


async def test_where_the_page_goes_on_there_are_dots() -> None:
    shelf = Shelf()
    word = "word "
    long = word * NEIGHBOURS
    found = await surroundings(await cited(shelf, f"{long}{QUOTE} {long}"), shelf.corpus, shelf.scope())

    assert found.before.startswith("… ") and found.before.endswith("word")
    assert found.behind.startswith("word") and found.behind.endswith(" …")
    assert max(len(found.before), len(found.behind)) <= NEIGHBOURS + 2


async def test_a_document_that_does_not_say_it_any_more_says_so() -> None:
    shelf = Shelf()
    citation = await cited(shelf, f"# Keys\n\n{QUOTE}")
    await shelf.add("house.md", "# Keys\n\nThere is a lock.", title="House")
    found = await surroundings(citation, shelf.corpus, shelf.scope())

    assert (found.quote, found.before, found.behind, found.note) == (QUOTE, "", "", CHANGED)
    assert found.now is None


async def test_a_quote_that_moved_is_shown_where_it_stands_now() -> None:
    shelf = Shelf()
    citation = replace(await cited(shelf, f"# Keys\n\n{QUOTE}"), page_id="of an old revision")
    await shelf.add("house.md", "# House\n\nOld.", f"# Doors\n\nMind the step. {QUOTE} Take it.", title="House")
    found = await surroundings(citation, shelf.corpus, shelf.scope())

    assert (found.before, found.quote, found.behind, found.note) == ("Doors Mind the step.", QUOTE, "Take it.", "")
    assert found.now is not None and found.now.page_number == 2


async def test_where_a_quote_moved_beyond_a_reading_position_is_not_told() -> None:
    shelf = Shelf()
    citation = replace(await cited(shelf, QUOTE), page_id="of an old revision")
    document = await shelf.add("house.md", "Nothing.", QUOTE, title="House")
    found = await surroundings(citation, shelf.corpus, shelf.scope(**{document.id: 1}))
    assert (found.quote, found.note, found.now) == (QUOTE, CHANGED, None)

    beyond = replace(citation, page_number=2, quote="Something else.")
    assert (await surroundings(beyond, shelf.corpus, shelf.scope(**{document.id: 1}))).quote == ""


@pytest.mark.parametrize("workspace", ["local", "elsewhere"])
async def test_what_may_not_be_read_is_not_shown(workspace: str) -> None:
    shelf = Shelf()
    citation = await cited(shelf, QUOTE)
    found = await surroundings(citation, shelf.corpus, build_scope(workspace=workspace))

    assert (found.quote, found.before, found.behind, found.note) == ("", "", "", GONE)
