"""The source viewer's view of a page: contents of long books, labels, and what stands around it."""

import pytest

from bot.web.pages.source_view import CONTENTS, source_view
from core.domain.corpus import Heading, Page
from core.domain.passages import Span
from tests.builders import build_document, build_pages


def address(page: Page) -> str:
    return f"/{page.number}"


@pytest.mark.parametrize(("here", "first"), [(0, 1), (500, 441), (999, 881)])
async def test_a_long_book_shows_the_contents_around_the_open_page(here: int, first: int) -> None:
    document = build_document(kind="text")
    pages = build_pages(document, *(f"Text of {number}" for number in range(1, 1001)))
    view = await source_view(document, pages[here], pages, None, address, internal_links=True)

    assert len(view.contents) == CONTENTS
    assert view.contents[0].href == f"/{first}"
    assert [entry.href for entry in view.contents if entry.is_open] == [f"/{here + 1}"]


async def test_a_page_without_title_is_called_by_its_first_heading_or_its_first_words() -> None:
    document = build_document(kind="pdf")
    headed = Page(
        id="1",
        document_id="d",
        revision="r",
        number=1,
        title="",
        text="Money",
        headings=(Heading(level=1, title="Money", start=0),),
    )
    bare = Page(
        id="2", document_id="d", revision="r", number=2, title="", text="\n\nHow it  began, and went on\nfor years"
    )
    view = await source_view(document, headed, [headed, bare], None, address, (), internal_links=True)

    assert [entry.label for entry in view.contents] == ["Money", "How it began, and went on"]
    assert view.contents[0].below == (("Money", "#h-0"),)
    assert view.picture == "/1/picture"


async def test_the_pages_around_show_their_nearest_words() -> None:
    document = build_document(kind="markdown")
    pages = build_pages(
        document, "first " * 200 + "the *end*", "middle", "# Title\n\nThe [[link|beginning]] " + "and so on " * 200
    )
    view = await source_view(document, pages[1], pages, None, address, internal_links=True)

    assert view.before.startswith("… ") and view.before.endswith("first the end")
    assert view.after.startswith("The beginning and so on") and view.after.endswith("…")
    assert len(view.before) < 250 > len(view.after)


async def test_the_quote_above_the_page_has_no_signs_of_markup() -> None:
    document = build_document(kind="markdown")
    pages = build_pages(document, "| a | b |\n|---|---|\n| **bold** | `code` |")
    view = await source_view(document, pages[0], pages, Span(0, 43), address, internal_links=True)

    assert view.quote == "a b bold code"
