"""Every error of the SDKs has a rule; what is worth another attempt is a table."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import get_args

import anthropic
import httpx2
import openai
import pytest
from anthropic._error_classes import make_status_error
from anthropic.types import StopReason as VendorStopReason
from anthropic.types.shared.error_type import ErrorType

from core.answering.providers.retry import RetryHint, hint_of, wait_before_retry
from core.domain.replies import StopReason
from core.errors import (
    ContextOverflow,
    ProviderAuthError,
    ProviderBadRequest,
    ProviderConnectionError,
    ProviderError,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderTimeout,
)
from storage.models.anthropic.messages import STOP_REASONS
from storage.models.vendor import RULES, RULES_BY_CODE, Server, to_provider_error

REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1/messages")
SERVER = Server(name="the model server 127.0.0.1", key_advice="Set MILL_KEY.")
# What only a program that misuses an SDK can raise, or parts of it that are never called here.
NOT_REACHABLE = {
    "AnthropicError", "OpenAIError", "APIError", "StreamAlreadyConsumed", "MissingDependencyError",
    "LengthFinishReasonError", "ContentFilterFinishReasonError", "SubjectTokenProviderError",
    "_AmbiguousModuleClientUsageError", "WebSocketConnectionClosedError", "WebSocketQueueFullError",
}  # fmt: skip


def descendants(cls: type[Exception]) -> Iterator[type[Exception]]:
    yield cls
    for child in cls.__subclasses__():
        yield from descendants(child)


def response(status: int, headers: dict[str, str] | None = None) -> httpx2.Response:
    return httpx2.Response(status, headers=headers, request=REQUEST)


def status_error(status: int, message: str = "as asked", kind: str | None = None, **headers: str) -> Exception:
    body = {"error": {"message": message, "type": kind}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return make_status_error(message, body=body, response=response(status, named))


@pytest.mark.parametrize(
    ("base", "of_status", "fewest"),
    [(anthropic.AnthropicError, anthropic.APIStatusError, 30), (openai.OpenAIError, openai.APIStatusError, 12)],
)
def test_every_error_of_the_sdks_has_a_rule(base: type[Exception], of_status: type[Exception], fewest: int) -> None:
    for module in pkgutil.iter_modules(anthropic.types.__path__, "anthropic.types."):
        importlib.import_module(module.name)
    ours = [c for c in descendants(base) if ".lib" not in c.__module__]
    assert len(ours) > fewest
    without = {
        cls.__name__
        for cls in ours
        if not issubclass(cls, of_status) and not any(c.__name__ in RULES for c in cls.__mro__)
    }
    assert without <= NOT_REACHABLE


@pytest.mark.parametrize("status", [*range(400, 432), 451, 499, *range(500, 512), 529])
def test_every_status_has_a_rule(status: int) -> None:
    body = {"message": "odd"}
    response = httpx2.Response(status, json=body, request=REQUEST)
    of_openai = openai.APIStatusError("odd", response=response, body=body)
    for error in (of_openai, status_error(status, "odd")):
        assert type(to_provider_error(error, SERVER)) is not ProviderError


def test_every_transport_error_has_a_rule() -> None:
    found = [value for value in vars(httpx2).values() if isinstance(value, type) and issubclass(value, Exception)]
    without = {cls.__name__ for cls in found if not any(c.__name__ in RULES for c in cls.__mro__)}
    assert without <= {"CookieConflict"}


def test_every_error_type_and_every_stop_reason_of_the_sdk_is_in_its_table() -> None:
    assert set(get_args(ErrorType)) <= set(RULES_BY_CODE)
    assert set(get_args(VendorStopReason)) == set(STOP_REASONS)
    errors = [stop for stop in STOP_REASONS.values() if not isinstance(stop, StopReason)]
    assert all(issubclass(error, ProviderError) for error in errors)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (httpx2.RemoteProtocolError("cut"), ProviderConnectionError),
        (httpx2.ReadError("reset"), ProviderConnectionError),
        (httpx2.ReadTimeout("stall"), ProviderTimeout),
        (httpx2.InvalidURL("no"), ProviderConnectionError),
        (anthropic.APITimeoutError(REQUEST), ProviderTimeout),
        (anthropic.APIConnectionError(request=REQUEST), ProviderConnectionError),
        (anthropic.CredentialsError("no file"), ProviderAuthError),
        (anthropic.APIResponseValidationError(response(200), None), ProviderConnectionError),
        (anthropic.AnthropicError("?"), ProviderError),
        (ValueError("Expecting value"), ProviderConnectionError),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), ProviderBadRequest),
        (status_error(400, "prompt is too long: 9 tokens > 8 maximum"), ContextOverflow),
        (status_error(400, "input length and `max_tokens` exceed context limit: 9 > 8"), ContextOverflow),
        (status_error(200, kind="overloaded_error"), ProviderOverloaded),
        (status_error(200, kind="rate_limit_error"), ProviderRateLimited),
        (status_error(200, kind="invalid_request_error", message="prompt is too long"), ContextOverflow),
        (status_error(200, kind="a_new_error"), ProviderError),
        (status_error(503), ProviderOverloaded),
    ],
)
def test_a_foreign_error_becomes_ours(error: Exception, expected: type[ProviderError]) -> None:
    found = to_provider_error(error, SERVER)
    assert type(found) is expected
    assert str(found).rstrip()[-1] in ".!?…"


def refusal(status: int, body: object) -> openai.APIStatusError:
    response = httpx2.Response(status, json=body, request=REQUEST)
    return openai.APIStatusError("Error code", response=response, body=body)


@pytest.mark.parametrize(
    ("error", "expected", "said"),
    [
        (httpx2.ReadTimeout("stall"), ProviderTimeout, "stall"),
        (httpx2.ReadError("reset"), ProviderConnectionError, "reset"),
        (openai.APITimeoutError(REQUEST), ProviderTimeout, "timed out"),
        (openai.OpenAIError("?"), ProviderError, "?"),
        (ValueError("Expecting value"), ProviderConnectionError, "Expecting value"),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no"), ProviderBadRequest, "characters that can't be sent"),
        (refusal(400, {"message": "This model's maximum context length is 9"}), ContextOverflow, "length is 9"),
        (refusal(400, [{"error": {"code": 400, "message": "API key not valid."}}]), ProviderAuthError, "MILL_KEY"),
        (refusal(404, {"error": "model 'x' not found"}), ProviderBadRequest, "model 'x' not found"),
        (refusal(422, {"detail": [{"msg": "odd"}]}), ProviderBadRequest, "form"),
        (refusal(418, {}), ProviderBadRequest, "form"),
        (refusal(520, {"message": "tools are out"}), ProviderOverloaded, "tools are out"),
        (refusal(401, {"message": "the context length of your key"}), ProviderAuthError, "refused the API key"),
    ],
)
def test_a_foreign_error_becomes_ours_in_the_servers_own_words(
    error: Exception, expected: type[ProviderError], said: str
) -> None:
    found = to_provider_error(error, SERVER)
    assert type(found) is expected and said in str(found)
    assert str(found)[0].isupper() and str(found)[-1] in ".!?…" and "{" not in str(found)


def test_a_proxys_page_of_html_is_cut_to_a_line() -> None:
    text = str(
        to_provider_error(anthropic.InternalServerError("<p>x</p>\n" * 999, response=response(502), body=""), SERVER)
    )
    assert len(text) < 450
    assert "\n" not in text


def test_an_error_that_says_nothing_is_named_by_its_class() -> None:
    assert "read error" in str(to_provider_error(httpx2.ReadError(""), SERVER))


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"retry_after": "7"}, 7, 7),
        ({"retry_after": "0.5"}, 0.5, 0.5),
        ({"retry_after_ms": "250", "retry_after": "9"}, 0.25, 0.25),
        ({"retry_after": "Fri, 01 Jan 2999 00:00:00 GMT"}, 1e9, 1e11),
    ],
)
def test_the_vendors_wait_is_read_in_all_its_forms(headers: dict[str, str], low: float, high: float) -> None:
    error = to_provider_error(status_error(429, **headers), SERVER)
    assert isinstance(error, ProviderRateLimited)
    assert error.retry_after_seconds is not None
    assert low <= error.retry_after_seconds <= high


@pytest.mark.parametrize("headers", [{}, {"retry_after": "soon"}, {"retry_after": "Fri, 01 Jan 2999 00:00:00"}])
def test_a_wait_that_can_not_be_read_is_none(headers: dict[str, str]) -> None:
    assert hint_of(status_error(429, **headers)) == RetryHint()


def test_errors_without_an_answer_give_no_hint() -> None:
    assert hint_of(httpx2.ReadError("x")) == hint_of(None) == RetryHint()


BUSY, WRONG = ProviderOverloaded("busy"), ProviderBadRequest("wrong")


@pytest.mark.parametrize(
    ("error", "hint", "attempt", "jitter", "expected"),
    [
        (BUSY, RetryHint(), 0, 0.0, 0.5),
        (BUSY, RetryHint(), 1, 0.0, 1.0),
        (BUSY, RetryHint(), 1, 1.0, 0.75),  # jitter takes off up to a quarter
        (BUSY, RetryHint(), 9, 0.0, 8.0),  # the longest
        (BUSY, RetryHint(after_seconds=3.0), 0, 1.0, 3.0),  # to the letter
        (BUSY, RetryHint(after_seconds=-3.0), 0, 0.0, 0.5),  # a date in the past
        (BUSY, RetryHint(after_seconds=61.0), 0, 0.0, None),  # beyond the patience of 60 s
        (BUSY, RetryHint(should_retry=False), 0, 0.0, None),
        (WRONG, RetryHint(), 0, 0.0, None),
        (WRONG, RetryHint(should_retry=True), 0, 0.0, 0.5),
    ],
)
def test_the_wait_before_another_attempt(
    error: ProviderError, hint: RetryHint, attempt: int, jitter: float, expected: float | None
) -> None:
    assert wait_before_retry(error, hint, attempt=attempt, remaining_seconds=60, jitter=jitter) == expected
