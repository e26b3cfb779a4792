"""The model server, and providers that talk to it with the real SDK."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic import SecretStr

from storage.models.anthropic.provider import AnthropicProvider
from tests.anthropic_server import AnthropicServer
from tests.anthropic_server.server import KEY, MODEL
from tests.integration.provider_faults import take_limits

Build = Callable[..., AnthropicProvider]


@pytest.fixture
async def server() -> AsyncIterator[AnthropicServer]:
    async with AnthropicServer() as running:
        yield running


@pytest.fixture
async def build(server: AnthropicServer) -> AsyncIterator[Build]:
    built: list[AnthropicProvider] = []

    def make(**options: Any) -> AnthropicProvider:
        limits = take_limits(options)
        defaults: dict[str, Any] = {"api_key": SecretStr(KEY), "model": MODEL, "base_url": server.url}
        built.append(AnthropicProvider(limits=limits, **{**defaults, **options}))
        return built[-1]

    yield make
    for provider in built:
        await provider.close()
        await provider.close()
