"""Models with the chat completions API as a ChatProvider: OpenAI, Gemini, Ollama, llama.cpp, vLLM and others.

The SDK is imported with the first request, in a thread (it takes over a second). Its own retries are off: they don't
cover a stream that breaks in the middle and have no deadline, so `complete` does all retrying itself.
"""

import asyncio
import importlib
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from core.answering.providers.retry import FIRST_BACKOFF_SECONDS, Secret, patiently
from core.domain.answer import Capabilities, ChatRequest, ChatResponse
from core.errors import (
    ProviderAuthError,
    ProviderBadRequest,
    ProviderChanged,
    ProviderConnectionError,
    ProviderError,
    ProviderTimeout,
)
from core.ports import CapabilityMemory
from storage.models.openai_compatible.errors import Server, to_provider_error
from storage.models.openai_compatible.messages import LENGTH_KEYS, Dialect, to_params
from storage.models.openai_compatible.probing import PROBE_TOKENS, Abilities, is_about_tools, probe
from storage.models.openai_compatible.replies import ReplyBuilder, estimate

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI
    from openai._types import Headers

CONNECT_SECONDS = 10.0


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
    def key(self) -> str:
        return self.api_key.get_secret_value().strip() if self.api_key else ""

    @property
    def server(self) -> Server:
        place = urlsplit(self.base_url).netloc.rpartition("@")[2] if self.base_url else ""
        return Server(name=f"the model server {place}" if place else "OpenAI", key_advice=self.key_advice)


