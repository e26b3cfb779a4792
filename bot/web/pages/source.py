"""The source viewer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.errors import error_page
from bot.web.links import ExpiredLink, ForgedLink, Links, SourceLink
from bot.web.pages.source_view import cited_span, source_view
from bot.web.parts import PARTS, WebParts
from bot.web.requests import person_of
from core.access.positions.reading import lowest
from core.answering.answers.passages import is_beyond
from core.answering.answers.quote_location import moved
from core.domain.answer import Citation
from core.domain.corpus import Document, Page, SearchScope, Span
from core.errors import NotFound
from core.features.staleness.changes import Piece, change_of
from core.work.conversations import Conversations


@dataclass(frozen=True, slots=True, kw_only=True)
class SinceAnswer:
    """`pieces` are empty where the passage only moved, or stands where it did."""

    page_number: int  # the page to show
    span: Span | None  # what to mark there; None where nothing on the pages is like the passage
    pieces: tuple[Piece, ...] = ()
    was_on: int  # the page that it stood on


async def cited_by(link: SourceLink, conversations: Conversations) -> Citation | None:
    """The footnote that a link was made for, from its thread's history; None where that does not have it any more."""
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
    """Where the passage is now among the pages that may be read, or what it has become; there is at least one page."""
    now = moved(citation, pages)
    if now is not None:
        return SinceAnswer(page_number=now.page_number, span=now.span, was_on=citation.page_number)
    change = change_of(citation.quote, {page.number: page.text for page in pages}, citation.page_number)
    nearest = min((page.number for page in pages), key=lambda number: abs(number - citation.page_number))
    return SinceAnswer(
        page_number=change.page_number or nearest,
        span=change.span,
        pieces=change.pieces,
        was_on=citation.page_number,
    )


LINKS = web.AppKey("links", Links)

RENEW = (
    "To get a new link, write /source and the footnote’s number in the thread of the answer, or press its passages "
    "button: both show the passage as it is now, to everybody who may read it."
)
WIDTH = 1_200  # pixels: sharp on a phone and next to the text on a desktop
THUMBNAIL_WIDTH = 160  # pixels: sharp at a third of that on a source card
# A picture never changes: it belongs to one revision of a page.
_PICTURE_HEADERS = {"Cache-Control": "private, max-age=86400"}


def add_source_pages(app: web.Application) -> None:
    """Routes of the viewer."""
    parts = app[PARTS]
    app[LINKS] = Links(
        secret_key=parts.secret_key, clock=parts.clock, days=parts.link_days, public_url=parts.public_url
    )
    app.router.add_get("/library/pages/{page}", show_page)
    app.router.add_get("/library/pages/{page}/picture", show_picture)
    app.router.add_get("/library/documents/{document}", open_document)
    app.router.add_get("/library/find", find_document)
    app.router.add_get("/s/{token}", show_linked)
    app.router.add_get("/s/{token}/{number:\\d{1,7}}", show_linked)
    app.router.add_get("/s/{token}/{number:\\d{1,7}}/picture", show_linked_picture)
    app.router.add_get("/s/{token}/{number:\\d{1,7}}/thumbnail", show_thumbnail)


def page_path(page_id: str) -> str:
    """Where a page of the library is shown, on this host."""
    return f"/library/pages/{quote(page_id, safe='')}"


async def show_page(request: web.Request) -> web.Response:
    """A page; `?from=` and `?to=` mark a part of it."""
    parts = request.app[PARTS]
    scope = await parts.scope(None, person_of(request))
    page = await parts.corpus.get_page(request.match_info["page"], scope)
    document = await parts.corpus.get_document(page.document_id, scope)
    pages = await parts.corpus.list_pages(document.id, scope)
    cited = cited_span(page, _number(request, "from"), _number(request, "to"))
    view = await source_view(document, page, pages, cited, lambda item: page_path(item.id), internal_links=True)
    return render_template("source.html", request, {"view": view, "link": None, "since": None})


async def show_picture(request: web.Request) -> web.Response:
    """A PDF page as it is printed."""
    parts = request.app[PARTS]
    scope = await parts.scope(None, person_of(request))
    page = await parts.corpus.get_page(request.match_info["page"], scope)
    return await _picture(request, await parts.corpus.get_document(page.document_id, scope), page)


async def open_document(request: web.Request) -> web.Response:
    """To the document's first page."""
    parts = request.app[PARTS]
    scope = await parts.scope(None, person_of(request))
    document = await parts.corpus.get_document(request.match_info["document"], scope)
    raise web.HTTPFound(await _first_page(parts, document, scope))


async def find_document(request: web.Request) -> web.Response:
    """To the document that a name means: where wikilinks lead."""
    parts = request.app[PARTS]
    scope = await parts.scope(None, person_of(request))
    document = await parts.library.find_document(request.query.get("name", ""), scope)
    raise web.HTTPFound(await _first_page(parts, document, scope))


