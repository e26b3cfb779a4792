"""The common parts of providers over a vendor's SDK: the client with its deadline and retries, and the table of errors.

Errors are looked up by class name along the class's ancestors, by code and by status, so that this module needs no
import of an SDK. A test walks the SDKs' classes and fails when one has no rule.
"""

import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from core.answering.providers.retry import FIRST_BACKOFF_SECONDS, Secret, detail_of, hint_of, patiently
from core.errors import (
    ContextOverflow,
    ProviderAuthError,
    ProviderBadRequest,
    ProviderConnectionError,
    ProviderError,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderRefused,
    ProviderTimeout,
)

CONNECT_SECONDS = 10.0


class Closable(Protocol):
    async def close(self) -> None: ...


T = TypeVar("T")
C = TypeVar("C", bound=Closable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server's name and advice for people, for error messages."""

    name: str  # "OpenAI", or "the model server 127.0.0.1:11434"
    key_advice: str
    network_advice: str = "Check the network, or try again."

    @property
    def sentence_name(self) -> str:
        """The name at the beginning of a sentence."""
        return f"{self.name[:1].upper()}{self.name[1:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of a provider's turns.

    Args:
        max_output_tokens: the longest answer, for requests that name no other.
        timeout_seconds: limit of a turn, including attempts and waits.
        stall_seconds: limit without a byte from the server (Anthropic sends pings while it thinks).
        max_retries: attempts after the first; a turn whose text was already shown is not repeated.
        backoff_seconds: the first wait between attempts; doubles each time. A `retry-after` header takes precedence.
    """

    max_output_tokens: int
    timeout_seconds: float
    stall_seconds: float
    max_retries: int
    backoff_seconds: float = FIRST_BACKOFF_SECONDS


class TextOutput:
    """Hands text on, and knows whether a reader has seen any."""

    def __init__(self, on_text: Callable[[str], None] | None = None) -> None:
        self._on_text = on_text
        self.shown = False

    def show(self, text: str) -> None:
        if text and self._on_text is not None:
            self.shown = True
            self._on_text(text)


class VendorClient(Generic[C]):
    """One client of an SDK, made when it is first used: in a thread, as the import takes over a second.

    The SDK's own retries are off: they don't cover a stream that breaks in the middle, and have no deadline.

    Args:
        make: builds the client from the options that all SDKs share.
        base_error: module and name of the class above all errors of the SDK.
        key: None or blank: not sent, or ProviderAuthError where one `is_required`.
    """

    def __init__(
        self,
        make: Callable[..., C],
        base_error: str,
        server: Server,
        limits: Limits,
        *,
        base_url: str | None,
        key: Secret | None,
        is_required: bool,
    ) -> None:
        self.server = server
        self.limits = limits
        self.key = key.get_secret_value().strip() if key else ""
        self._make = make
        self._sdk, _, self._base_error = base_error.partition(".")
        self._base_url = base_url
        self._is_required = is_required
        self._client: C | None = None

    async def open(self) -> C:
        """Return the client. Raises ProviderAuthError if a required key is missing."""
        if self._is_required and not self.key:
            raise ProviderAuthError(f"No API key is configured for {self.server.name}. {self.server.key_advice}")
        if self._client is None:
            await asyncio.to_thread(importlib.import_module, self._sdk)
        if self._client is None:  # again: another turn may have opened it meanwhile
            import httpx2

            stall = self.limits.stall_seconds
            timeout = httpx2.Timeout(stall, connect=min(CONNECT_SECONDS, stall))
            self._client = self._make(
                api_key=self.key or "none", base_url=self._base_url, timeout=timeout, max_retries=0
            )
        return self._client

    async def close(self) -> None:
        """Release connections; safe to repeat."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @asynccontextmanager
    async def deadline(self) -> AsyncIterator[float]:
        """Yield the end of a turn, in the event loop's time; raise ProviderTimeout when it is reached."""
        until = asyncio.get_running_loop().time() + self.limits.timeout_seconds
        try:
            async with asyncio.timeout_at(until):
                yield until
        except TimeoutError as error:
            limit = f"{self.limits.timeout_seconds:g} seconds"
            raise ProviderTimeout(
                f"{self.server.sentence_name} did not finish its answer within {limit}. Try again."
            ) from error

    async def retry(self, attempt: Callable[[], Awaitable[T]], until: float, output: TextOutput) -> T:
        """Call `attempt` until it succeeds, as often as the limits allow."""
        return await patiently(
            attempt,
            until=until,
            retries=self.limits.max_retries,
            may_repeat=lambda: not output.shown,
            first_seconds=self.limits.backoff_seconds,
        )

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise the SDK's errors as ProviderErrors; only calls into the SDK, and reading its replies, belong inside.

        A malformed event raises ValueError (with JSONDecodeError), LookupError, AttributeError or TypeError.
        """
        import httpx2

        own: type[Exception] = getattr(importlib.import_module(self._sdk), self._base_error)
        transport = (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL)
        try:
            yield
        except (own, *transport, ValueError, LookupError, AttributeError, TypeError) as error:
            raise to_provider_error(error, self.server) from error

    def broken_off(self) -> ProviderConnectionError:
        """Return the error for a reply without an end."""
        return ProviderConnectionError(f"The reply of {self.server.name} broke off before its end. Try again.")


# -------------------------------------------------------------------------------------------------------------- errors

Rule = tuple[type[ProviderError], str]

_REFUSED_KEY: Rule = (ProviderAuthError, "{who} refused the API key: {detail} {key}")
_FORBIDDEN: Rule = (
    ProviderAuthError,
    "{who} does not allow this key to do that: {detail} Check its project or workspace, and its roles.",
)
_NO_CREDIT: Rule = (
    ProviderAuthError,
    "The account at {who} is without credit or at its spend limit: {detail} Top it up, or raise the limit.",
)
_BAD_REQUEST: Rule = (ProviderBadRequest, "{who} refused the request's form: {detail}")
_NOT_FOUND: Rule = (
    ProviderBadRequest,
    "{who} did not find the requested model: {detail} Check the model's name and the server's address.",
)
_TOO_LONG: Rule = (
    ContextOverflow,
    "The conversation does not fit the model's window: {detail} Start a new thread, or ask about less at once.",
)
_REFUSED: Rule = (ProviderRefused, "{who} declined to answer: {detail}")
_TIMEOUT: Rule = (ProviderTimeout, "{who} did not answer in time: {detail} Try again.")
_RATE_LIMITED: Rule = (ProviderRateLimited, "The rate limit of {who} is reached: {detail} Try again in a while.")
_OVERLOADED: Rule = (ProviderOverloaded, "{who} failed on its side: {detail} Try again in a while.")
_NO_CONNECTION: Rule = (
    ProviderConnectionError,
    "The connection to {who} could not be made, or broke: {detail} {network}",
)
_BROKEN_REPLY: Rule = (ProviderConnectionError, "The reply of {who} arrived broken: {detail} Try again.")
_UNKNOWN: Rule = (ProviderError, "The client of {who} failed unexpectedly: {detail}")

# By class: errors without a status, and errors that say more than their status.
RULES: Mapping[str, Rule] = {
    "OrganizationOnHoldError": _FORBIDDEN,
    "ContractSpendLimitReachedError": _NO_CREDIT,
    "EnforcedSpendLimitReachedError": _NO_CREDIT,
    "APITimeoutError": _TIMEOUT,
    "APIConnectionError": _NO_CONNECTION,
    "RetryableError": _NO_CONNECTION,
    "CredentialsError": _REFUSED_KEY,
    "WorkloadIdentityError": _REFUSED_KEY,
    "APIResponseValidationError": _BROKEN_REPLY,
    "APIWebhookValidationError": _BROKEN_REPLY,
    # httpx2, in the middle of a stream, where the SDKs wrap nothing
    "TimeoutException": _TIMEOUT,
    "HTTPError": _NO_CONNECTION,
    "StreamError": _NO_CONNECTION,
    "InvalidURL": _NO_CONNECTION,
    # Python's own, out of the reading of an event (JSONDecodeError is a ValueError)
    "UnicodeEncodeError": (ProviderBadRequest, "The conversation holds characters that can't be sent: {detail}"),
    "ValueError": _BROKEN_REPLY,
    "LookupError": _BROKEN_REPLY,
    "AttributeError": _BROKEN_REPLY,
    "TypeError": _BROKEN_REPLY,
}
# `error.code`, else `error.type`: inside a stream, where the status was 200, it is all there is.
RULES_BY_CODE: Mapping[str, Rule] = {
    "context_length_exceeded": _TOO_LONG,
    "exceed_context_size_error": _TOO_LONG,
    "request_too_large": _TOO_LONG,
    "content_filter": _REFUSED,
    "content_policy_violation": _REFUSED,
    "insufficient_quota": _NO_CREDIT,
    "billing_hard_limit_reached": _NO_CREDIT,
    "billing_error": _NO_CREDIT,
    "invalid_api_key": _REFUSED_KEY,
    "authentication_error": _REFUSED_KEY,
    "permission_error": _FORBIDDEN,
    "model_not_found": _NOT_FOUND,
    "not_found_error": _NOT_FOUND,
    "rate_limit_exceeded": _RATE_LIMITED,
    "rate_limit_error": _RATE_LIMITED,
    "timeout_error": _TIMEOUT,
    "overloaded_error": _OVERLOADED,
    "unavailable_error": _OVERLOADED,
    "server_error": _OVERLOADED,
    "api_error": _OVERLOADED,
    "conflict_error": _OVERLOADED,
    "invalid_request_error": _BAD_REQUEST,
    "memory_precondition_failed_error": _BAD_REQUEST,
    "memory_path_conflict_error": _BAD_REQUEST,
}
# By status; codes inside a stream are statuses, too, on some servers.
RULES_BY_STATUS: Mapping[int, Rule] = {
    401: _REFUSED_KEY,
    402: _NO_CREDIT,
    403: _FORBIDDEN,
    404: _NOT_FOUND,
    405: _NOT_FOUND,
    408: _TIMEOUT,
    409: _OVERLOADED,
    413: _TOO_LONG,
    429: _RATE_LIMITED,
    499: _NO_CONNECTION,
    501: _BAD_REQUEST,
    504: _TIMEOUT,
}
# Errors that servers report only in words, without a common code.
_WORDS: tuple[tuple[str, Rule], ...] = (
    ("context length", _TOO_LONG),
    ("context size", _TOO_LONG),
    ("context window", _TOO_LONG),
    ("context limit", _TOO_LONG),
    ("prompt is too long", _TOO_LONG),
    ("maximum number of tokens", _TOO_LONG),
    ("credit balance is too low", _NO_CREDIT),
    ("insufficient balance", _NO_CREDIT),
    ("api key not valid", _REFUSED_KEY),
    ("invalid api key", _REFUSED_KEY),
)
_SPECIFIC = frozenset({429, 402, 401, 403})  # statuses whose words change nothing


def to_provider_error(error: Exception, server: Server) -> ProviderError:
    """Return the ProviderError for a vendor's error."""
    detail = detail_of(error, _words_of(getattr(error, "body", None)) or _page_of(error))
    kind, sentence = _rule(error, detail)
    message = sentence.format(who=server.name, detail=detail, key=server.key_advice, network=server.network_advice)
    message = message[:1].upper() + message[1:]
    if kind is ProviderRateLimited:
        return ProviderRateLimited(message, retry_after_seconds=hint_of(error).after_seconds)
    return kind(message)


def _rule(error: Exception, detail: str) -> Rule:
    by_class = next((RULES[cls.__name__] for cls in type(error).__mro__ if cls.__name__ in RULES), None)
    if by_class is not None:
        return by_class
    codes = [str(getattr(error, name, None)) for name in ("code", "type")]
    coded = [RULES_BY_CODE[code] for code in codes if code in RULES_BY_CODE]
    if (telling := next((rule for rule in coded if rule not in (_BAD_REQUEST, _OVERLOADED)), None)) is not None:
        return telling
    status = getattr(error, "status_code", None) or next((int(code) for code in codes if code.isdigit()), 0)
    words = next((rule for said, rule in _WORDS if said in detail.lower()), None)
    if words is not None and status not in _SPECIFIC:
        return words
    if status in RULES_BY_STATUS or status >= 500:
        return RULES_BY_STATUS.get(status, _OVERLOADED)
    if coded:
        return coded[0]
    if status >= 400:
        return _BAD_REQUEST
    is_event = type(error).__name__ == "APIError"  # inside a stream, with no code that is known
    return _OVERLOADED if is_event else _UNKNOWN


def _words_of(body: object) -> str:
    """Return the server's own sentence from the formats of OpenAI, Gemini (a list), vLLM, Ollama and FastAPI."""
    if isinstance(body, list) and body:
        return _words_of(body[0])
    if not isinstance(body, dict):
        return body if isinstance(body, str) else ""
    said = next((body[key] for key in ("message", "error", "detail") if body.get(key)), "")
    return _words_of(said) if isinstance(said, dict | list) else str(said)


def _page_of(error: Exception) -> str:
    """Return the text of a refusal that is not JSON, such as a proxy's page."""
    response: Any = getattr(error, "response", None)
    if response is None or response.status_code < 400 or "json" in response.headers.get("content-type", ""):
        return ""
    return str(response.text)
