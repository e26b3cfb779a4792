"""Error pages: the error's own sentence, and the next step."""

import logging
import uuid
from http import HTTPStatus

from aiohttp import web
from aiohttp.typedefs import Handler
from aiohttp_jinja2 import render_template

from core.errors import (
    AccessDenied,
    BadInput,
    FootnoteError,
    InvalidState,
    NotFound,
    SignInUnavailable,
    StorageError,
    UnsupportedFeature,
)

_log = logging.getLogger(__name__)

# The first matching class decides; any other FootnoteError is a 500.
_STATUS: tuple[tuple[type[FootnoteError], int], ...] = (
    (NotFound, 404),
    (AccessDenied, 403),
    (InvalidState, 409),
    (BadInput, 400),
    (UnsupportedFeature, 501),
    (StorageError, 503),
    (SignInUnavailable, 503),
)
_TITLES = {
    400: "Invalid request",
    403: "Access denied",
    404: "This page is gone",
    405: "Method not allowed",
    409: "Not possible now",
    410: "Link expired",
    413: "Too large",
    415: "Compressed request",
    421: "Wrong address",
    503: "Temporarily unavailable",
}
_SENTENCES = {
    405: "This address doesn't support that kind of request.",
    413: "The request is larger than this service accepts.",
}
# The same words for an unknown page, a removed one, and one outside the scope of the reader.
# Only the address decides how a missing thing is named.
GONE = "The link may be old, or it was removed."
_GONE_THINGS = (
    ("/c/", "thread", "It was deleted, or the address is mistyped."),
    ("/read/", "thread", "It was deleted, or the address is mistyped."),
    ("/library/documents/", "document", "It was removed from the library, or the link is old."),
    ("/library/find", "document", "No document that you can read has this name."),
    ("/library/pages/", "passage", "Its document was removed, or was read again since this link was made."),
    ("/jobs/", "activity", "Old activity is deleted, or the link is mistyped."),
)
_API = "/api/"  # has its own form of errors
_IMAGES = ("/picture", "/thumbnail")  # of pages that the reader may see


class NothingToShow(NotFound):
    """A thing that the reader may see and that has no page: the sentence says why."""


def status_of(error: FootnoteError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


@web.middleware
async def error_pages(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Show errors as pages; a bug gets a number that is in the log."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400 or request.path.startswith(_API):
            raise
        if error.status == HTTPStatus.NOT_FOUND:
            return _gone_page(request)
        default = f"{error.status}: {error.reason}"
        sentence = error.text if error.text and error.text != default else _SENTENCES.get(error.status, error.reason)
        page = error_page(request, error.status, sentence)
        if "Allow" in error.headers:
            page.headers["Allow"] = error.headers["Allow"]
        return page
    except NothingToShow as error:
        return error_page(request, HTTPStatus.NOT_FOUND, str(error), title="Nothing to show")
    except FootnoteError as error:
        if isinstance(error, NotFound) and not request.path.endswith(_IMAGES):
            return _gone_page(request)
        return error_page(request, status_of(error), str(error))
    except Exception:  # the outermost frame: bugs get an error page too
        number = uuid.uuid4().hex[:8]
        _log.exception("error %s at %s %s", number, request.method, request.rel_url.raw_path)
        sentence = f"Something went wrong in Footnote. The log has the details under number {number}."
        return error_page(request, 500, sentence)


def _gone_page(request: web.Request) -> web.Response:
    """Name the missing thing."""
    for start, thing, why in _GONE_THINGS:
        if request.path.startswith(start):
            return error_page(request, HTTPStatus.NOT_FOUND, why, title=f"This {thing} is gone")
    return error_page(request, HTTPStatus.NOT_FOUND, GONE)


def error_page(request: web.Request, status: int, sentence: str, *, advice: str = "", title: str = "") -> web.Response:
    """Return a page with one sentence, the next step as `advice`, and the ways on."""
    context = {"title": title or _TITLES.get(status, "Something went wrong"), "sentence": sentence, "advice": advice}
    return render_template("error.html", request, context, status=status)
