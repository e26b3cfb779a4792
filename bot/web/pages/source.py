"""The source viewer: its routes, and the view of a page for its template."""

import asyncio
import html
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.errors import NothingToShow, error_page, status_of
from bot.web.links import ExpiredLink, ForgedLink, SourceLink
from bot.web.page_html import PageHtml, context_of, to_html
from bot.web.page_markup import CITED, heading_id
from bot.web.parts import PARTS, WebParts
from bot.web.requests import person_of, visit
from core.access.positions.reading import lowest
from core.answering.answers.passages import is_beyond, moved
from core.domain.answer import Citation
from core.domain.corpus import Document, Page, SearchScope, Source
from core.domain.footnotes import heading_path_at, page_links
from core.domain.passages import PageBox, Span
from core.errors import FootnoteError, NotFound
from core.features.staleness.changes import Piece, change_of
from core.text.markup import to_words
from core.text.words import collapse, shorten
from core.work.conversations import Conversations


@dataclass(frozen=True, slots=True, kw_only=True)
class SinceAnswer:
    """A passage since its citation; `pieces` are empty if its text is unchanged."""

    page_number: int  # the page to show
    span: Span | None  # part to mark; None if no page has a similar passage
    pieces: tuple[Piece, ...] = ()
    was_on: int  # its page at the time


async def cited_by(link: SourceLink, conversations: Conversations) -> Citation | None:
    """Return the footnote of a link from its thread's history, or None if it was deleted."""
    conversation = await conversations.find(link.thread)
    if conversation is None:
        return None
    _, messages = await conversations.show(conversation.id, link.thread.workspace)
    return next(
        (
            citation
            for message in messages
            for citation in message.citations
            if citation.document_id == link.document_id
            and link.is_of(citation.revision)
            and (citation.page_number, citation.span) == (link.page_number, link.span)
        ),
        None,
    )


def since_answer(citation: Citation, pages: Sequence[Page]) -> SinceAnswer:
    """Find the passage, or the most similar one, in the readable pages (at least one)."""
    now = moved(citation, pages)
    if now is not None:
        return SinceAnswer(page_number=now.page_number, span=now.span, was_on=citation.page_number)
    change = change_of(citation.quote, {page.number: page.text for page in pages}, citation.page_number)
    nearest = min((page.number for page in pages), key=lambda number: abs(number - citation.page_number))
    return SinceAnswer(
        page_number=change.page_number or nearest, span=change.span, pieces=change.pieces, was_on=citation.page_number
    )


RENEW = (
    "To get a new link, send /source and the footnote’s number in the thread of the answer, or use its passages "
    "button. Both show the current passage to everyone who may read it."
)
WIDTH = 1_200  # pixels: sharp on a phone and next to the text on a desktop
THUMBNAIL_WIDTH = 160  # pixels: sharp at a third of that on a source card
PANE = "pane"  # the value of ?part= for the fragment
UNCHANGED, CHANGED = "unchanged", "changed"  # a passage since its answer
# Page images never change: each belongs to one revision.
_PICTURE_HEADERS = {"Cache-Control": "private, max-age=86400"}


def page_path(page_id: str) -> str:
    return f"/library/pages/{quote(page_id, safe='')}"


def marked_path(page_id: str, span: Span) -> str:
    """Return the address of a page with a part marked."""
    return f"{page_path(page_id)}?{urlencode({'from': span.start, 'to': span.end})}#{CITED}"


async def show_page(request: web.Request) -> web.Response:
    """Show a page; `?from=` and `?to=` mark a part."""
    parts, scope = await visit(request)
    page = await parts.corpus.get_page(request.match_info["page"], scope)
    document = await parts.corpus.get_document(page.document_id, scope)
    pages = await parts.corpus.list_pages(document.id, scope)
    cited = cited_span(page, _number(request, "from"), _number(request, "to"))
    boxes = await _boxes_of(parts, document, page, cited)
    view = await source_view(document, page, pages, cited, lambda item: page_path(item.id), boxes, internal_links=True)
    return _shown(request, view)


async def show_picture(request: web.Request) -> web.Response:
    parts, scope = await visit(request)
    page = await parts.corpus.get_page(request.match_info["page"], scope)
    return await _picture(request, await parts.corpus.get_document(page.document_id, scope), page)