class Connection:
    """One client, made when it is first used. `http_client` stays its opener's to close; None: one of our own."""

    def __init__(self, endpoint: Endpoint, stall_seconds: float, http_client: "httpx2.AsyncClient | None") -> None:
        self._endpoint = endpoint
        self._stall_seconds = stall_seconds
        self._http_client = http_client
        self._client: AsyncOpenAI | None = None

    async def open(self) -> "AsyncOpenAI":
        """Return the client. Raises ProviderAuthError if a required key is missing."""
        key = self._endpoint.key
        if not key and self._endpoint.base_url is None:
            raise ProviderAuthError(self._endpoint.server.no_key)
        if self._client is None:
            await asyncio.to_thread(importlib.import_module, "openai")
        if self._client is None:  # again: another turn may have opened it meanwhile
            self._client = self._build(key)
        return self._client

    async def close(self) -> None:
        """Safe to repeat."""
        client, self._client = self._client, None
        if client is not None and self._http_client is None:
            await client.close()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise errors of the SDK and of reading chunks as ProviderErrors; nothing else belongs inside."""
        import httpx2
        import openai

        foreign = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL)
        try:
            yield
        except (*foreign, ValueError, LookupError, AttributeError, TypeError) as error:
            raise to_provider_error(error, self._endpoint.server) from error

    @property
    def headers(self) -> "Headers":
        """The `extra_headers` of every request: without a key, none is sent, not even a dummy."""
        from openai import Omit

        return {} if self._endpoint.key else {"Authorization": Omit()}

    def _build(self, key: str) -> "AsyncOpenAI":
        import httpx2
        from openai import AsyncOpenAI

        return AsyncOpenAI(
            api_key=key or "none",
            base_url=self._endpoint.base_url,
            timeout=httpx2.Timeout(self._stall_seconds, connect=min(CONNECT_SECONDS, self._stall_seconds)),
            max_retries=0,
            http_client=self._http_client,
        )


logger = logging.getLogger(__name__)

T = TypeVar("T")

OPENAI_CONTEXT_TOKENS = 128_000  # assumed of OpenAI's models, whose API does not tell
# Assumed without a configured or reported window: the default of local servers.
DEFAULT_CONTEXT_TOKENS = 32_000
MOST_LESSONS = 6  # repeats of a request because of a parameter the server does not know; there are no more to unlearn
# Names of a model's window in /models: vLLM, OpenRouter, Groq, llama.cpp.
_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "n_ctx")


class OpenAICompatibleProvider:
    """ChatProvider over chat completions. Makes no connection before the first request.

    Args:
        endpoint: server, model and key.
        abilities: configured capabilities; the others are probed once and stored in `memory`.
        max_output_tokens: the longest answer.
        timeout_seconds: limit of a turn, including attempts and waits.
        stall_seconds: limit without a byte from the server.
        max_retries: attempts after the first; a turn whose text was already shown is not repeated.
        http_client: closed by its owner; None: an own one.
        backoff_seconds: the first wait between attempts; doubles each time. A `retry-after` header takes precedence.
    """

    name = "openai_compatible"

    def __init__(
        self,
        *,
        endpoint: Endpoint,
        memory: CapabilityMemory,
        abilities: Abilities,
        max_output_tokens: int,
        timeout_seconds: float,
        stall_seconds: float,
        max_retries: int,
        http_client: "httpx2.AsyncClient | None" = None,
        backoff_seconds: float = FIRST_BACKOFF_SECONDS,
    ) -> None:
        self._endpoint = endpoint
        self._memory = memory
        self._abilities = abilities
        self._max_output_tokens = max_output_tokens
        self._timeout_seconds = timeout_seconds
        self._max_retries = max_retries
        self._backoff_seconds = backoff_seconds
        self._connection = Connection(endpoint, stall_seconds, http_client)
        self._found: Capabilities | None = None
        self._learning = asyncio.Lock()
        own = endpoint.base_url is None
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

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        """One turn (see ChatProvider). Raises ProviderChanged where the model turns out to have no tools after all."""
        output = _TextOutput(on_text)
        until = asyncio.get_running_loop().time() + self._timeout_seconds
        try:
            async with asyncio.timeout_at(until):
                return await self._patiently(lambda: self._attempt(request, output), until, output)
        except TimeoutError as error:
            raise self._too_slow() from error
        except ProviderError as error:
            if request.tools and self._abilities.tools is None and is_about_tools(error):
                await self._forget_tools()
                raise ProviderChanged(f"The model {self._endpoint.model!r} has no tools: {error}") from error
            raise

    async def close(self) -> None:
        """Release connections; safe to repeat."""
        await self._connection.close()

    async def _patiently(self, attempt: Callable[[], Awaitable[T]], until: float, output: "_TextOutput") -> T:
        return await patiently(
            attempt,
            until=until,
            retries=self._max_retries,
            may_repeat=lambda: not output.shown,
            first_seconds=self._backoff_seconds,
        )

    async def _attempt(self, request: ChatRequest, output: "_TextOutput") -> ChatResponse:
        """One request read to its end, repeated in another dialect where the server does not know a parameter."""
        client = await self._connection.open()
        for lesson in range(MOST_LESSONS + 1):
            model = request.model or self._endpoint.model
            wanted = request.max_output_tokens or self._max_output_tokens
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

    async def _read(self, client: "AsyncOpenAI", params: Mapping[str, Any], output: "_TextOutput") -> ReplyBuilder:
        """All chunks; a stream that ends without a reason to stop was cut and is an error."""
        reply = ReplyBuilder()
        async with AsyncExitStack() as stack:
            with self._connection.errors():
                create: Any = client.chat.completions.create
                stream = await stack.enter_async_context(
                    await create(**params, stream=True, extra_headers=self._connection.headers)
                )
            while True:
                with self._connection.errors():
                    chunk = await anext(stream, None)
                    piece = reply.end() if chunk is None else reply.add(chunk)
                output.show(piece)
                if chunk is None:
                    break
        if reply.finish is None:
            raise ProviderConnectionError(
                f"The reply of {self._endpoint.server.name} broke off before its end. Try again."
            )
        return reply

    async def _probe(self) -> Capabilities:
        until = asyncio.get_running_loop().time() + self._timeout_seconds
        silent = _TextOutput(None)

        async def ask(params: Mapping[str, Any]) -> str:
            return await self._patiently(lambda: self._ask(params), until, silent)

        try:
            async with asyncio.timeout_at(until):
                found = await probe(ask, self._abilities, await self._window())
        except TimeoutError as error:
            raise self._too_slow() from error
        logger.info("the model %r was asked what it can do: %s", self._endpoint.model, found)
        return found

    async def _ask(self, params: Mapping[str, Any]) -> str:
        """Return the text of the reply to one small request that is not streamed."""
        client = await self._connection.open()
        create: Any = client.chat.completions.create
        for lesson in range(MOST_LESSONS + 1):
            sent = {"model": self._endpoint.model, **params}
            if self._dialect.length_key:
                sent[self._dialect.length_key] = PROBE_TOKENS
            try:
                with self._connection.errors():
                    reply = await create(**sent, extra_headers=self._connection.headers)
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
        client = await self._connection.open()
        try:
            with self._connection.errors():
                model = await client.models.retrieve(self._endpoint.model, extra_headers=self._connection.headers)
                about: Any = model.model_extra or {}
        except ProviderError as error:
            logger.info("the window of model %r is not known: %s", self._endpoint.model, error)
            return self._assumed_window
        told = {**(about.get("meta") or {}), **about}
        return next((told[key] for key in _WINDOW_KEYS if isinstance(told.get(key), int)), self._assumed_window)

    async def _forget_tools(self) -> None:
        self._found = replace(self.capabilities, tools=False)
        await self._memory.keep(self._key, self._found)

    def _too_slow(self) -> ProviderTimeout:
        name = self._endpoint.server.sentence_name
        return ProviderTimeout(f"{name} did not finish its answer within {self._timeout_seconds:g} seconds. Try again.")


class _TextOutput:
    """Hands text on, and knows whether a reader has seen any."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self._on_text = on_text
        self.shown = False

    def show(self, text: str) -> None:
        if text and self._on_text is not None:
            self.shown = True
            self._on_text(text)


def _estimated(params: Mapping[str, Any]) -> int:
    """Tokens of a prompt, about; pictures are left out of it."""
    texts = [message for message in params["messages"] if not isinstance(message.get("content"), list)]
    return estimate(json.dumps([texts, params.get("tools")], ensure_ascii=False))
