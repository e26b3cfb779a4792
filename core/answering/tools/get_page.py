"""The `get_page` tool: a whole page, its neighbours, and an image of it for models that see."""

from collections.abc import Sequence

from pydantic import Field

from core.answering.tools.base import Arguments, Finding, ToolContext, document_named, within
from core.answering.tools.search import describe_place
from core.domain.answer import PicturedPage
from core.domain.chat import PageImage, PagePart
from core.domain.corpus import Document, Page, SourcedPassage
from core.errors import NotFound, ToolRetry

# About 3,000 tokens a call: a long chapter is read in several calls, so that one page can't fill the window.
PAGE_CHARACTERS = 12_000
MAX_PICTURES = 4  # of a question: each costs more than a thousand tokens, again with every request of the run
MAX_HEADINGS = 40  # listed; a page with more is a list itself


class GetPageArguments(Arguments):
    page_id: str | None = Field(default=None, description="Of a search result or a neighbouring page.")
    document: str | None = Field(default=None, description="Path, title or alias of a document, with page_number.")
    page_number: int | None = Field(default=None, ge=1, description="From 1.")
    offset: int = Field(default=0, ge=0, description="Character to go on at, as the last call said.")


class GetPageAndPictureArguments(GetPageArguments):
    picture: bool = Field(
        default=False,
        description="Also show a PDF's page as a picture: for diagrams, maps and tables that the text does not make "
        "clear. Statements still need a passage to cite.",
    )
    part: PagePart = Field(default=PagePart.WHOLE, description="Of the picture. A half shows small print larger.")


GetPageArguments.with_pictures = GetPageAndPictureArguments


class GetPageTool:
    name = "get_page"
    description = (
        "Read one whole page: give page_id, or document and page_number. Use it when passages break off, or when the "
        "reader names a page. It also gives the ids of the previous and the next page."
    )
    arguments = GetPageArguments

    async def run(self, arguments: GetPageArguments, context: ToolContext) -> Finding:
        page = await _find_page(arguments, context)
        document = await context.corpus.get_document(page.document_id, context.scope)
        passages = await context.corpus.list_page_passages(page.id, context.scope)
        shown, rest = cut(passages, arguments.offset, PAGE_CHARACTERS)
        if passages and not shown:
            raise ToolRetry(f"The page ends at character {len(page.text)}: choose a smaller offset.")
        images, without = await _picture(arguments, document, page, context)
        lines = [
            f"{describe_place(document, page.number, page.heading_path)} (page_id {page.id})",
            *_headings(page),
            *await _neighbours(page, context),
            *_cut_note(page, shown, rest),
            *without,
        ]
        part = arguments.part if isinstance(arguments, GetPageAndPictureArguments) else PagePart.WHOLE
        pictures = tuple(PicturedPage(document, page.number, part) for _ in images)
        return Finding(text="\n".join(lines), passages=tuple(shown), images=images, pictures=pictures)


async def _picture(
    arguments: GetPageArguments, document: Document, page: Page, context: ToolContext
) -> tuple[tuple[PageImage, ...], list[str]]:
    """Return the image, or a line with the reason against it."""
    pictures = context.pictures
    if pictures is None or not isinstance(arguments, GetPageAndPictureArguments) or not arguments.picture:
        return (), []
    if pictures.drawn >= MAX_PICTURES:
        return (), [f"No picture: there are at most {MAX_PICTURES} for a question."]
    pictures.drawn += 1  # before the wait: calls run side by side
    try:
        return (await pictures.of.picture_of(document, page, arguments.part),), []
    except NotFound as error:
        pictures.drawn -= 1
        return (), [f"No picture: {error}"]


def cut(
    passages: Sequence[SourcedPassage], offset: int, characters: int
) -> tuple[list[SourcedPassage], list[SourcedPassage]]:
    """(shown, left over) of passages in text order: whole ones from `offset` on, about `characters`, at least one."""
    ahead = [item for item in passages if item.passage.span.start >= offset]
    shown = list(within(ahead, characters))
    return shown, ahead[len(shown) :]


async def _find_page(arguments: GetPageArguments, context: ToolContext) -> Page:
    if arguments.page_id is not None:
        page = await _page_by_id(arguments.page_id, context)
        if context.document_ids and page.document_id not in context.document_ids:
            raise ToolRetry("This question is limited to another document: use page_ids of its own pages.")
        return page
    if arguments.document is None or arguments.page_number is None:
        raise ToolRetry("Give page_id, or document and page_number together.")
    document = await document_named(arguments.document, context)
    numbered = await context.corpus.find_page(document.id, arguments.page_number, context.scope)
    if numbered is None:
        numbers = [page.number for page in await context.corpus.list_pages(document.id, context.scope)]
        there = f"its pages go from {numbers[0]} to {numbers[-1]}" if numbers else "none of its pages can be read"
        raise ToolRetry(f"{document.title!r} has no page {arguments.page_number} to read: {there}.")
    return numbered


async def _page_by_id(page_id: str, context: ToolContext) -> Page:
    try:
        return await context.corpus.get_page(page_id, context.scope)
    except NotFound as error:
        raise ToolRetry(f"There is no page with the id {page_id!r}: take page_ids from search results.") from error


def _headings(page: Page) -> list[str]:
    titles = [heading.title for heading in page.headings[:MAX_HEADINGS]]
    more = len(page.headings) - len(titles)
    return [f"Headings: {'; '.join(titles)}{f' and {more} more' if more else ''}"] if titles else []


async def _neighbours(page: Page, context: ToolContext) -> list[str]:
    """The pages before and after; numbers may have gaps where a page has no text."""
    pages = await context.corpus.list_pages(page.document_id, context.scope)
    place = [other.id for other in pages].index(page.id)
    lines = [f"Previous page: page_id {pages[place - 1].id}"] if place > 0 else []
    return lines + [f"Next page: page_id {after.id}" for after in pages[place + 1 : place + 2]]


def _cut_note(page: Page, shown: Sequence[SourcedPassage], rest: Sequence[SourcedPassage]) -> list[str]:
    if not rest:
        return []
    start, end = shown[0].passage.span.start, shown[-1].passage.span.end
    return [
        f"Shown are characters {start} to {end} of {len(page.text)}; to go on, call get_page with page_id {page.id} "
        f"and offset {rest[0].passage.span.start}."
    ]
