"""Errors as pages: what happened, and what to do next, in the words of the error itself."""

import logging
import uuid

from aiohttp import web
from aiohttp.typedefs import Handler
from aiohttp_jinja2 import render_template

from core.errors import (
    AccessDenied,
    BadInput,
    FootnoteError,
    InvalidState,
    NotFound,
    StorageError,
    UnsupportedFeature,
)

_log = logging.getLogger(__name__)

# The first class that fits decides; any other FootnoteError is a 500.
_STATUS: tuple[tuple[type[FootnoteError], int], ...] = (
    (NotFound, 404),
    (AccessDenied, 403),
    (InvalidState, 409),
    (BadInput, 400),
    (UnsupportedFeature, 501),
    (StorageError, 503),
)
_TITLES = {
    400: "That can’t be read",
    403: "Not for you to see",
    404: "Not here",
    405: "Not like that",
    409: "Not now",
    410: "No longer open",
    413: "Too long",
    421: "Wrong address",
    503: "Not at the moment",
}
_SENTENCES = {
    404: "There is no such page. The address may be mistyped, or what it named is gone.",
    405: "This address does not take that kind of request.",
    413: "What was sent is longer than this service takes.",
}
_API = "/api/"  # answers errors in its own form


def status_of(error: FootnoteError) -> int:
    """The HTTP status of an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


@web.middleware
async def error_pages(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Show what went wrong as a page; a bug gets a number that is in the log."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400 or request.path.startswith(_API):
            raise
        default = f"{error.status}: {error.reason}"
        sentence = error.text if error.text and error.text != default else _SENTENCES.get(error.status, error.reason)
        page = error_page(request, error.status, sentence)
        if "Allow" in error.headers:
            page.headers["Allow"] = error.headers["Allow"]
        return page
    except FootnoteError as error:
        return error_page(request, status_of(error), str(error))
    except Exception:  # the outermost frame: a bug must not end in a bare line
        number = uuid.uuid4().hex[:8]
        _log.exception("error %s at %s %s", number, request.method, request.rel_url.raw_path)
        return error_page(request, 500, f"Something broke on our side. It is in the log under number {number}.")


def error_page(request: web.Request, status: int, sentence: str, *, advice: str = "", title: str = "") -> web.Response:
    """A page of one sentence; `advice` says how to go on."""
    context = {"title": title or _TITLES.get(status, "That did not work"), "sentence": sentence, "advice": advice}
    return render_template("error.html", request, context, status=status)
