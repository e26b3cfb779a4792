"""Errors of a server or the SDK as ProviderErrors: by code, by status, by words, in this order.

Errors are looked up by class name along the class's ancestors, so that this module needs no import of the SDK.
A test walks the SDK's classes and fails when one has no rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.answering.providers.retry import detail_of, hint_of
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

Rule = tuple[type[ProviderError], str]

_REFUSED_KEY: Rule = (ProviderAuthError, "{who} refused the API key: {detail} {key}")
_FORBIDDEN: Rule = (
    ProviderAuthError,
    "{who} does not allow this key to do that: {detail} Check its project and roles.",
)
_NO_CREDIT: Rule = (
    ProviderAuthError,
    "The account at {who} is without credit or at its limit: {detail} Top it up, or raise the limit.",
)
_BAD_REQUEST: Rule = (ProviderBadRequest, "{who} refused the request's form: {detail}")
_NOT_FOUND: Rule = (
    ProviderBadRequest,
    "{who} did not find the requested model: {detail} Check the model's name and base_url in the configuration.",
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
    "The connection to {who} could not be made, or broke: {detail} Check that it runs and that base_url is right.",
)
_BROKEN_REPLY: Rule = (ProviderConnectionError, "The reply of {who} arrived broken: {detail} Try again.")
_UNKNOWN: Rule = (ProviderError, "The client of {who} failed unexpectedly: {detail}")

# `error.code`, else `error.type`: inside a stream, where the status was 200, it is all there is.
RULES_BY_CODE: Mapping[str, Rule] = {
    "context_length_exceeded": _TOO_LONG,
    "exceed_context_size_error": _TOO_LONG,
    "content_filter": _REFUSED,
    "content_policy_violation": _REFUSED,
    "insufficient_quota": _NO_CREDIT,
    "billing_hard_limit_reached": _NO_CREDIT,
    "invalid_api_key": _REFUSED_KEY,
    "authentication_error": _REFUSED_KEY,
    "model_not_found": _NOT_FOUND,
    "not_found_error": _NOT_FOUND,
    "rate_limit_exceeded": _RATE_LIMITED,
    "rate_limit_error": _RATE_LIMITED,
    "overloaded_error": _OVERLOADED,
    "unavailable_error": _OVERLOADED,
    "server_error": _OVERLOADED,
    "invalid_request_error": _BAD_REQUEST,
}
# By status; codes inside a stream are statuses, too, on some servers.
RULES_BY_STATUS: Mapping[int, Rule] = {
    400: _BAD_REQUEST,
    401: _REFUSED_KEY,
    402: _NO_CREDIT,
    403: _FORBIDDEN,
    404: _NOT_FOUND,
    405: _NOT_FOUND,
    408: _TIMEOUT,
    409: _OVERLOADED,
    413: _TOO_LONG,
    422: _BAD_REQUEST,
    429: _RATE_LIMITED,
    501: _BAD_REQUEST,
    504: _TIMEOUT,
}
# By class, for errors without a status.
RULES: Mapping[str, Rule] = {
    "APITimeoutError": _TIMEOUT,
    "APIConnectionError": _NO_CONNECTION,
    "APIResponseValidationError": _BROKEN_REPLY,
    "APIError": _OVERLOADED,  # an error event inside a stream, with no code that is known
    # httpx2, where the SDK wraps nothing
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
    # the rest of the SDK: misuse by a program
    "OpenAIError": _UNKNOWN,
}
# Errors that servers report only in words, without a common code.
_WORDS: tuple[tuple[str, Rule], ...] = (
    ("context length", _TOO_LONG),
    ("context size", _TOO_LONG),
    ("context window", _TOO_LONG),
    ("context limit", _TOO_LONG),
    ("prompt is too long", _TOO_LONG),
    ("maximum number of tokens", _TOO_LONG),
    ("insufficient balance", _NO_CREDIT),
    ("api key not valid", _REFUSED_KEY),
    ("invalid api key", _REFUSED_KEY),
)
_SPECIFIC = frozenset({429, 402, 401, 403})  # statuses whose words change nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server's name and the advice about its key, for error messages."""

    name: str  # "OpenAI", or "the model server 127.0.0.1:11434"
    key_advice: str

    @property
    def no_key(self) -> str:
        return f"No API key is configured for {self.name}. {self.key_advice}"

    @property
    def sentence_name(self) -> str:
        """The name at the beginning of a sentence."""
        return f"{self.name[:1].upper()}{self.name[1:]}"


def to_provider_error(error: Exception, server: Server) -> ProviderError:
    """Return the ProviderError for a vendor's error."""
    detail = detail_of(error, _words_of(getattr(error, "body", None)) or _page_of(error))
    kind, sentence = _rule(error, detail)
    message = sentence.format(who=server.name, detail=detail, key=server.key_advice)
    message = message[:1].upper() + message[1:]
    if kind is ProviderRateLimited:
        return ProviderRateLimited(message, retry_after_seconds=hint_of(error).after_seconds)
    return kind(message)


def _rule(error: Exception, detail: str) -> Rule:
    status = getattr(error, "status_code", None)
    words = None if status in _SPECIFIC else next((rule for said, rule in _WORDS if said in detail.lower()), None)
    for code in (getattr(error, "code", None), getattr(error, "type", None)):
        if (rule := RULES_BY_CODE.get(str(code))) and rule is not _BAD_REQUEST:
            return rule
        if status is None and str(code).isdigit():
            status = int(str(code))
    if isinstance(status, int):
        by_status = RULES_BY_STATUS.get(status) or (_OVERLOADED if status >= 500 else _BAD_REQUEST)
        return words or by_status
    names = [cls.__name__ for cls in type(error).__mro__]
    by_class = next((RULES[name] for name in names if name in RULES), _UNKNOWN)
    return words or (_BAD_REQUEST if getattr(error, "type", None) == "invalid_request_error" else by_class)


def _words_of(body: object) -> str:
    """Return the server's own sentence from the formats of OpenAI, Gemini (a list), vLLM, Ollama and FastAPI."""
    if isinstance(body, list) and body:
        return _words_of(body[0])
    if not isinstance(body, dict):
        return body if isinstance(body, str) else ""
    said = next((body[key] for key in ("message", "error", "detail") if body.get(key)), "")
    return _words_of(said) if isinstance(said, dict | list) else str(said)


def _page_of(error: Exception) -> str:
    """Return the text of a reply that is not JSON, such as a proxy's page."""
    response = getattr(error, "response", None)
    kind = getattr(response, "headers", {}).get("content-type", "")
    return str(getattr(response, "text", "")) if response is not None and "json" not in kind else ""
