"""What a model can do is found out once, by small requests."""

import pytest

from core.errors import ProviderAuthError, ProviderChanged, ProviderConnectionError, ProviderOverloaded
from storage.models.openai_compatible.probing import Abilities
from tests.anthropic_server.passages import SEARCH
from tests.fakes import MemoryCapabilities
from tests.integration.anthropic_provider.requests import ask
from tests.integration.openai_provider.conftest import Build
from tests.openai_server import MODEL, Fault, Kind, OpenAIServer

UNKNOWN = Abilities()


@pytest.mark.parametrize(
    ("kind", "tools", "structured", "images"),
    [
        (Kind(), True, True, True),
        (Kind(tools=False), False, True, True),
        (Kind(structured=False), True, False, True),
        (Kind(images=False), True, True, False),
        (Kind(blind=True), True, True, False),
        (Kind(length_key="max_completion_tokens", window=None), True, True, True),
    ],
    indirect=["kind"],
)
async def test_a_model_is_asked_what_it_can_do(
    server: OpenAIServer, build: Build, tools: bool, structured: bool, images: bool
) -> None:
    found = await build(abilities=UNKNOWN).learn()
    assert (found.tools, found.structured, found.images) == (tools, structured, images)
    assert found.context_tokens == (server.kind.window or 32_000)
    assert not found.citations and server.requests == []


async def test_it_is_asked_once_and_remembered_beyond_the_process(server: OpenAIServer, build: Build) -> None:
    memory = MemoryCapabilities()
    first = build(abilities=UNKNOWN, memory=memory)
    assert await first.learn() == await first.learn() == first.capabilities
    asked = len(server.probes)
    assert asked == 3
    assert (await build(abilities=UNKNOWN, memory=memory).learn()).images
    assert len(server.probes) == asked


async def test_what_is_configured_is_not_asked(server: OpenAIServer, build: Build) -> None:
    known = Abilities(tools=False, structured=False, context_tokens=5_000)
    found = await build(abilities=known).learn()
    assert (found.tools, found.structured, found.images, found.context_tokens) == (False, False, True, 5_000)
    assert len(server.probes) == 1
    complete = build(abilities=Abilities(tools=True, structured=True, images=False))
    assert (await complete.learn()).tools and len(server.probes) == 1


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(401), ProviderAuthError),
        (Fault(503), ProviderOverloaded),
        (Fault(0), ProviderConnectionError),
    ],
)
async def test_trouble_is_no_finding(server: OpenAIServer, build: Build, fault: Fault, error: type[Exception]) -> None:
    memory = MemoryCapabilities()
    server.down = fault
    with pytest.raises(error):
        await build(abilities=UNKNOWN, memory=memory).learn()
    assert await memory.find(f"{server.url} {MODEL}") is None
    server.down = None
    assert (await build(abilities=UNKNOWN, memory=memory).learn()).tools


async def test_a_check_asks_anew_and_says_what_to_do(server: OpenAIServer, build: Build) -> None:
    memory = MemoryCapabilities()
    provider = build(abilities=UNKNOWN, memory=memory, max_retries=0)
    await provider.check()
    await provider.check()
    assert len(server.probes) == 6
    server.down = Fault(401)
    with pytest.raises(ProviderAuthError, match=r"Set MILL_KEY\."):
        await provider.check()


@pytest.mark.parametrize("kind", [Kind(tools=False)], indirect=True)
async def test_a_model_that_loses_its_tools_is_known_to_have_none_from_then_on(
    server: OpenAIServer, build: Build
) -> None:
    memory = MemoryCapabilities()
    provider = build(abilities=Abilities(structured=True, images=True), memory=memory)
    with pytest.raises(ProviderChanged, match="has no tools"):
        await provider.complete(ask(tools=(SEARCH,)))
    assert not provider.capabilities.tools
    assert (await memory.find(f"{server.url} {MODEL}")) == provider.capabilities
