"""Anthropic's errors as ProviderErrors, in one table.

Errors are looked up by class name along the class's ancestors, so that this module needs no import of the SDK.
A test walks the SDK's classes and fails when one has no rule.
"""

from collections.abc import Mapping

from core.answering.providers.retry import detail_of, hint_of
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

KEY_ADVICE = "Set ANTHROPIC_API_KEY, or the secret file the configuration names, to a valid key."
NO_KEY = f"No Anthropic API key is configured. {KEY_ADVICE}"

_REFUSED_KEY = (ProviderAuthError, f"Anthropic refused the API key: {{detail}} {KEY_ADVICE}")
_FORBIDDEN = (
    ProviderAuthError,
    "Anthropic does not allow this key to do that: {detail} Check its workspace and roles.",
)
_NO_CREDIT = (
    ProviderAuthError,
    "The Anthropic account is without credit or at its spend limit: {detail} Top it up, or raise the limit.",
)
_BAD_REQUEST = (ProviderBadRequest, "Anthropic refused the request's form: {detail}")
_NOT_FOUND = (
    ProviderBadRequest,
    "Anthropic did not find the requested model: {detail} Check the model's name in the configuration.",
)
_TOO_LONG = (
    ContextOverflow,
    "The conversation does not fit the model's window: {detail} Start a new thread, or ask about less at once.",
)
_TIMEOUT = (ProviderTimeout, "Anthropic did not answer in time: {detail} Try again.")
_RATE_LIMITED = (ProviderRateLimited, "Anthropic's rate limit is reached: {detail} Try again in a while.")
_OVERLOADED = (ProviderOverloaded, "Anthropic failed on its side: {detail} Try again in a while.")
_NO_CONNECTION = (
    ProviderConnectionError,
    "The connection to Anthropic could not be made, or broke: {detail} Check the network, or try again.",
)
_BROKEN_REPLY = (ProviderConnectionError, "Anthropic's reply arrived broken: {detail} Try again.")
_UNKNOWN = (ProviderError, "Anthropic's client failed unexpectedly: {detail}")

Rule = tuple[type[ProviderError], str]
RULES: Mapping[str, Rule] = {
    # answers with a status
    "BadRequestError": _BAD_REQUEST,
    "OrganizationOnHoldError": _FORBIDDEN,
    "AuthenticationError": _REFUSED_KEY,
    "PaymentRequiredError": _NO_CREDIT,
    "PermissionDeniedError": _FORBIDDEN,
    "NotFoundError": _NOT_FOUND,
    "RequestTimeoutError": _TIMEOUT,
    "ConflictError": _OVERLOADED,
    "PreconditionFailedError": _BAD_REQUEST,
    "ContentTooLargeError": _TOO_LONG,
    "UnprocessableEntityError": _BAD_REQUEST,
    "RateLimitError": _RATE_LIMITED,
    "ContractSpendLimitReachedError": _NO_CREDIT,
    "EnforcedSpendLimitReachedError": _NO_CREDIT,
    "RequestHeaderFieldsTooLargeError": _BAD_REQUEST,
    "ClientClosedRequestError": _NO_CONNECTION,
    "InternalServerError": _OVERLOADED,
    "HTTPNotImplementedError": _BAD_REQUEST,
    "GatewayTimeoutError": _TIMEOUT,
    # no answer
    "APITimeoutError": _TIMEOUT,
    "APIConnectionError": _NO_CONNECTION,
    "RetryableError": _NO_CONNECTION,
    "CredentialsError": _REFUSED_KEY,
    "WorkloadIdentityError": _REFUSED_KEY,
    # an answer that can't be read
    "APIResponseValidationError": _BROKEN_REPLY,
    "APIWebhookValidationError": _BROKEN_REPLY,
    # httpx2, in the middle of a stream, where the SDK wraps nothing
    "TimeoutException": _TIMEOUT,
    "HTTPError": _NO_CONNECTION,
    "StreamError": _NO_CONNECTION,
    "InvalidURL": _NO_CONNECTION,
    # Python's own, out of the SDK's reading of an event (JSONDecodeError is a ValueError)
    "UnicodeEncodeError": (
        ProviderBadRequest,
        "The conversation holds characters that can't be sent: {detail}",
    ),
    "ValueError": _BROKEN_REPLY,
    "LookupError": _BROKEN_REPLY,
    "AttributeError": _BROKEN_REPLY,
    # the rest of the SDK: misuse by a program
    "AnthropicError": _UNKNOWN,
}
# `error.type` of the body: for errors inside a stream, whose status was 200, and for statuses without a class.
RULES_BY_TYPE: Mapping[str, Rule] = {
    "invalid_request_error": _BAD_REQUEST,
    "authentication_error": _REFUSED_KEY,
    "billing_error": _NO_CREDIT,
    "permission_error": _FORBIDDEN,
    "not_found_error": _NOT_FOUND,
    "request_too_large": _TOO_LONG,
    "rate_limit_error": _RATE_LIMITED,
    "timeout_error": _TIMEOUT,
    "api_error": _OVERLOADED,
    "overloaded_error": _OVERLOADED,
    "conflict_error": _OVERLOADED,
    "memory_precondition_failed_error": _BAD_REQUEST,
    "memory_path_conflict_error": _BAD_REQUEST,
}
# A 400 says in words only that the prompt is too long or the account empty (no error code for either in SDK 2.12).
_WORDS_IN_BAD_REQUEST: tuple[tuple[str, Rule], ...] = (
    ("prompt is too long", _TOO_LONG),
    ("exceed context limit", _TOO_LONG),
    ("credit balance is too low", _NO_CREDIT),
)


def to_provider_error(error: Exception) -> ProviderError:
    """Return the ProviderError for a vendor's error."""
    detail = detail_of(error)
    kind, sentence = _rule(error, detail)
    message = sentence.format(detail=detail)
    if kind is ProviderRateLimited:
        return ProviderRateLimited(message, retry_after_seconds=hint_of(error).after_seconds)
    return kind(message)


def _rule(error: Exception, detail: str) -> Rule:
    names = [cls.__name__ for cls in type(error).__mro__]
    rule = next((RULES[name] for name in names if name in RULES), _UNKNOWN)
    if "APIStatusError" in names and rule is _UNKNOWN:
        rule = RULES_BY_TYPE.get(str(getattr(error, "type", None)), _UNKNOWN)
    if rule is _BAD_REQUEST:
        rule = next((special for words, special in _WORDS_IN_BAD_REQUEST if words in detail.lower()), rule)
    return rule
