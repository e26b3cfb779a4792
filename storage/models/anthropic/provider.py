"""Anthropic's models as a ChatProvider: streaming, native tools, citations, prompt caching.

The SDK is imported with the first request, in a thread (it takes over a second). Its own retries are off: they
neither cover a stream that breaks in the middle nor have an end in time, so `complete` does all retrying itself.
"""

import asyncio
import importlib
import logging
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.answering.providers.retry import FIRST_BACKOFF_SECONDS, Secret, patiently
from core.domain.answer import Capabilities, ChatRequest, ChatResponse
from core.errors import ProviderAuthError, ProviderConnectionError, ProviderError, ProviderTimeout
from storage.models.anthropic.errors import NO_KEY, to_provider_error
from storage.models.anthropic.messages import InlineCiteFilter, TurnParams, passages_shown, to_params, to_response

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic
    from anthropic.lib.streaming import AsyncMessageStream
    from anthropic.types import Message

logger = logging.getLogger(__name__)

# Assumed if the API does not report a model's window (a gateway without /v1/models).
DEFAULT_CONTEXT_TOKENS = 200_000
CONNECT_SECONDS = 10.0
LIMITS_SECONDS = 5.0  # for a model's limits, which are optional


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """Limits of a model in tokens; None if unknown to the API."""

    context_tokens: int = DEFAULT_CONTEXT_TOKENS
    output_tokens: int | None = None
    structured: bool = False  # replies by a schema; where the API does not say, a forced tool call does the same


class AnthropicProvider:
    """ChatProvider over the Messages API. Makes no connection before the first request.

    Args:
        api_key: None or blank: every request raises ProviderAuthError with the next step.
        model: default for requests without a model.
        max_output_tokens: default for requests without one; reduced to the model's limit.
        timeout_seconds: limit of a turn, including attempts and waits.
        stall_seconds: limit without a byte from the server (it sends pings while it thinks).
        max_retries: attempts after the first; a turn whose text was already shown is not repeated.
        base_url: None: the SDK's default (api.anthropic.com, or ANTHROPIC_BASE_URL).
        http_client: closed by its owner; None: an own one.
        backoff_seconds: the first wait between attempts; doubles each time. A `retry-after` header takes precedence.
    """

    name = "anthropic"

    def __init__(
        self,
        *,
        api_key: Secret | None,
        model: str,
        max_output_tokens: int,
        timeout_seconds: float,
        stall_seconds: float,
        max_retries: int,
        base_url: str | None = None,
        http_client: "httpx2.AsyncClient | None" = None,
        backoff_seconds: float = FIRST_BACKOFF_SECONDS,
    ) -> None:
        self._api_key = api_key
        self._model = model
        self._max_output_tokens = max_output_tokens
        self._timeout_seconds = timeout_seconds
        self._stall_seconds = stall_seconds
        self._max_retries = max_retries
        self._base_url = base_url
        self._http_client = http_client
        self._backoff_seconds = backoff_seconds
        self._client: AsyncAnthropic | None = None
        self._limits: dict[str, ModelLimits] = {}

    @property
    def capabilities(self) -> Capabilities:
        """Window and schemas are the defaults' until the first request has asked the API for the model's own."""
        limits = self._limits.get(self._model, ModelLimits())
        return Capabilities(
            tools=True, citations=True, images=True, structured=limits.structured, context_tokens=limits.context_tokens
        )

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        """One turn (see ChatProvider). Retries as the class says; `response.native` is a tuple of JSON blocks."""
        output = _TextOutput(on_text)
        until = asyncio.get_running_loop().time() + self._timeout_seconds
        try:
            async with asyncio.timeout_at(until):
                client = await self._open()
                model = request.model or self._model
                limits = await self._limits_of(model, client)
                wanted = request.max_output_tokens or self._max_output_tokens
                params = to_params(request, model=model, max_tokens=min(wanted, limits.output_tokens or wanted))
                message = await patiently(
                    lambda: _attempt(client, params, output),
                    until=until,
                    retries=self._max_retries,
                    may_repeat=lambda: not output.shown,
                    first_seconds=self._backoff_seconds,
                )
        except TimeoutError as error:
            raise ProviderTimeout(
                f"Anthropic did not finish its answer within {self._timeout_seconds:g} seconds. Try again."
            ) from error
        return to_response(message, passages_shown(request.messages))

    async def check(self) -> None:
        """One small request: raises ProviderError when the key, the address or the model's name can't be used."""
        client = await self._open()
        with _vendor_errors():
            await client.models.retrieve(self._model)

    async def close(self) -> None:
        """Release connections; safe to repeat."""
        client, self._client = self._client, None
        if client is not None and self._http_client is None:
            await client.close()

    async def _open(self) -> "AsyncAnthropic":
        key = self._api_key.get_secret_value().strip() if self._api_key else ""
        if not key:
            raise ProviderAuthError(NO_KEY)
        if self._client is None:
            await asyncio.to_thread(importlib.import_module, "anthropic")
        if self._client is None:  # again: another turn may have opened it meanwhile
            self._client = self._build_client(key)
        return self._client

    def _build_client(self, key: str) -> "AsyncAnthropic":
        import httpx2
        from anthropic import AsyncAnthropic

        timeout = httpx2.Timeout(self._stall_seconds, connect=min(CONNECT_SECONDS, self._stall_seconds))
        return AsyncAnthropic(
            api_key=key, base_url=self._base_url, timeout=timeout, max_retries=0, http_client=self._http_client
        )

    async def _limits_of(self, model: str, client: "AsyncAnthropic") -> ModelLimits:
        """Return a model's limits, requested once; after a failure, the defaults apply until the next start."""
        if model not in self._limits:
            try:
                with _vendor_errors():
                    info = await client.models.retrieve(model, timeout=min(LIMITS_SECONDS, self._stall_seconds))
                able = info.capabilities
                limits = ModelLimits(
                    context_tokens=info.max_input_tokens or DEFAULT_CONTEXT_TOKENS,
                    output_tokens=info.max_tokens,
                    structured=able is not None and able.structured_outputs.supported,
                )
            except ProviderError as error:
                logger.info("the limits of model %r are not known, defaults are used: %s", model, error)
                limits = ModelLimits()
            self._limits[model] = limits
        return self._limits[model]


