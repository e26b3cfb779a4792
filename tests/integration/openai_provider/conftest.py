"""Chat completions servers of several kinds, and providers that talk to them with the real SDK."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic import SecretStr

from storage.models.openai_compatible.probing import Abilities
from storage.models.openai_compatible.provider import Endpoint, OpenAICompatibleProvider
from tests.fakes import MemoryCapabilities
from tests.integration.provider_faults import take_limits
from tests.openai_server import KEY, MODEL, Kind, OpenAIServer

Build = Callable[..., OpenAICompatibleProvider]
ALL = Abilities(tools=True, structured=True, images=True, context_tokens=16_384)


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> Kind:
    return getattr(request, "param", Kind())


@pytest.fixture
async def server(kind: Kind) -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer(kind) as running:
        yield running


@pytest.fixture
async def build(server: OpenAIServer) -> AsyncIterator[Build]:
    built: list[OpenAICompatibleProvider] = []

    def make(
        *, base_url: str | None = server.url, key: str | None = KEY, model: str = MODEL, **options: Any
    ) -> OpenAICompatibleProvider:
        secret = SecretStr(key) if key else None
        endpoint = Endpoint(model=model, base_url=base_url, api_key=secret, key_advice="Set MILL_KEY.")
        limits = take_limits(options)
        defaults: dict[str, Any] = {"memory": MemoryCapabilities(), "abilities": ALL}
        built.append(OpenAICompatibleProvider(endpoint=endpoint, limits=limits, **{**defaults, **options}))
        return built[-1]

    yield make
    for provider in built:
        await provider.close()
        await provider.close()
