"""Errors as JSON: `{"error": {"code", "message"}}`, the message in one sentence."""

import logging
import uuid
from collections.abc import Mapping

from aiohttp import web
from aiohttp.typedefs import Handler

from core.errors import (
    AccessDenied,
    Ambiguous,
    BadInput,
    FootnoteError,
    InvalidState,
    ModelMissing,
    NotFound,
    ProviderError,
    StorageError,
    UnsupportedFeature,
)
from core.text.words import collapse

_log = logging.getLogger(__name__)

API_PATH = "/api/"
# The first matching class decides; any other FootnoteError is a 500.
_KINDS: tuple[tuple[type[FootnoteError], int, str], ...] = (
    (NotFound, 404, "not_found"),
    (InvalidState, 409, "invalid_state"),
    (Ambiguous, 422, "ambiguous"),
    (BadInput, 422, "bad_input"),
    (UnsupportedFeature, 422, "unsupported"),
    (AccessDenied, 403, "access_denied"),
    (ProviderError, 502, "provider"),
    (ModelMissing, 503, "model_missing"),
    (StorageError, 503, "storage"),
)
_HTTP_CODES = {
    403: "access_denied",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "compressed",
    421: "unknown_host",
}


class Problem(Exception):
    """An error of the API itself; `message` is one sentence for people."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})

    def to_response(self) -> web.Response:
        error = {"code": self.code, "message": self.message}
        return web.json_response({"error": error}, status=self.status, headers=self.headers)


@web.middleware
async def problems(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer every error below API_PATH as JSON. Outermost, so that it sees the errors of other middlewares."""
    if not request.path.startswith(API_PATH):
        return await handler(request)
    try:
        return await handler(request)
    except Problem as problem:
        return problem.to_response()
    except FootnoteError as error:
        return to_problem(error).to_response()
    except web.HTTPException as error:
        if error.status < 400:
            raise
        return _of_http(error).to_response()
    except Exception:  # the outermost frame: bugs get a JSON error too
        number = uuid.uuid4().hex[:8]
        _log.exception("error %s at %s %s", number, request.method, request.rel_url.raw_path)
        sentence = f"Something went wrong in Footnote. The service's log has the details under number {number}."
        return Problem(500, "internal", sentence).to_response()


def to_problem(error: FootnoteError) -> Problem:
    """Return an error with its status and code."""
    status, code = next(((status, code) for kind, status, code in _KINDS if isinstance(error, kind)), (500, "internal"))
    return Problem(status, code, _sentence(str(error)))


def _sentence(text: str) -> str:
    """Return the text on one line with a full stop; some of core's sentences have none."""
    line = collapse(text)
    return line if line.endswith((".", "!", "?")) else f"{line}."


def _of_http(error: web.HTTPException) -> Problem:
    code = _HTTP_CODES.get(error.status, "http")
    if error.status == 404:
        return Problem(404, code, "Unknown address. /api/openapi.json lists all addresses.")
    if error.status == 405:
        allowed = error.headers["Allow"]
        return Problem(405, code, f"This address only supports {allowed}.", {"Allow": allowed})
    return Problem(error.status, code, _sentence(error.text or error.reason))
