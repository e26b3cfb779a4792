"""The table from errors of the SDK to ours is complete."""

from collections.abc import Iterator

import httpx2
import openai
import pytest

from core.errors import (
    ContextOverflow,
    ProviderAuthError,
    ProviderBadRequest,
    ProviderConnectionError,
    ProviderError,
    ProviderOverloaded,
    ProviderTimeout,
)
from storage.models.openai_compatible.errors import RULES, Server, to_provider_error

REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions")
SERVER = Server(name="the model server 127.0.0.1", key_advice="Set MILL_KEY.")
# What only a program that misuses the SDK can raise, or parts of it that are never called here.
NOT_REACHABLE = {
    "OpenAIError", "LengthFinishReasonError", "ContentFilterFinishReasonError", "SubjectTokenProviderError",
    "_AmbiguousModuleClientUsageError", "StreamAlreadyConsumed",
    "WebSocketConnectionClosedError", "WebSocketQueueFullError",
}  # fmt: skip


def descendants(cls: type[Exception]) -> Iterator[type[Exception]]:
    yield cls
    for child in cls.__subclasses__():
        yield from descendants(child)


def status_error(status: int, body: object) -> openai.APIStatusError:
    response = httpx2.Response(status, json=body, request=REQUEST)
    return openai.APIStatusError("Error code", response=response, body=body)


def test_every_error_of_the_sdk_has_a_rule() -> None:
    ours = [cls for cls in descendants(openai.OpenAIError) if not cls.__module__.startswith("openai.lib")]
    assert len(ours) > 12
    named = set(RULES) - {"OpenAIError"}
    without = {cls.__name__ for cls in ours if not named & {above.__name__ for above in cls.__mro__}}
    assert without <= NOT_REACHABLE


def test_every_transport_error_has_a_rule() -> None:
    found = [value for value in vars(httpx2).values() if isinstance(value, type) and issubclass(value, Exception)]
    without = {cls.__name__ for cls in found if not any(c.__name__ in RULES for c in cls.__mro__)}
    assert without <= {"CookieConflict"}


@pytest.mark.parametrize(
    ("error", "expected", "said"),
    [
        (httpx2.ReadTimeout("stall"), ProviderTimeout, "stall"),
        (httpx2.ReadError("reset"), ProviderConnectionError, "reset"),
        (openai.APITimeoutError(REQUEST), ProviderTimeout, "timed out"),
        (openai.OpenAIError("?"), ProviderError, "?"),
        (ValueError("Expecting value"), ProviderConnectionError, "Expecting value"),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no"), ProviderBadRequest, "characters that can't be sent"),
        (status_error(400, {"message": "This model's maximum context length is 9"}), ContextOverflow, "length is 9"),
        (status_error(400, [{"error": {"code": 400, "message": "API key not valid."}}]), ProviderAuthError, "MILL_KEY"),
        (status_error(404, {"error": "model 'x' not found"}), ProviderBadRequest, "model 'x' not found"),
        (status_error(422, {"detail": [{"msg": "odd"}]}), ProviderBadRequest, "form"),
        (status_error(418, {}), ProviderBadRequest, "form"),
        (status_error(520, {"message": "tools are out"}), ProviderOverloaded, "tools are out"),
        (status_error(401, {"message": "the context length of your key"}), ProviderAuthError, "refused the API key"),
    ],
)
def test_a_foreign_error_becomes_ours_in_the_servers_own_words(
    error: Exception, expected: type[ProviderError], said: str
) -> None:
    found = to_provider_error(error, SERVER)
    assert type(found) is expected and said in str(found)
    assert str(found)[0].isupper() and str(found)[-1] in ".!?…" and "{" not in str(found)
