"""The view of a page for the source viewer's template."""

import asyncio
import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.web.page_html import PageHtml, to_html
from bot.web.page_markup import CITED, heading_id
from core.domain.corpus import Document, Page, Span, page_links
from core.text.markup import to_words
from core.text.words import collapse, shorten

# Entries of the table of contents around the open page; longer ones belong to the book itself.
CONTENTS = 120
_GLIMPSE = 240  # characters of the pages before and after
_SUBHEADINGS = 40  # of the open page
_QUOTE = 300  # characters of the quote above the page
_MARK = re.compile(rf'<mark class="{CITED}"[^>]*>(.*?)</mark>', re.DOTALL)
_LABEL = 70  # characters of an entry
_HEX = 10  # characters of a revision to show


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
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
    previous: str | None
    next: str | None
    before: str  # end of the previous page
    after: str  # start of the next page
    picture: str | None
    url: str | None
    deep_link: str | None
    revision: str
    cited_anchor: str = CITED


async def source_view(
    document: Document,
    page: Page,
    pages: Sequence[Page],
    cited: Span | None,
    address: Callable[[Page], str],
    *,
    internal_links: bool,
) -> SourceView:
    """Build the view of `page` among the readable `pages` of its document; `address` returns the path of each."""
    body = await asyncio.to_thread(to_html, page, document.kind, cited, internal_links=internal_links)
    here = next((place for place, other in enumerate(pages) if other.id == page.id), 0)
    url, deep_link = page_links(document, page)
    return SourceView(
        document=document,
        page=page,
        html=body,
        quote=shorten(marked_words(body.body), _QUOTE),
        path=(*page.heading_path, *([page.title] if page.title else [])),
        contents=_contents(pages, here, address),
        previous=address(pages[here - 1]) if here > 0 else None,
        next=address(pages[here + 1]) if here + 1 < len(pages) else None,
        before=_end_of(pages[here - 1], document) if here > 0 else "",
        after=_beginning_of(pages[here + 1], document) if here + 1 < len(pages) else "",
        picture=f"{address(page)}/picture" if document.kind == "pdf" else None,
        url=url if url and url.startswith(("http://", "https://")) else None,
        deep_link=deep_link,
        revision=page.revision[:_HEX],
    )


def marked_words(body: str) -> str:
    """Return the marked text without its markup."""
    return collapse(html.unescape(" ".join(_MARK.findall(body))))


def cited_span(page: Page, start: int, end: int) -> Span | None:
    """Return the part of a page from `start` to `end`, or None if it doesn't exist."""
    return Span(start, end) if 0 <= start < end <= len(page.text) else None


def _beginning_of(page: Page, document: Document) -> str:
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
