"""The chat completions server refuses what real ones refuse, over the real SDK without our provider."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest

from tests.openai_server import KEY, MODEL, OpenAIServer, Reply

TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
USER = {"role": "user", "content": "Hi"}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
OPEN_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
PICTURE = [{"type": "image_url", "image_url": {"url": "data:,"}}]


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as running:
        yield running


@pytest.fixture
async def client(server: OpenAIServer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(api_key=KEY, base_url=server.url, max_retries=0) as client:
        yield client


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"messages": []}, "too short"),
        ({"messages": [{"role": "oracle", "content": "x"}]}, "Supported values"),
        ({"messages": [{"role": "user", "content": ""}]}, "must not be empty"),
        ({"messages": [USER, CALLED]}, "did not have response messages"),
        ({"messages": [USER, {"role": "tool", "tool_call_id": "c1", "content": "x"}]}, "preceding message"),
        ({"messages": [USER, CALLED, {"role": "tool", "tool_call_id": "c1", "content": PICTURE}]}, "only text"),
        ({"messages": [{"role": "system", "content": PICTURE}]}, "only allowed for messages with role 'user'"),
        ({"messages": [USER, {**CALLED, "tool_calls": [{**CALL, "id": "c" * 41}]}]}, "string too long"),
        ({"tool_choice": "auto"}, "only allowed when 'tools'"),
        ({"tools": []}, "too short"),
        ({"tools": [TOOL], "max_completion_tokens": 5}, "Use 'max_tokens' instead"),
        ({"temperature": 1}, "Unrecognized request argument"),
        ({"stream_options": {"include_usage": True}}, "only allowed when 'stream'"),
        ({"messages": [{"role": "user", "content": "word " * 20_000}]}, "maximum context length"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"strict": True, "schema": OPEN_SCHEMA}}},
            "additionalProperties",
        ),
    ],
)
async def test_a_wrong_request_is_refused(client: openai.AsyncOpenAI, fields: dict[str, Any], words: str) -> None:
    asked: dict[str, Any] = {"model": MODEL, "messages": [USER], **fields}
    with pytest.raises(openai.BadRequestError, match=words):
        await client.chat.completions.create(**asked)


async def test_keys_and_models_are_known_or_not(server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        await client.chat.completions.create(model="mill-9", messages=[USER])  # type: ignore[list-item]
    async with openai.AsyncOpenAI(api_key="wrong", base_url=server.url, max_retries=0) as stranger:
        with pytest.raises(openai.AuthenticationError):
            await stranger.models.retrieve(MODEL)


async def test_what_began_an_earlier_request_is_cached(server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    server.script(Reply.of("One."), Reply.of("Two."))
    long: dict[str, Any] = {"role": "user", "content": "word " * 50}
    told = []
    for messages in ([long], [long, {"role": "assistant", "content": "One."}, long]):
        create: Any = client.chat.completions.create
        stream = await create(model=MODEL, messages=messages, stream=True, stream_options={"include_usage": True})
        told += [chunk.usage async for chunk in stream if chunk.usage]
    assert told[0].prompt_tokens_details.cached_tokens == 0
    assert told[1].prompt_tokens_details.cached_tokens == told[0].prompt_tokens > 60
