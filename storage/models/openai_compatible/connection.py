"""The connection to a model server by the SDK, which is imported with the first request, in a thread (it takes over a
second). What the SDK raises becomes ours here.
"""

import asyncio
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from core.answering.providers.retry import Secret
from core.errors import ProviderAuthError
from storage.models.openai_compatible.errors import Server, to_provider_error

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI
    from openai._types import Headers

CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is, and how people know of it.

    Args:
        model: used where a request names none.
        base_url: up to and without `/chat/completions`; None: OpenAI's own.
        api_key: None: none is sent, as local servers want it; OpenAI's own address needs one.
        key_advice: what to do about a key that is missing or refused, as a sentence.
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
        """Raises ProviderAuthError where a key is needed and there is none."""
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
        """Around calls into the SDK and the reading of chunks, and nothing else: what is raised becomes ours."""
        import httpx2
        import openai

        foreign = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL)
        try:
            yield
        except (*foreign, ValueError, LookupError, AttributeError, TypeError) as error:
            raise to_provider_error(error, self._endpoint.server) from error

    @property
    def headers(self) -> "Headers":
        """To be given with every request as `extra_headers`: without a key none is sent, not even a made-up one."""
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
