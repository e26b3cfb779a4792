"""Which error is which status."""

import json

import pytest

from bot.web.api.problems import to_problem
from core.errors import (
    AccessDenied,
    Ambiguous,
    BadInput,
    ConfigError,
    FootnoteError,
    InvalidState,
    ModelMissing,
    NotFound,
    ProviderOverloaded,
    StorageError,
    UnsupportedFeature,
)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (NotFound("gone"), 404, "not_found"),
        (InvalidState("ended"), 409, "invalid_state"),
        (Ambiguous("which?", candidates=("a", "b")), 422, "ambiguous"),
        (BadInput("odd"), 422, "bad_input"),
        (UnsupportedFeature("no"), 422, "unsupported"),
        (AccessDenied("no"), 403, "access_denied"),
        (ProviderOverloaded("busy"), 502, "provider"),
        (ModelMissing("where"), 503, "model_missing"),
        (StorageError("full"), 503, "storage"),
        (ConfigError("odd"), 500, "internal"),
        (FootnoteError("odd"), 500, "internal"),
    ],
)
def test_each_kind_of_error_has_its_status_and_code(error: FootnoteError, status: int, code: str) -> None:
    problem = to_problem(error)

    assert (problem.status, problem.code) == (status, code)


def test_a_message_is_one_sentence_on_one_line() -> None:
    response = to_problem(NotFound("There is\n  no 'x': `footnote documents` lists them")).to_response()

    assert json.loads(response.body) == {
        "error": {"code": "not_found", "message": "There is no 'x': `footnote documents` lists them."}
    }
