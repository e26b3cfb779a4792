"""What stands around a quote, as the page is now."""

import pytest

from core.domain.answer import Citation
from core.domain.corpus import Span
from core.passages import CHANGED, GONE, NEIGHBOURS, surroundings
from tests.builders import build_citation, build_scope
from tests.unit.core.shelf import Shelf

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


async def test_a_page_that_changed_says_so() -> None:
    shelf = Shelf()
    citation = await cited(shelf, f"# Keys\n\n{QUOTE}")
    found = await surroundings(
        build_citation(page_id=citation.page_id, quote=QUOTE, span=Span(0, len(QUOTE))), shelf.corpus, shelf.scope()
    )

    assert (found.quote, found.before, found.behind, found.note) == (QUOTE, "", "", CHANGED)


@pytest.mark.parametrize("workspace", ["local", "elsewhere"])
async def test_what_may_not_be_read_is_not_shown(workspace: str) -> None:
    shelf = Shelf()
    citation = await cited(shelf, QUOTE)
    found = await surroundings(citation, shelf.corpus, build_scope(workspace=workspace))

    assert (found.quote, found.before, found.behind, found.note) == ("", "", "", GONE)
