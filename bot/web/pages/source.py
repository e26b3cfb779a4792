"""The source viewer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.errors import error_page
from bot.web.links import ExpiredLink, ForgedLink, SourceLink
from bot.web.pages.source_view import cited_span, source_view
from bot.web.parts import PARTS, WebParts
from bot.web.requests import person_of, visit
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
# Page images never change: each belongs to one revision.
_PICTURE_HEADERS = {"Cache-Control": "private, max-age=86400"}


def page_path(page_id: str) -> str:
    return f"/library/pages/{quote(page_id, safe='')}"


async def show_page(request: web.Request) -> web.Response:
    """Show a page; `?from=` and `?to=` mark a part."""
    parts, scope = await visit(request)
    page = await parts.corpus.get_page(request.match_info["page"], scope)
    document = await parts.corpus.get_document(page.document_id, scope)
    pages = await parts.corpus.list_pages(document.id, scope)
    cited = cited_span(page, _number(request, "from"), _number(request, "to"))
    view = await source_view(document, page, pages, cited, lambda item: page_path(item.id), internal_links=True)
    return render_template("source.html", request, {"view": view, "link": None, "since": None})


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
    base = f"/s/{request.match_info['token']}"
    cited = cited_span(page, link.span.start, link.span.end) if page.number == link.page_number else None
    view = await source_view(document, page, pages, cited, lambda item: f"{base}/{item.number}", internal_links=False)
    return render_template("source.html", request, {"view": view, "link": link, "since": None})


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
    link = parts.links.read(request.match_info["token"])
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
        raise NotFound(f"Can't show {document.path!r}: {reason}.")
    return page_path(pages[0].id)


async def _picture(request: web.Request, document: Document, page: Page, width: int = WIDTH) -> web.Response:
    sources = await request.app[PARTS].corpus.list_sources(document.workspace)
    source = next((item for item in sources if item.id == document.source_id), None)
    if source is None or document.kind != "pdf":
        raise NotFound("Only pages of PDFs have images.")
    picture = await request.app[PARTS].page_images.of_page(source, document, page, width)
    return web.Response(body=picture, content_type="image/webp", headers=_PICTURE_HEADERS)


def _number(request: web.Request, name: str) -> int:
    """Return a place in a page from the query; -1 without a valid one."""
    text = request.query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


ROUTES = (
    web.get("/library/pages/{page}", show_page),
    web.get("/library/pages/{page}/picture", show_picture),
    web.get("/library/documents/{document}", open_document),
    web.get("/library/find", find_document),
    web.get("/s/{token}", show_linked),
    web.get("/s/{token}/{number:\\d{1,7}}", show_linked),
    web.get("/s/{token}/{number:\\d{1,7}}/picture", show_linked_picture),
    web.get("/s/{token}/{number:\\d{1,7}}/thumbnail", show_thumbnail),
)
