"""Pages as pictures: offered to models that see, bounded in number, and never beyond what may be read."""

from typing import Any

import pytest

from core.answering.tools.base import Pictures
from core.answering.tools.get_page import MAX_PICTURES, GetPageTool
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import PageImage, PagePart, ToolInvocation, ToolResult
from core.domain.corpus import Document, Page
from core.errors import NotFound
from tests.unit.core.library_builder import Shelf


class Album:
    """Pictures of every page but those of Markdown (implements core.ports.PagePictures)."""

    def __init__(self) -> None:
        self.drawn: list[tuple[str, int]] = []

    async def picture_of(self, document: Document, page: Page, part: PagePart = PagePart.WHOLE) -> PageImage:
        if document.kind != "pdf":
            raise NotFound("Only pages of PDFs have pictures.")
        self.drawn.append((document.path, page.number))
        return PageImage(label=f"page {page.number}, {part}", media_type="image/jpeg", data=b"x")


class Desk:
    def __init__(self, shelf: Shelf, **scope: Any) -> None:
        self.album = Album()
        self.sees = True
        self.tools = Toolbox(
            [GetPageTool()], shelf.context(pictures=Pictures(of=self.album, sees=lambda: self.sees), **scope)
        )

    async def page(self, number: int, document: str = "Plans", **arguments: object) -> ToolResult:
        asked = {"document": document, "page_number": number, **arguments}
        return await self.tools.invoke(ToolInvocation(id="c1", name="get_page", arguments=asked))


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("plans.pdf", *(f"Plan {number}." for number in range(1, 8)), title="Plans", kind="pdf")
    await shelf.add("notes.md", "A note.", title="Notes")
    return shelf


async def test_a_picture_comes_with_the_passages_and_only_when_it_is_asked_for(shelf: Shelf) -> None:
    desk = Desk(shelf)
    plain, seen = await desk.page(2), await desk.page(2, picture=True)
    assert plain.images == () and [image.label for image in seen.images] == ["page 2, whole"]
    assert plain.text == seen.text and plain.passages == seen.passages != ()


async def test_half_a_page_can_be_asked_for(shelf: Shelf) -> None:
    desk = Desk(shelf)
    seen = await desk.page(2, picture=True, part="left half")
    assert [image.label for image in seen.images] == ["page 2, left half"]
    assert [page.part for page in desk.tools.evidence.pictures] == [PagePart.LEFT]
    assert (await desk.page(2, picture=True, part="upper left")).is_error


async def test_what_the_model_can_do_at_the_moment_decides_what_is_offered(shelf: Shelf) -> None:
    desk = Desk(shelf)
    assert "picture" in desk.tools.definitions[0].parameters["properties"]  # type: ignore[operator]
    desk.sees = False
    assert "picture" not in desk.tools.definitions[0].parameters["properties"]  # type: ignore[operator]
    refused = await desk.page(2, picture=True)
    assert refused.is_error and "unknown argument 'picture'" in refused.text and desk.album.drawn == []


async def test_a_question_has_so_many_pictures_and_no_more(shelf: Shelf) -> None:
    desk = Desk(shelf)
    results = [await desk.page(number, picture=True) for number in range(1, 7)]
    assert [len(result.images) for result in results] == [1] * MAX_PICTURES + [0, 0]
    assert "No picture: there are at most 4" in results[-1].text and results[-1].passages


async def test_a_page_without_a_picture_is_read_all_the_same_and_costs_none(shelf: Shelf) -> None:
    desk = Desk(shelf)
    for _ in range(MAX_PICTURES + 1):
        result = await desk.page(1, "Notes", picture=True)
        assert "No picture: Only pages of PDFs have pictures." in result.text and not result.is_error
    assert (await desk.page(1, picture=True)).images


async def test_nothing_beyond_the_scope_or_the_position_is_drawn(shelf: Shelf) -> None:
    bounded = Desk(shelf, scope=shelf.scope(**{"local/handbook/plans.pdf": 2}))
    for number in (3, 7):
        assert (await bounded.page(number, picture=True)).is_error
    assert (await bounded.page(2, picture=True)).images
    elsewhere = Desk(shelf, document_ids=frozenset({"local/handbook/notes.md"}))
    assert (await elsewhere.page(1, picture=True)).is_error
    assert bounded.album.drawn == [("plans.pdf", 2)] and elsewhere.album.drawn == []
