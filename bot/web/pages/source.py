"""The routes of the source viewer."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.errors import NothingToShow, error_page, status_of
from bot.web.links import ExpiredLink, ForgedLink, SourceLink
from bot.web.page_markup import CITED
from bot.web.pages.library import CONNECTIONS
from bot.web.pages.source_view import SourceView, cited_span, excerpt_view, source_view
from bot.web.parts import PARTS, WebParts
from bot.web.requests import person_of, visit
from bot.web.security import can_browse, is_owner
from bot.web.threads import Reader
from core.access.positions.reading import lowest
from core.answering.answers.passages import is_beyond, moved
from core.domain.answer import Citation
from core.domain.corpus import Document, Page, SearchScope, Source
from core.domain.features import CitingThread
from core.domain.passages import PageBox, Span
from core.errors import AccessDenied, FootnoteError, NotFound
from core.features.staleness.changes import Piece, change_of
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


ONLY_PASSAGE = "A link shows only its passage. Open Footnote to read the whole document."
RENEW = (
    "To get a new link, send /source and the footnote’s number in the thread of the answer, or use its passages "
    "button. Both show the current passage to everyone who may read it."
)
WIDTH = 1_200  # pixels: sharp on a phone and next to the text on a desktop
THUMBNAIL_WIDTH = 160  # pixels: sharp at a third of that on a source card
PANE, BOXES = "pane", "boxes"  # the values of ?part= for fragments: the side pane's, the boxes of a scanned page
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
    boxes = await _boxes_of(request, document, page, cited)
    view = await source_view(document, page, pages, cited, lambda item: page_path(item.id), boxes, internal_links=True)
    return await _shown(request, view)


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
    """Show the passage of a signed link, if the readers of its thread may still read it.

    The rest of the document is only for browsers that may read it without the link.
    """
    try:
        link, document, page, scope = await _opened(request)
    except (ForgedLink, ExpiredLink) as error:
        if isinstance(error, ExpiredLink):
            return _refusal(request, 410, str(error), "This link has expired")
        return _refusal(request, 403, str(error))
    except ReplacedRevision as error:
        return await _show_replaced(request, error)
    except NotFound:
        gone = "The document was deleted, or the readers of this link's thread may no longer read it."
        return _refusal(request, 404, gone, "This passage is gone")
    cited = cited_span(page, link.span.start, link.span.end) if page.number == link.page_number else None
    if not await _may_read_all(request, document):
        return await _excerpt(request, link, document, page, cited)
    pages = await request.app[PARTS].corpus.list_pages(document.id, scope)
    view = await _linked_view(request, document, page, pages, cited)
    return await _shown(request, view, link, state=UNCHANGED if cited else None)


async def _may_read_all(request: web.Request, document: Document) -> bool:
    """Return whether this browser may read a document without a link to a passage of it."""
    if is_owner(request) or not can_browse(request):
        return is_owner(request)
    parts, scope = await visit(request)
    try:
        await parts.corpus.get_document(document.id, scope)
    except NotFound:
        return False
    return True


async def _excerpt(
    request: web.Request,
    link: SourceLink,
    document: Document,
    page: Page,
    cited: Span | None,
    since: SinceAnswer | None = None,
) -> web.Response:
    """Show a passage with its neighbours, and its changes since the answer."""
    if cited is None and since is None:
        return _refusal(request, 403, ONLY_PASSAGE, "Sign in to read on")
    state = CHANGED if since and since.pieces else UNCHANGED
    return await _shown(request, await excerpt_view(document, page, cited), link, since, state)


async def _show_replaced(request: web.Request, replaced: "ReplacedRevision") -> web.Response:
    """Show the current document: the passage at its new place, or the changes since the answer.

    The quote is known only from the answer. NotFound if that was deleted too.
    """
    link, document, scope = replaced.link, replaced.document, replaced.scope
    parts = request.app[PARTS]
    citation = await cited_by(link, parts.conversations)
    pages = await parts.corpus.list_pages(document.id, scope)
    if citation is None or not pages or is_beyond(citation, scope):
        return _refusal(request, 410, str(replaced), "This passage has changed")
    since = since_answer(citation, pages)
    number = int(request.match_info.get("number") or since.page_number)
    page = next((page for page in pages if page.number == number), pages[0])
    is_place = page.number == since.page_number
    span = since.span if is_place else None
    if not await _may_read_all(request, document):
        return await _excerpt(request, link, document, page, span, since if is_place else None)
    view = await _linked_view(request, document, page, pages, span)
    state = None if not is_place else CHANGED if since.pieces else UNCHANGED
    return await _shown(request, view, link, since if is_place else None, state)


async def _linked_view(
    request: web.Request, document: Document, page: Page, pages: Sequence[Page], cited: Span | None
) -> SourceView:
    base = f"/s/{request.match_info['token']}"
    boxes = await _boxes_of(request, document, page, cited)
    return await source_view(
        document, page, pages, cited, lambda item: f"{base}/{item.number}", boxes, internal_links=False
    )


async def _boxes_of(
    request: web.Request, document: Document, page: Page, cited: Span | None
) -> tuple[PageBox, ...] | None:
    """Return the places of the cited part on the page's image; None if the page has no image."""
    parts = request.app[PARTS]
    if document.kind != "pdf":
        return None
    source = await _source_of(parts, document)
    if source is None:
        return None
    find = parts.page_images.boxes_on_scan if _part(request) == BOXES else parts.page_images.boxes_of
    try:
        return await find(source, document, page, cited) if cited else ()
    except NotFound:
        return None


