"""The model server, and providers that talk to it with the real SDK."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic import SecretStr

from storage.models.anthropic.provider import AnthropicProvider
from tests.anthropic_server import AnthropicServer
from tests.anthropic_server.server import KEY, MODEL

Build = Callable[..., AnthropicProvider]


@pytest.fixture
async def server() -> AsyncIterator[AnthropicServer]:
    async with AnthropicServer() as running:
        yield running


@pytest.fixture
async def build(server: AnthropicServer) -> AsyncIterator[Build]:
    built: list[AnthropicProvider] = []

    def make(**options: Any) -> AnthropicProvider:
        defaults: dict[str, Any] = {
            "api_key": SecretStr(KEY),
            "model": MODEL,
            "max_output_tokens": 1000,
            "timeout_seconds": 120.0,  # a busy machine is silent, too: tests of silence ask for less
            "stall_seconds": 60.0,
            "max_retries": 2,
            "base_url": server.url,
            "backoff_seconds": 0.01,
        }
        built.append(AnthropicProvider(**{**defaults, **options}))
        return built[-1]

    yield make
    for provider in built:
        await provider.close()
        await provider.close()
