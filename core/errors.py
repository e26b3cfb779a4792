"""Every error Footnote raises on purpose.

A message names the thing, the problem and the next step; people see it unchanged.

FootnoteError
├── ConfigError            the configuration can't be used (all problems in one message)
├── NotFound               a named thing does not exist in this workspace, or may not be read
├── InvalidState           the thing exists, but the request does not fit its state
├── BadInput               an argument, question or file name can't be used
│   └── Ambiguous                several things fit a name equally; carries the candidates
├── UnsupportedFeature     this provider, platform or strategy doesn't support the request
├── AccessDenied           a gate or a grant says no
├── ModelMissing           an embedding model or cross-encoder can't be found or loaded
├── StorageError           the database or the index can't be opened, read or written
├── SignInUnavailable      the provider at which people sign in can't be reached or used now
├── PlatformError          a chat platform did not take a post; carries retry_after_seconds when known
├── ReadError              a document can't be read; the reason is for the ingest report
├── SourceUnavailable      a source can't be brought up to date now; carries retry_after_seconds when known
├── ProviderError          the model provider did not give an answer
│   ├── ProviderAuthError        key missing, refused or without credit
│   ├── ProviderRateLimited      429; carries retry_after_seconds when known
│   ├── ProviderOverloaded       500, 503, 529: their side, worth a retry
│   ├── ProviderTimeout          no answer, or a stalled stream
│   ├── ProviderConnectionError  the connection could not be made or broke
│   ├── ProviderBadRequest       the provider refused the request's form
│   ├── ProviderChanged          another model answers from here on, or this one can do less than was thought
│   ├── ProviderRefused          the provider's policy declined to answer
│   ├── BudgetSpent              a call might exceed a budget, so it isn't made
│   └── ContextOverflow          the conversation does not fit the model's window
└── ToolError
    ├── ToolRetry          the model may correct its arguments and call again
    └── ToolFailed         final: tell the reader
"""


class FootnoteError(Exception):
    """Base of all errors raised on purpose; `str(error)` is one sentence for people."""


class ConfigError(FootnoteError):
    """The configuration can't be used; the message lists every problem."""


class NotFound(FootnoteError):
    """A named thing does not exist in this workspace, or may not be read."""


class InvalidState(FootnoteError):
    """The thing exists, but the request does not fit its state."""


class BadInput(FootnoteError):
    """An argument, question or file name can't be used."""


class Ambiguous(BadInput):
    """Several things fit a name equally."""

    def __init__(self, message: str, *, candidates: tuple[str, ...]) -> None:
        super().__init__(message)
        self.candidates = candidates


class UnsupportedFeature(FootnoteError):
    """This provider, platform or strategy doesn't support the request."""


class AccessDenied(FootnoteError):
    """A gate or a grant says no."""


class ModelMissing(FootnoteError):
    """An embedding model or cross-encoder can't be found or loaded."""


class StorageError(FootnoteError):
    """The database or the index can't be opened, read or written."""


class SignInUnavailable(FootnoteError):
    """The provider at which people sign in can't be reached or used now."""


class PlatformError(FootnoteError):
    """A chat platform did not take a post; worth another try."""

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class PlatformUnreachable(PlatformError):
    """A chat platform as a whole can't be reached, whatever the post: worth waiting for."""


class ReadError(FootnoteError):
    """A document can't be read; the message is its reason in the ingest report."""


class SourceUnavailable(FootnoteError):
    """A source can't be brought up to date now; its documents stay as they are."""

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class ProviderError(FootnoteError):
    """The model provider did not give an answer."""

    retryable = False


class ProviderAuthError(ProviderError):
    """The key is missing, refused or without credit."""


class ProviderRateLimited(ProviderError):
    """Too many requests for the provider's limit."""

    retryable = True

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class ProviderOverloaded(ProviderError):
    """The provider failed on its side (500, 503, 529)."""

    retryable = True


class ProviderTimeout(ProviderError):
    """No answer within the time allowed, or a stalled stream."""

    retryable = True


class ProviderConnectionError(ProviderError):
    """The connection could not be made, or broke in the middle."""

    retryable = True


class ProviderBadRequest(ProviderError):
    """The provider refused the request's form."""


class ProviderChanged(ProviderError):
    """Another model answers from here on, or this one can do less than expected: build the request again from the
    present capabilities.
    """

    retryable = True


class ProviderRefused(ProviderError):
    """The provider's policy declined to answer."""


class BudgetSpent(ProviderError):
    """A call might exceed a budget of the day, so it isn't made."""


class ContextOverflow(ProviderError):
    """The conversation does not fit the model's window."""


class ToolError(FootnoteError):
    """A tool did not give a result."""


class ToolRetry(ToolError):
    """The model may correct its arguments and call again; the message tells it how."""


class ToolFailed(ToolError):
    """Final: the answer tells the reader."""