async def show_linked(request: web.Request) -> web.Response:
    """What a signed link names, as far as the readers of its thread may still see it."""
    try:
        link, document, page, scope = await _opened(request)
    except (ForgedLink, ExpiredLink) as error:
        return _refusal(request, 410 if isinstance(error, ExpiredLink) else 403, str(error))
    except ReplacedRevision as error:
        return await _show_replaced(request, error)
    except NotFound:
        gone = "The document is gone, or the readers of the thread that this link belongs to may not see it any more."
        return _refusal(request, 404, gone)
    pages = await request.app[PARTS].corpus.list_pages(document.id, scope)
    base = f"/s/{request.match_info['token']}"
    cited = cited_span(page, link.span.start, link.span.end) if page.number == link.page_number else None
    view = await source_view(document, page, pages, cited, lambda item: f"{base}/{item.number}", internal_links=False)
    return render_template("source.html", request, {"view": view, "link": link, "since": None})


async def _show_replaced(request: web.Request, replaced: "ReplacedRevision") -> web.Response:
    """The document as it is now: the passage where it moved to, or what it has become since the answer.

    What was cited is known from the answer alone; where that is gone too, so is all that could be said.
    """
    link, document, scope = replaced.link, replaced.document, replaced.scope
    parts = request.app[PARTS]
    citation = await cited_by(link, parts.conversations)
    pages = await parts.corpus.list_pages(document.id, scope)
    if citation is None or not pages or is_beyond(citation, scope):
        return _refusal(request, 410, str(replaced))
    base = f"/s/{request.match_info['token']}"
    since = since_answer(citation, pages)
    number = int(request.match_info.get("number") or since.page_number)
    page = next((page for page in pages if page.number == number), pages[0])
    is_place = page.number == since.page_number
    view = await source_view(
        document,
        page,
        pages,
        since.span if is_place else None,
        lambda item: f"{base}/{item.number}",
        internal_links=False,
    )
    return render_template("source.html", request, {"view": view, "link": link, "since": since if is_place else None})


def _refusal(request: web.Request, status: int, sentence: str) -> web.Response:
    return error_page(request, status, sentence, advice=RENEW, title="This link does not open")


async def show_linked_picture(request: web.Request) -> web.Response:
    """The picture beside it."""
    _, document, page, _ = await _opened(request)
    return await _picture(request, document, page)


async def show_thumbnail(request: web.Request) -> web.Response:
    """The same, small, for a source card. Nothing at all where there is none to show: a card does without."""
    try:
        _, document, page, _ = await _opened(request)
        return await _picture(request, document, page, THUMBNAIL_WIDTH)
    except NotFound:
        return web.Response(status=204, headers={"Cache-Control": "no-store"})


class ReplacedRevision(NotFound):
    """The document was read anew since the link was made: the place may be another."""

    def __init__(self, link: SourceLink, document: Document, scope: SearchScope) -> None:
        super().__init__(f"{document.title!r} has changed since this link was made: its passage may have moved.")
        self.link = link
        self.document = document
        self.scope = scope


async def _opened(request: web.Request) -> tuple[SourceLink, Document, Page, SearchScope]:
    """The link and what it may show now. Raises ForgedLink, ExpiredLink, ReplacedRevision, NotFound."""
    parts = request.app[PARTS]
    link = request.app[LINKS].read(request.match_info["token"])
    scope = await parts.scope(link.thread, person_of(request))
    if link.last_page is not None:
        scope = replace(scope, positions=lowest(scope.positions, {link.document_id: link.last_page}))
    document = await parts.corpus.get_document(link.document_id, scope)
    if not link.is_of(document.revision):
        raise ReplacedRevision(link, document, scope)
    number = int(request.match_info.get("number") or link.page_number)
    page = await parts.corpus.find_page(document.id, number, scope)
    if page is None:
        raise NotFound(f"{document.title!r} has no page {number} that may be read here.")
    return link, document, page, scope


async def _first_page(parts: WebParts, document: Document, scope: SearchScope) -> str:
    pages = await parts.corpus.list_pages(document.id, scope)
    if not pages:
        reason = document.failed_reason or "it has no page that may be read here"
        raise NotFound(f"{document.path!r} can't be shown: {reason}.")
    return page_path(pages[0].id)


async def _picture(request: web.Request, document: Document, page: Page, width: int = WIDTH) -> web.Response:
    sources = await request.app[PARTS].corpus.list_sources(document.workspace)
    source = next((item for item in sources if item.id == document.source_id), None)
    if source is None or document.kind != "pdf":
        raise NotFound("Only pages of PDFs have pictures.")
    picture = await request.app[PARTS].page_images.of_page(source, document, page, width)
    return web.Response(body=picture, content_type="image/webp", headers=_PICTURE_HEADERS)


def _number(request: web.Request, name: str) -> int:
    """A place in a page from the address; -1 for none or nonsense."""
    text = request.query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