async def open_document(request: web.Request) -> web.Response:
    """Redirect to the first page of a document."""
    parts, scope = await visit(request)
    document = await parts.corpus.get_document(request.match_info["document"], scope)
    raise web.HTTPFound(await _first_page(parts, document, scope))


async def find_document(request: web.Request) -> web.Response:
    """Redirect to the document of a name, for wikilinks."""
    parts, scope = await visit(request)
    document = await parts.library.find_document(request.query.get("name", ""), scope)
    raise web.HTTPFound(await _first_page(parts, document, scope))


async def show_linked(request: web.Request) -> web.Response:
    """Show the passage of a signed link, if the readers of its thread may still read it."""
    try:
        link, document, page, scope = await _opened(request)
    except (ForgedLink, ExpiredLink) as error:
        return _refusal(request, 410 if isinstance(error, ExpiredLink) else 403, str(error))
    except ReplacedRevision as error:
        return await _show_replaced(request, error)
    except NotFound:
        gone = "The document was deleted, or the readers of this link's thread may no longer read it."
        return _refusal(request, 404, gone)
    pages = await request.app[PARTS].corpus.list_pages(document.id, scope)
    cited = cited_span(page, link.span.start, link.span.end) if page.number == link.page_number else None
    view = await _linked_view(request, document, page, pages, cited)
    return _shown(request, view, link, state=UNCHANGED if cited else None)


async def _show_replaced(request: web.Request, replaced: "ReplacedRevision") -> web.Response:
    """Show the current document: the passage at its new place, or the changes since the answer.

    The quote is known only from the answer. NotFound if that was deleted too.
    """
    link, document, scope = replaced.link, replaced.document, replaced.scope
    parts = request.app[PARTS]
    citation = await cited_by(link, parts.conversations)
    pages = await parts.corpus.list_pages(document.id, scope)
    if citation is None or not pages or is_beyond(citation, scope):
        return _refusal(request, 410, str(replaced))
    since = since_answer(citation, pages)
    number = int(request.match_info.get("number") or since.page_number)
    page = next((page for page in pages if page.number == number), pages[0])
    is_place = page.number == since.page_number
    span = since.span if is_place else None
    view = await _linked_view(request, document, page, pages, span)
    state = None if not is_place else CHANGED if since.pieces else UNCHANGED
    return _shown(request, view, link, since if is_place else None, state)


async def _linked_view(
    request: web.Request, document: Document, page: Page, pages: Sequence[Page], cited: Span | None
) -> "SourceView":
    base = f"/s/{request.match_info['token']}"
    boxes = await _boxes_of(request.app[PARTS], document, page, cited)
    return await source_view(
        document, page, pages, cited, lambda item: f"{base}/{item.number}", boxes, internal_links=False
    )


async def _boxes_of(parts: WebParts, document: Document, page: Page, cited: Span | None) -> tuple[PageBox, ...] | None:
    """Return the places of the cited part on the page's image; None if the page has no image."""
    if document.kind != "pdf":
        return None
    source = await _source_of(parts, document)
    if source is None:
        return None
    try:
        return await parts.page_images.boxes_of(source, document, page, cited) if cited else ()
    except NotFound:
        return None


async def _source_of(parts: WebParts, document: Document) -> Source | None:
    sources = await parts.corpus.list_sources(document.workspace)
    return next((item for item in sources if item.id == document.source_id), None)


def is_pane(request: web.Request) -> bool:
    """Return whether the side pane of a thread asks for the source, as a fragment."""
    return request.query.get("part") == PANE


def _shown(
    request: web.Request,
    view: "SourceView",
    link: SourceLink | None = None,
    since: SinceAnswer | None = None,
    state: str | None = None,
) -> web.Response:
    """Return the page, or its fragment for the side pane. `state` is the passage's since its answer, if known."""
    address = str(request.rel_url.without_query_params("part"))
    context = {"view": view, "link": link, "since": since, "state": state, "address": address}
    return render_template("pane.html" if is_pane(request) else "source.html", request, context)


def _in_pane(handler: Callable[[web.Request], Awaitable[web.Response]]) -> Callable[..., Awaitable[web.Response]]:
    """Wrap a handler to show its errors in the side pane, if that asks."""

    async def handle(request: web.Request) -> web.Response:
        try:
            return await handler(request)
        except FootnoteError as error:
            if not is_pane(request):
                raise
            return _pane_error(request, status_of(error), str(error))

    return handle


