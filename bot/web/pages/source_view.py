"""The view of a source's page for its templates: its text, its place in the document, and the ways on."""

import asyncio
import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bot.web.page_html import PageHtml, context_of, to_html
from bot.web.page_markup import CITED, heading_id
from core.domain.corpus import Document, Page
from core.domain.footnotes import heading_path_at, page_links
from core.domain.passages import PageBox, Span
from core.text.markup import to_words
from core.text.words import collapse, shorten

# Entries of the table of contents around the open page; longer ones belong to the book itself.
CONTENTS = 120
_GLIMPSE = 240  # characters of the pages before and after
_SUBHEADINGS = 40  # of the open page
_QUOTE = 300  # characters of the quote above the page
_MARK = re.compile(rf'<mark class="{CITED}"[^<>]*+>((?:[^<]++|<(?!/?mark\b))*+)</mark>')
_LABEL = 70  # characters of an entry
_HEX = 10  # characters of a revision to show
# Kinds of documents in words; all others are documents.
KINDS = {
    "pdf": "PDF",
    "markdown": "Note",
    "csv": "Table",
    "table": "Table",
    "spreadsheet": "Workbook",
    "epub": "Book",
    "html": "Web page",
    "openapi": "API",
    "pptx": "Slides",
    "mail": "E-mail",
    "channel": "Chat",
    "notebook": "Notebook",
    "foundry": "Journal",
    "kept": "Kept answer",
    "text": "Text",
}
_NUMBERED = {"pdf": "page", "pptx": "slide"}  # kinds whose pages people know by number


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A page in the table of contents."""

    label: str
    href: str
    is_open: bool
    below: tuple[tuple[str, str], ...] = ()  # headings of the open page: (title, address)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceView:
    """A page, its place in the document, and links from it."""

    document: Document
    page: Page
    html: PageHtml
    quote: str  # the quote on one line; "" without one
    path: tuple[str, ...]  # its heading path
    contents: tuple[Entry, ...]
    previous: tuple[str, str] | None  # (label, address)
    next: tuple[str, str] | None
    before: str  # end of the previous page
    after: str  # start of the next page
    picture: str | None
    boxes: tuple[PageBox, ...]  # of the quote on the picture; () if its place isn't known
    url: str | None
    deep_link: str | None
    revision: str
    place: str  # in the document's own terms: "PDF, page 3 of 10 › Money"
    cited: str  # the quote as written; "" without one
    context: str  # the quote's HTML with its sentences and those around it; "" without a quote
    cited_anchor: str = CITED
    is_excerpt: bool = False  # only the passage and its neighbours


async def source_view(
    document: Document,
    page: Page,
    pages: Sequence[Page],
    cited: Span | None,
    address: Callable[[Page], str],
    boxes: Sequence[PageBox] | None = None,
    *,
    internal_links: bool,
) -> SourceView:
    """Build the view of `page` among the readable `pages` of its document; `address` returns the path of each.

    `boxes` are the places of the cited part on the page's image; None: it has no image.
    """
    body = await asyncio.to_thread(to_html, page, document.kind, cited, internal_links=internal_links)
    here = next((place for place, other in enumerate(pages) if other.id == page.id), 0)
    before, after = (pages[here - 1] if here > 0 else None), (pages[here + 1] if here + 1 < len(pages) else None)
    url, deep_link = page_links(document, page)
    context = ""
    if cited is not None and boxes is not None:
        part = context_of(page, cited)
        context = to_html(page, document.kind, cited, internal_links=internal_links, part=part).body
    return SourceView(
        document=document,
        page=page,
        html=body,
        quote=shorten(collapse(html.unescape(" ".join(_MARK.findall(body.body)))), _QUOTE),
        path=(*page.heading_path, *([page.title] if page.title else [])),
        contents=_contents(pages, here, address),
        previous=_turn(before, document, address, "Previous"),
        next=_turn(after, document, address, "Next"),
        before=_end_of(before, document) if before else "",
        after=_start_of(after, document) if after else "",
        picture=f"{address(page)}/picture" if boxes is not None else None,
        boxes=tuple(boxes or ()),
        url=url if url and url.startswith(("http://", "https://")) else None,
        deep_link=deep_link,
        revision=page.revision[:_HEX],
        place=_place(document, page, cited),
        cited=cited.of(page.text) if cited else "",
        context=context,
    )


async def excerpt_view(document: Document, page: Page, cited: Span | None) -> SourceView:
    """Build the view of a passage and its neighbours, which tells no other part of its document."""
    view = await source_view(document, page, [page], cited, lambda page: "", internal_links=False)
    part = context_of(page, context_of(page, cited)) if cited else Span(0, 0)
    body = await asyncio.to_thread(to_html, page, document.kind, cited, internal_links=False, part=part)
    return replace(view, html=body, contents=(), is_excerpt=True)


def _place(document: Document, page: Page, cited: Span | None) -> str:
    """Return the place of a page, or of its cited part, as the document names it."""
    path = heading_path_at(page, cited.start) if cited else (*page.heading_path, page.title)
    # the title of a CSV page is its list of columns, which its table shows
    path = () if document.kind == "csv" else tuple(heading for heading in path if heading and heading != document.title)
    label = f" ({page.place.label})" if page.place and page.place.label else ""
    kind = KINDS.get(document.kind, "Document")
    numbered = _NUMBERED.get(document.kind)
    number = f"{numbered} {page.number}{label} of {document.pages}" if numbered else ""
    return " › ".join([", ".join(filter(None, (kind, number))), *path])


def _turn(page: Page | None, document: Document, address: Callable[[Page], str], word: str) -> tuple[str, str] | None:
    """Return the label and the address of the page before or after; `word` names it if its number doesn't."""
    if page is None:
        return None
    numbered = _NUMBERED.get(document.kind)
    return (f"{numbered.capitalize()} {page.number}" if numbered else word), address(page)


def cited_span(page: Page, start: int, end: int) -> Span | None:
    """Return the part of a page from `start` to `end`, or None if it doesn't exist."""
    return Span(start, end) if 0 <= start < end <= len(page.text) else None


def _start_of(page: Page, document: Document) -> str:
    return shorten(_words_of(page.text[: 3 * _GLIMPSE], document), _GLIMPSE)


def _end_of(page: Page, document: Document) -> str:
    words = _words_of(page.text[-3 * _GLIMPSE :], document)
    if len(words) <= _GLIMPSE:
        return words
    end = words[-_GLIMPSE:]
    return f"… {end.partition(' ')[2] or end}"


def _words_of(text: str, document: Document) -> str:
    return collapse(to_words(text) if document.kind == "markdown" else text)


def _contents(pages: Sequence[Page], here: int, address: Callable[[Page], str]) -> tuple[Entry, ...]:
    first = max(0, min(here - CONTENTS // 2, len(pages) - CONTENTS))
    return tuple(_entry(page, address(page), is_open=page is pages[here]) for page in pages[first : first + CONTENTS])


def _entry(page: Page, href: str, *, is_open: bool) -> Entry:
    headings = [heading for heading in page.headings if heading.title != page.title] if is_open else []
    return Entry(
        label=page.title or _first_words(page),
        href=href,
        is_open=is_open,
        below=tuple((heading.title, f"#{heading_id(heading)}") for heading in headings[:_SUBHEADINGS]),
    )


def _first_words(page: Page) -> str:
    """Return the label of a page without a title: its first heading, or its beginning."""
    if page.headings:
        return page.headings[0].title
    line = next((line for line in page.text.splitlines() if line.strip()), "")
    return shorten(collapse(line), _LABEL)
