"""Every error of the SDK has a rule; what is worth another attempt is a table."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import get_args

import anthropic
import httpx2
import pytest
from anthropic._error_classes import make_status_error
from anthropic.types import StopReason as VendorStopReason
from anthropic.types.shared.error_type import ErrorType

from core.answering.providers.retry import RetryHint, hint_of, wait_before_retry
from core.domain.answer import StopReason
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
from storage.models.anthropic.errors import RULES, RULES_BY_TYPE, to_provider_error
from storage.models.anthropic.messages import STOP_REASONS

REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1/messages")
# What only a program that misuses the SDK can raise, or parts of it that are never called here.
NOT_REACHABLE = {"AnthropicError", "APIError", "APIStatusError", "StreamAlreadyConsumed", "MissingDependencyError"}


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


def test_every_error_of_the_sdk_has_a_rule() -> None:
    for module in pkgutil.iter_modules(anthropic.types.__path__, "anthropic.types."):
        importlib.import_module(module.name)
    ours = [c for c in descendants(anthropic.AnthropicError) if not c.__module__.startswith("anthropic.lib")]
    assert len(ours) > 30
    without = {
        cls.__name__
        for cls in ours
        if not any(c.__name__ in RULES and c.__name__ != "AnthropicError" for c in cls.__mro__)
    }
    assert without <= NOT_REACHABLE


def test_every_transport_error_has_a_rule() -> None:
    found = [value for value in vars(httpx2).values() if isinstance(value, type) and issubclass(value, Exception)]
    without = {cls.__name__ for cls in found if not any(c.__name__ in RULES for c in cls.__mro__)}
    assert without <= {"CookieConflict"}


def test_every_error_type_and_every_stop_reason_of_the_sdk_is_in_its_table() -> None:
    assert set(get_args(ErrorType)) <= set(RULES_BY_TYPE)
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
    found = to_provider_error(error)
    assert type(found) is expected
    assert str(found).rstrip()[-1] in ".!?…"


def test_a_proxys_page_of_html_is_cut_to_a_line() -> None:
    text = str(to_provider_error(anthropic.InternalServerError("<p>x</p>\n" * 999, response=response(502), body="")))
    assert len(text) < 450
    assert "\n" not in text


def test_an_error_that_says_nothing_is_named_by_its_class() -> None:
    assert "read error" in str(to_provider_error(httpx2.ReadError("")))


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
    error = to_provider_error(status_error(429, **headers))
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
