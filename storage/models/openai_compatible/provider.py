"""Models with the chat completions API as a ChatProvider: OpenAI, Gemini, Ollama, llama.cpp, vLLM and others."""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from core.answering.providers.retry import Secret
from core.domain.chat import Capabilities, ChatRequest
from core.domain.replies import ChatResponse
from core.errors import ProviderBadRequest, ProviderChanged, ProviderError
from core.ports import CapabilityMemory
from storage.models.openai_compatible.messages import LENGTH_KEYS, Dialect, to_params
from storage.models.openai_compatible.probing import PROBE_TOKENS, Abilities, is_about_tools, probe
from storage.models.openai_compatible.replies import ReplyBuilder, estimate
from storage.models.vendor import Limits, Server, TextOutput, VendorClient

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai._types import Headers

logger = logging.getLogger(__name__)

OPENAI_CONTEXT_TOKENS = 128_000  # assumed of OpenAI's models, whose API does not tell
# Assumed without a configured or reported window: the default of local servers.
DEFAULT_CONTEXT_TOKENS = 32_000
MOST_LESSONS = 6  # repeats of a request because of a parameter the server does not know; there are no more to unlearn
# Names of a model's window in /models: vLLM, OpenRouter, Groq, llama.cpp.
_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "n_ctx")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The address and key of a model.

    Args:
        model: default for requests without a model.
        base_url: without `/chat/completions`; None: OpenAI's own.
        api_key: None: not sent, for local servers; OpenAI's own address needs one.
        key_advice: the next step for a missing or refused key, as a sentence.
    """

    model: str
    base_url: str | None
    api_key: Secret | None
    key_advice: str

    @property
    def server(self) -> Server:
        if self.base_url is None:
            return Server(name="OpenAI", key_advice=self.key_advice)
        return Server(
            name=f"the model server {urlsplit(self.base_url).netloc.rpartition('@')[2]}",
            key_advice=self.key_advice,
            network_advice="Check that it runs and that base_url is right.",
        )


class OpenAICompatibleProvider:
    """ChatProvider over chat completions. Makes no connection before the first request.

    Args:
        endpoint: server, model and key.
        abilities: configured capabilities; the others are probed once and stored in `memory`.
    """

    name = "openai_compatible"

    def __init__(self, *, endpoint: Endpoint, memory: CapabilityMemory, abilities: Abilities, limits: Limits) -> None:
        self._endpoint = endpoint
        self._memory = memory
        self._abilities = abilities
        own, key = endpoint.base_url is None, endpoint.api_key
        self._client = VendorClient(
            _make_client,
            "openai.OpenAIError",
            endpoint.server,
            limits,
            base_url=endpoint.base_url,
            key=key,
            is_required=own,
        )
        self._found: Capabilities | None = None
        self._learning = asyncio.Lock()
        self._dialect = Dialect(length_key=LENGTH_KEYS[0] if own else LENGTH_KEYS[1])
        self._assumed_window = OPENAI_CONTEXT_TOKENS if own else DEFAULT_CONTEXT_TOKENS

    @property
    def capabilities(self) -> Capabilities:
        """The configured or detected capabilities; before `learn`, only tools."""
        return self._abilities.over(self._found or Capabilities(context_tokens=self._assumed_window))

    @property
    def _key(self) -> str:
        """The key of detected capabilities: a server's model."""
        return f"{self._endpoint.base_url or 'openai'} {self._endpoint.model}"

    async def learn(self, *, refresh: bool = False) -> Capabilities:
        """Return the model's capabilities, probed once; `refresh` probes again. Raises ProviderError."""
        async with self._learning:
            if refresh or (self._found is None and not self._abilities.complete):
                self._found = None if refresh else await self._memory.find(self._key)
                if self._found is None:
                    self._found = await self._probe()
                    await self._memory.keep(self._key, self._found)
        return self.capabilities

    async def check(self) -> None:
        """Asks the model a few words: raises ProviderError when key, address or model can't be used."""
        await self.learn(refresh=True)

    async def check_model(self, model: str) -> None:
        """See ModelCatalogue. The provider is the model's own, so detecting its abilities tells."""
        await self.learn()

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        """One turn (see ChatProvider). Raises ProviderChanged where the model turns out to have no tools after all."""
        output = TextOutput(on_text)
        try:
            async with self._client.deadline() as until:
                return await self._client.retry(lambda: self._attempt(request, output), until, output)
        except ProviderError as error:
            if request.tools and self._abilities.tools is None and is_about_tools(error):
                await self._forget_tools()
                raise ProviderChanged(f"The model {self._endpoint.model!r} has no tools: {error}") from error
            raise

    async def close(self) -> None:
        """Release connections; safe to repeat."""
        await self._client.close()

    async def _attempt(self, request: ChatRequest, output: TextOutput) -> ChatResponse:
        """One request read to its end, repeated in another dialect where the server does not know a parameter."""
        client = await self._client.open()
        for lesson in range(MOST_LESSONS + 1):
            model = request.model or self._endpoint.model
            wanted = request.max_output_tokens or self._client.limits.max_output_tokens
            sees = self.capabilities.images
            params = to_params(request, model=model, max_tokens=wanted, dialect=self._dialect, images=sees)
            if self._dialect.stream_usage:
                params["stream_options"] = {"include_usage": True}
            try:
                reply = await self._read(client, params, output)
            except ProviderBadRequest as error:
                if lesson == MOST_LESSONS or output.shown or not self._dialect.learn(str(error), params):
                    raise
                logger.info("the server does not take all parameters: %s", error)
                continue
            return reply.to_response(model=model, estimated_input=_estimated(params))
        raise AssertionError("the last lesson returns or raises")

    async def _read(self, client: "AsyncOpenAI", params: Mapping[str, Any], output: TextOutput) -> ReplyBuilder:
        """All chunks; a stream that ends without a reason to stop was cut and is an error."""
        reply = ReplyBuilder()
        async with AsyncExitStack() as stack:
            with self._client.errors():
                create: Any = client.chat.completions.create
                stream = await stack.enter_async_context(
                    await create(**params, stream=True, extra_headers=self._headers)
                )
            while True:
                with self._client.errors():
                    chunk = await anext(stream, None)
                    piece = reply.end() if chunk is None else reply.add(chunk)
                output.show(piece)
                if chunk is None:
                    break
        if reply.finish is None:
            raise self._client.broken_off()
        return reply

    async def _probe(self) -> Capabilities:
        async with self._client.deadline() as until:

            async def ask(params: Mapping[str, Any]) -> str:
                return await self._client.retry(lambda: self._ask(params), until, TextOutput())

            found = await probe(ask, self._abilities, await self._window())
        logger.info("the model %r was asked what it can do: %s", self._endpoint.model, found)
        return found

    async def _ask(self, params: Mapping[str, Any]) -> str:
        """Return the text of the reply to one small request that is not streamed."""
        client = await self._client.open()
        create: Any = client.chat.completions.create
        for lesson in range(MOST_LESSONS + 1):
            sent = {"model": self._endpoint.model, **params}
            if self._dialect.length_key:
                sent[self._dialect.length_key] = PROBE_TOKENS
            try:
                with self._client.errors():
                    reply = await create(**sent, extra_headers=self._headers)
                    choices = reply.choices or []
                    return str(choices[0].message.content or "") if choices else ""
            except ProviderBadRequest as error:
                if lesson == MOST_LESSONS or not self._dialect.learn(str(error), sent):
                    raise
        raise AssertionError("the last lesson returns or raises")

    async def _window(self) -> int:
        """Tokens the model takes, where the server tells; that is a nicety, so no failure matters."""
        if self._abilities.context_tokens:
            return self._abilities.context_tokens
        client = await self._client.open()
        try:
            with self._client.errors():
                model = await client.models.retrieve(self._endpoint.model, extra_headers=self._headers)
                about: Any = model.model_extra or {}
        except ProviderError as error:
            logger.info("the window of model %r is not known: %s", self._endpoint.model, error)
            return self._assumed_window
        told = {**(about.get("meta") or {}), **about}
        return next((told[key] for key in _WINDOW_KEYS if isinstance(told.get(key), int)), self._assumed_window)

    async def _forget_tools(self) -> None:
        self._found = replace(self.capabilities, tools=False)
        await self._memory.keep(self._key, self._found)

    @property
    def _headers(self) -> "Headers":
        """The `extra_headers` of every request: without a key, none is sent, not even a dummy."""
        from openai import Omit

        return {} if self._client.key else {"Authorization": Omit()}


def _make_client(**options: Any) -> "AsyncOpenAI":
    from openai import AsyncOpenAI

    return AsyncOpenAI(**options)


def _estimated(params: Mapping[str, Any]) -> int:
    """Tokens of a prompt, about; pictures are left out of it."""
    texts = [message for message in params["messages"] if not isinstance(message.get("content"), list)]
    return estimate(json.dumps([texts, params.get("tools")], ensure_ascii=False))