async def _source_of(parts: WebParts, document: Document) -> Source | None:
    sources = await parts.corpus.list_sources(document.workspace)
    return next((item for item in sources if item.id == document.source_id), None)


def is_pane(request: web.Request) -> bool:
    """Return whether the side pane of a thread asks for the source, as a fragment."""
    return _part(request) == PANE


def _part(request: web.Request) -> str:
    return request.query.get("part", "")


async def _shown(
    request: web.Request,
    view: SourceView,
    link: SourceLink | None = None,
    since: SinceAnswer | None = None,
    state: str | None = None,
) -> web.Response:
    """Return the page, or its fragment for the side pane. `state` is the passage's since its answer, if known."""
    if _part(request) == BOXES:
        return render_template("boxes.html", request, {"view": view})
    address = request.rel_url.without_query_params("part")
    # where the boxes of a scanned page are fetched later, as finding them takes seconds
    later = str(address.update_query(part=BOXES)) if request.app[PARTS].page_images.has_ocr else ""
    used_in = await _used_in(request, view.document, link)
    context = {"view": view, "link": link, "since": since, "state": state, "used_in": used_in}
    context |= {"address": str(address), "later": later}
    return render_template("pane.html" if is_pane(request) else "source.html", request, context)


async def _used_in(request: web.Request, document: Document, link: SourceLink | None) -> list[CitingThread]:
    """Return the other threads that this browser may open, and whose answers cite the document."""
    if CONNECTIONS not in request.app or not can_browse(request):
        return []
    _, scope = await visit(request)
    found, reader = await request.app[CONNECTIONS].cited_in(document, scope), Reader.of(request)
    theirs = [item for item in found if reader.may_see(item.conversation.owner)]
    return [item for item in theirs if link is None or item.conversation.address != link.thread]


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


def _refusal(
    request: web.Request, status: int, sentence: str, title: str = "This link can’t be opened"
) -> web.Response:
    if is_pane(request):
        return _pane_error(request, status, sentence, RENEW)
    return error_page(request, status, sentence, advice=RENEW, title=title)


async def show_linked_picture(request: web.Request) -> web.Response:
    """Return the page image of a signed link."""
    _, document, page, _ = await _opened(request)
    if not await _may_read_all(request, document):
        raise AccessDenied(ONLY_PASSAGE)
    return await _picture(request, document, page)


async def show_thumbnail(request: web.Request) -> web.Response:
    """Return the thumbnail for a source card; an empty response without one."""
    try:
        _, document, page, _ = await _opened(request)
        if not await _may_read_all(request, document):
            raise NotFound(ONLY_PASSAGE)
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