def _pane_error(request: web.Request, status: int, sentence: str, advice: str = "") -> web.Response:
    return render_template("pane_error.html", request, {"sentence": sentence, "advice": advice}, status=status)


def _refusal(request: web.Request, status: int, sentence: str) -> web.Response:
    if is_pane(request):
        return _pane_error(request, status, sentence, RENEW)
    return error_page(request, status, sentence, advice=RENEW, title="This link can’t be opened")


async def show_linked_picture(request: web.Request) -> web.Response:
    """Return the page image of a signed link."""
    _, document, page, _ = await _opened(request)
    return await _picture(request, document, page)


async def show_thumbnail(request: web.Request) -> web.Response:
    """Return the thumbnail for a source card; an empty response without one."""
    try:
        _, document, page, _ = await _opened(request)
        return await _picture(request, document, page, THUMBNAIL_WIDTH)
    except NotFound:
        return web.Response(status=204, headers={"Cache-Control": "no-store"})


class ReplacedRevision(NotFound):
    """The document was read again since the link was made, so the place may have changed."""

    def __init__(self, link: SourceLink, document: Document, scope: SearchScope) -> None:
        super().__init__(f"{document.title!r} has changed since this link was made. Its passage may have moved.")
        self.link = link
        self.document = document
        self.scope = scope


async def _opened(request: web.Request) -> tuple[SourceLink, Document, Page, SearchScope]:
    """Return the link and its readable target. Raises ForgedLink, ExpiredLink, ReplacedRevision, NotFound."""
    parts = request.app[PARTS]
    link = await parts.links.open(request.match_info["token"], parts.conversations)
    scope = await parts.scope(link.thread, person_of(request))
    if link.last_page is not None:
        scope = replace(scope, positions=lowest(scope.positions, {link.document_id: link.last_page}))
    document = await parts.corpus.get_document(link.document_id, scope)
    if not link.is_of(document.revision):
        raise ReplacedRevision(link, document, scope)
    number = int(request.match_info.get("number") or link.page_number)
    page = await parts.corpus.find_page(document.id, number, scope)
    if page is None:
        raise NotFound(f"{document.title!r} has no page {number} that you may read here.")
    return link, document, page, scope


async def _first_page(parts: WebParts, document: Document, scope: SearchScope) -> str:
    pages = await parts.corpus.list_pages(document.id, scope)
    if not pages:
        reason = document.failed_reason or "it has no page that you may read here"
        raise NothingToShow(f"Can't show {document.path!r}: {reason}.")
    return page_path(pages[0].id)


async def _picture(request: web.Request, document: Document, page: Page, width: int = WIDTH) -> web.Response:
    source = await _source_of(request.app[PARTS], document)
    if source is None or document.kind != "pdf":
        raise NotFound("Only pages of PDFs have images.")
    picture = await request.app[PARTS].page_images.of_page(source, document, page, width)
    return web.Response(body=picture, content_type="image/webp", headers=_PICTURE_HEADERS)


def _number(request: web.Request, name: str) -> int:
    """Return a place in a page from the query; -1 without a valid one."""
    text = request.query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


# Entries of the table of contents around the open page; longer ones belong to the book itself.
CONTENTS = 120
_GLIMPSE = 240  # characters of the pages before and after
_SUBHEADINGS = 40  # of the open page
_QUOTE = 300  # characters of the quote above the page
_MARK = re.compile(rf'<mark class="{CITED}"[^>]*>(.*?)</mark>', re.DOTALL)
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


ROUTES = (
    web.get("/library/pages/{page}", _in_pane(show_page)),
    web.get("/library/pages/{page}/picture", show_picture),
    web.get("/library/documents/{document}", open_document),
    web.get("/library/find", find_document),
    web.get("/s/{token}", _in_pane(show_linked)),
    web.get("/s/{token}/{number:\\d{1,7}}", _in_pane(show_linked)),
    web.get("/s/{token}/{number:\\d{1,7}}/picture", show_linked_picture),
    web.get("/s/{token}/{number:\\d{1,7}}/thumbnail", show_thumbnail),
)
