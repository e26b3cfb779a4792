"""What every ChatProvider promises (core/ports), the ones over HTTP with their real SDKs at servers of ours."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
from pydantic import SecretStr

from core.answering.providers.extractive.provider import ExtractiveProvider
from core.answering.providers.fallback import Choice, FallbackProvider
from core.domain.chat import Capabilities, ToolInvocation
from core.domain.replies import ChatResponse, StopReason
from core.ports import ChatProvider
from storage.models.anthropic.provider import AnthropicProvider
from storage.models.openai_compatible.probing import Abilities
from storage.models.openai_compatible.provider import Endpoint, OpenAICompatibleProvider
from storage.models.vendor import Limits
from tests.anthropic_server import AnthropicServer
from tests.anthropic_server import script as anthropic_script
from tests.anthropic_server.passages import SEARCH, calls, found, passage, results, user
from tests.anthropic_server.server import KEY, MODEL
from tests.fakes import ManualClock, MemoryCapabilities
from tests.integration.anthropic_provider.requests import ask
from tests.openai_server import KEY as OPENAI_KEY
from tests.openai_server import MODEL as OPENAI_MODEL
from tests.openai_server import Call, Kind, OpenAIServer, Reply, Say
from tests.scripted import ScriptedProvider, says
from tests.scripted import calls as calling
from tests.unit.core.answering.providers.extractive.small_library import FirstSentences, WordJudge

ANSWER = "The gate opens at nine."
LIMITS = Limits(max_output_tokens=1000, timeout_seconds=120, stall_seconds=60, max_retries=0)
Maker = Callable[[AsyncExitStack], Awaitable[ChatProvider]]


async def scripted(stack: AsyncExitStack) -> ChatProvider:
    search = ToolInvocation(id="c1", name="search", arguments={"query": "gate"})
    return ScriptedProvider([calling(search), says(f"{ANSWER} [1]")])


async def extractive(stack: AsyncExitStack) -> ChatProvider:
    return ExtractiveProvider(ranker=FirstSentences(), judge=WordJudge(floor=0.95))


async def anthropic(stack: AsyncExitStack) -> ChatProvider:
    server = await stack.enter_async_context(AnthropicServer())
    search = anthropic_script.Call("search", {"query": "gate"})
    cited = anthropic_script.Say(ANSWER, cites=(anthropic_script.Cite(ANSWER),))
    server.script(anthropic_script.Reply.of(search), anthropic_script.Reply.of(cited))
    return AnthropicProvider(api_key=SecretStr(KEY), model=MODEL, limits=LIMITS, base_url=server.url)


async def openai_compatible(stack: AsyncExitStack) -> ChatProvider:
    return await _compatible(stack, Kind())


async def openai_compatible_without_tools(stack: AsyncExitStack) -> ChatProvider:
    return await _compatible(stack, Kind(tools=False, key=None))


async def fallback(stack: AsyncExitStack) -> ChatProvider:
    provider = await _compatible(stack, Kind())
    return FallbackProvider([Choice(label="mill", provider=provider)], ManualClock())


async def _compatible(stack: AsyncExitStack, kind: Kind) -> OpenAICompatibleProvider:
    server = await stack.enter_async_context(OpenAIServer(kind))
    cited = Reply.of(Say(ANSWER, cites=(ANSWER,)))
    server.script(*([Reply.of(Call("search", {"query": "gate"}))] if kind.tools else []), cited)
    key = SecretStr(OPENAI_KEY) if kind.key else None
    provider = OpenAICompatibleProvider(
        endpoint=Endpoint(model=OPENAI_MODEL, base_url=server.url, api_key=key, key_advice=""),
        memory=MemoryCapabilities(),
        abilities=Abilities(),
        limits=LIMITS,
    )
    await provider.learn()
    stack.push_async_callback(provider.close)
    return provider


PROVIDERS: dict[str, Maker] = {
    maker.__name__: maker
    for maker in (
        scripted,
        extractive,
        anthropic,
        openai_compatible,
        openai_compatible_without_tools,
        fallback,
    )
}


@pytest.fixture(params=PROVIDERS)
async def provider(request: pytest.FixtureRequest) -> AsyncIterator[ChatProvider]:
    async with AsyncExitStack() as stack:
        built = await PROVIDERS[request.param](stack)
        yield built
        await built.close()
        await built.close()  # safe to repeat


async def played(provider: ChatProvider, shown: list[str] | None = None) -> ChatResponse:
    """The answer to a question, after one search where the provider has tools."""
    listener = shown.append if shown is not None else None
    asked = user("What opens at nine, the gate?")
    if not provider.capabilities.tools:
        text = f'<passage number="1" title="Rules">\n{passage().text}\n</passage>\n\n{asked.text}'
        return await provider.complete(ask(user(text)), listener)
    first = await provider.complete(ask(asked, tools=(SEARCH,)))
    assert first.stop_reason is StopReason.TOOLS
    told = results(*(found(call.id, passage()) for call in first.tool_invocations))
    turn = calls(*first.tool_invocations, text=first.text, native=first.native)
    return await provider.complete(ask(asked, turn, told, tools=(SEARCH,)), listener)


async def test_a_question_its_search_and_its_answer(provider: ChatProvider) -> None:
    answer = await played(provider)
    assert ANSWER in answer.text and answer.tool_invocations == () and answer.stop_reason is StopReason.END


async def test_what_is_streamed_is_the_text_or_its_beginning(provider: ChatProvider) -> None:
    shown: list[str] = []
    answer = await played(provider, shown)
    assert answer.text.startswith("".join(shown))


async def test_support_is_claimed_for_a_passage_that_was_shown_in_the_way_it_says(provider: ChatProvider) -> None:
    answer = await played(provider)
    claims = [claim for segment in answer.segments for claim in segment.citations]
    if provider.capabilities.citations:
        assert {claim.passage_id for claim in claims} == {"p1"}
        assert all(passage().span.contains(claim.span) for claim in claims)
    else:
        assert claims == [] and "[1]" in answer.text


async def test_it_has_a_name_and_capabilities_that_fit_together(provider: ChatProvider) -> None:
    assert provider.name and isinstance(provider.capabilities, Capabilities)
    assert provider.capabilities.context_tokens > 0
    assert not (provider.capabilities.quotes_only and provider.capabilities.structured)


async def test_tokens_are_counted_and_cached_ones_are_part_of_the_input(provider: ChatProvider) -> None:
    usage = (await played(provider)).usage
    assert 0 <= usage.cache_read_tokens <= usage.input_tokens
    if provider.name not in ("scripted", "extractive"):  # the others cost something
        assert usage.input_tokens > 0 and usage.output_tokens > 0
