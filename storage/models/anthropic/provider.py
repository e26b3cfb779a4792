"""Anthropic's models as a ChatProvider: streaming, native tools, citations, prompt caching."""

import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.answering.providers.retry import Secret
from core.domain.chat import Capabilities, ChatRequest
from core.domain.replies import ChatResponse
from core.errors import ProviderBadRequest, ProviderError
from storage.models.anthropic.messages import InlineCiteFilter, TurnParams, passages_shown, to_params, to_response
from storage.models.vendor import Limits, Server, TextOutput, VendorClient

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.lib.streaming import AsyncMessageStream
    from anthropic.types import Message

logger = logging.getLogger(__name__)

KEY_ADVICE = "Set ANTHROPIC_API_KEY, or the secret file the configuration names, to a valid key."
# Assumed if the API does not report a model's window (a gateway without /v1/models).
DEFAULT_CONTEXT_TOKENS = 200_000
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
        limits: `max_output_tokens` is reduced to the model's own.
        base_url: None: the SDK's default (api.anthropic.com, or ANTHROPIC_BASE_URL).
        key_advice: the next step for a missing or refused key, as a sentence.
    """

    name = "anthropic"

    def __init__(
        self,
        *,
        api_key: Secret | None,
        model: str,
        limits: Limits,
        base_url: str | None = None,
        key_advice: str = KEY_ADVICE,
    ) -> None:
        self._model = model
        server = Server(name="Anthropic", key_advice=key_advice)
        self._client = VendorClient(
            _make_client, "anthropic.AnthropicError", server, limits, base_url=base_url, key=api_key, is_required=True
        )
        self._limits: dict[str, ModelLimits] = {}

    @property
    def capabilities(self) -> Capabilities:
        """Window and schemas are the defaults' until the first request has asked the API for the model's own."""
        limits = self._limits.get(self._model, ModelLimits())
        return Capabilities(
            tools=True, citations=True, images=True, structured=limits.structured, context_tokens=limits.context_tokens
        )

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        """One turn (see ChatProvider). Retries as Limits say; `response.native` is a tuple of JSON blocks."""
        output = TextOutput(on_text)
        async with self._client.deadline() as until:
            model = request.model or self._model
            limits = await self._limits_of(model)
            wanted = request.max_output_tokens or self._client.limits.max_output_tokens
            params = to_params(request, model=model, max_tokens=min(wanted, limits.output_tokens or wanted))
            message = await self._client.retry(lambda: self._attempt(params, output), until, output)
        return to_response(message, passages_shown(request.messages))

    async def check(self) -> None:
        """One small request: raises ProviderError when the key, the address or the model's name can't be used."""
        client = await self._client.open()
        with self._client.errors():
            await client.models.retrieve(self._model)

    async def check_model(self, model: str) -> None:
        """See ModelCatalogue. A gateway that doesn't know the configured model either has no list of models."""
        client = await self._client.open()
        try:
            with self._client.errors():
                await client.models.retrieve(model)
        except ProviderBadRequest:
            try:
                await self.check()
            except ProviderBadRequest:
                return
            raise

    async def close(self) -> None:
        """Release connections; safe to repeat."""
        await self._client.close()

    async def _limits_of(self, model: str) -> ModelLimits:
        """Return a model's limits, requested once; after a failure, the defaults apply until the next start."""
        client = await self._client.open()
        if model not in self._limits:
            try:
                with self._client.errors():
                    info = await client.models.retrieve(
                        model, timeout=min(LIMITS_SECONDS, self._client.limits.stall_seconds)
                    )
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

    async def _attempt(self, params: TurnParams, output: TextOutput) -> "Message":
        """One request read to its end; a stream that ends without a stop reason was cut and is an error."""
        client = await self._client.open()
        async with AsyncExitStack() as stack:
            with self._client.errors():
                stream = await stack.enter_async_context(client.messages.stream(**params))
            begun = await self._read(stream, output)
            if not begun or stream.current_message_snapshot.stop_reason is None:
                raise self._client.broken_off()
            return stream.current_message_snapshot

    async def _read(self, stream: "AsyncMessageStream[None]", output: TextOutput) -> bool:
        """Read all events, showing text without inline cite tags; return whether the message began."""
        tags, begun = InlineCiteFilter(), False
        while True:
            with self._client.errors():
                event = await anext(stream, None)
                kind = event.type if event is not None else None
            if event is None:
                return begun
            begun = begun or kind == "message_start"
            if event.type == "text":
                output.show(tags.feed(event.text))
            elif event.type == "content_block_stop":
                output.show(tags.flush())


def _make_client(**options: Any) -> "AsyncAnthropic":
    from anthropic import AsyncAnthropic

    return AsyncAnthropic(**options)