class _TextOutput:
    """Hands text on, without inline cite tags, and knows whether a reader has seen any."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self._on_text = on_text
        self._tags = InlineCiteFilter()
        self.shown = False

    def feed(self, piece: str) -> None:
        self._show(self._tags.feed(piece))

    def end_block(self) -> None:
        self._show(self._tags.flush())

    def restart(self) -> None:
        """Begin another attempt: drop the text held back from the last."""
        self._tags = InlineCiteFilter()

    def _show(self, text: str) -> None:
        if text and self._on_text is not None:
            self.shown = True
            self._on_text(text)


async def _attempt(client: "AsyncAnthropic", params: TurnParams, output: _TextOutput) -> "Message":
    """One request read to its end; a stream that ends without a stop reason was cut and is an error."""
    output.restart()
    async with AsyncExitStack() as stack:
        with _vendor_errors():
            stream = await stack.enter_async_context(client.messages.stream(**params))
        begun = await _read(stream, output)
        if not begun or stream.current_message_snapshot.stop_reason is None:
            raise ProviderConnectionError("Anthropic's reply broke off before its end. Try again.")
        return stream.current_message_snapshot


async def _read(stream: "AsyncMessageStream[None]", output: _TextOutput) -> bool:
    """Read all events; return whether the message began."""
    begun = False
    while True:
        with _vendor_errors():
            event = await anext(stream, None)
            kind = event.type if event is not None else None
        if event is None:
            return begun
        begun = begun or kind == "message_start"
        if event.type == "text":
            output.feed(event.text)
        elif event.type == "content_block_stop":
            output.end_block()


@contextmanager
def _vendor_errors() -> Iterator[None]:
    """Raise the SDK's errors as ProviderErrors; only calls into the SDK belong inside.

    A malformed event raises ValueError (with JSONDecodeError), LookupError or AttributeError in the SDK.
    """
    import anthropic
    import httpx2

    foreign = (anthropic.AnthropicError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL)
    try:
        yield
    except (*foreign, ValueError, LookupError, AttributeError) as error:
        raise to_provider_error(error) from error
