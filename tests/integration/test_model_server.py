"""The model server refuses what the real API refuses, over the real SDK without our provider."""

from collections.abc import AsyncIterator
from typing import Any

import anthropic
import pytest

from tests.anthropic_server import AnthropicServer, Call, Cite, Fault, Reply, Say
from tests.anthropic_server.server import KEY, MODEL


@pytest.fixture
async def server() -> AsyncIterator[AnthropicServer]:
    async with AnthropicServer(max_tokens=8_000) as running:
        yield running


@pytest.fixture
async def client(server: AnthropicServer) -> AsyncIterator[anthropic.AsyncAnthropic]:
    client = anthropic.AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=0)
    async with client:
        yield client


def said(text: str = "Hi", role: str = "user") -> Any:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def called(*ids: str) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": name, "name": "search", "input": {}} for name in ids]
    return {"role": "assistant", "content": blocks}


def answered(*ids: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, **fields} for name in ids]}


def result(text: str = "One.", *, cited: bool = True, source: str = "s") -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    about = {"type": "search_result", "source": source, "title": "T", "content": content}
    return {**about, "citations": {"enabled": cited}}


def tool(**schema: Any) -> dict[str, Any]:
    return {"name": "search", "description": "d", "input_schema": {"type": "object", **schema}}


MARK = {"cache_control": {"type": "ephemeral"}}
USER_RESULTS = {"role": "user", "content": [result(), result(cited=False)]}
FIVE_MARKS = {"role": "user", "content": [{"type": "text", "text": "a", **MARK}] * 5}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"messages": []}, "at least one message"),
        ({"messages": [said(role="assistant")]}, 'must use the "user" role'),
        ({"messages": [said(role="tool")]}, "Unexpected role"),
        ({"messages": [said(" ")]}, "non-whitespace"),
        ({"messages": [{"role": "user", "content": []}]}, "non-empty content"),
        ({"messages": [said(), said("Well, ", "assistant")]}, "trailing whitespace"),
        ({"messages": [said(), called("t1")]}, "without `tool_result`"),
        ({"messages": [said(), called("t1", "t2"), answered("t1")]}, "without `tool_result`"),
        ({"messages": [said(), called("t1"), answered("t1", "t9")]}, "unexpected `tool_use_id`"),
        ({"messages": [answered("t1")]}, "unexpected `tool_use_id`"),
        ({"messages": [said(), called("t 1"), answered("t 1")]}, "should match pattern"),
        ({"messages": [said(), called("t1"), said(), answered("t1")]}, "must come first"),
        ({"messages": [said(), called("t1"), answered("t1", content=[result()], is_error=True)]}, "is_error"),
        ({"messages": [said(), called("t1"), answered("t1", content=[{"type": "tool_use"}])]}, "content types"),
        ({"messages": [USER_RESULTS]}, "same citations setting"),
        ({"messages": [FIVE_MARKS]}, "maximum of 4 blocks"),
        ({"tools": [tool(oneOf=[{}])]}, "oneOf, allOf, or anyOf"),
        ({"tools": [tool(), tool()]}, "must be unique"),
        ({"tools": [{**tool(), "name": "a b"}]}, "should match pattern"),
        ({"tool_choice": {"type": "any"}}, "while providing tools"),
        ({"system": [{"type": "text", "text": ""}]}, "system"),
        ({"extra_body": {"temperature": 0}}, "temperature"),
        ({"max_tokens": 9_000}, "the model's maximum"),
        ({"max_tokens": -1}, "greater than or equal to 0"),
        ({"messages": [said("word " * 200_000)]}, "prompt is too long"),
    ],
)
async def test_a_wrong_request_is_refused(client: anthropic.AsyncAnthropic, fields: dict[str, Any], words: str) -> None:
    asked: dict[str, Any] = {"model": MODEL, "max_tokens": 10, "messages": [said()], **fields}
    with pytest.raises(anthropic.BadRequestError, match=words):
        await client.messages.create(**asked)


async def test_an_unknown_model_is_not_found(client: anthropic.AsyncAnthropic) -> None:
    with pytest.raises(anthropic.NotFoundError):
        await client.messages.create(model="claude-nine", max_tokens=10, messages=[said()])
    with pytest.raises(anthropic.NotFoundError):
        await client.models.retrieve("claude-nine")


async def test_whole_replies_and_streamed_ones_are_the_same(
    server: AnthropicServer, client: anthropic.AsyncAnthropic
) -> None:
    asked: dict[str, Any] = {
        "model": MODEL,
        "max_tokens": 10,
        "messages": [{"role": "user", "content": [result("One.", source="a"), result("Two.", source="b")]}],
        "tools": [tool()],
    }
    reply = Reply.of(Say("So it is.", cites=(Cite("Two."),)), Call("search", {"query": "x"}, id="t1"))
    server.script(reply, reply)
    whole = await client.messages.create(**asked)
    async with client.messages.stream(**asked) as stream:
        streamed = await stream.get_final_message()
    assert [block.to_dict() for block in whole.content] == [block.to_dict() for block in streamed.content]
    assert whole.stop_reason == streamed.stop_reason == "tool_use"
    assert whole.content[0].to_dict()["citations"] == [
        {
            "type": "search_result_location",
            "source": "b",
            "title": "T",
            "cited_text": "Two.",
            "search_result_index": 1,
            "start_block_index": 0,
            "end_block_index": 1,
        }
    ]


async def test_tokens_are_counted_and_cached_ones_apart(client: anthropic.AsyncAnthropic) -> None:
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "word " * 50, **MARK}]}]
    counted = await client.messages.count_tokens(model=MODEL, messages=messages)
    first = await client.messages.create(model=MODEL, max_tokens=10, messages=messages)
    again = await client.messages.create(
        model=MODEL, max_tokens=10, messages=[*messages, said("Ok", "assistant"), said()]
    )
    assert first.usage.cache_creation_input_tokens == counted.input_tokens > 50
    assert (first.usage.input_tokens, first.usage.cache_read_input_tokens) == (0, 0)
    assert again.usage.cache_read_input_tokens == counted.input_tokens
    assert again.usage.input_tokens > 0


async def test_a_script_may_decide_on_the_request(server: AnthropicServer, client: anthropic.AsyncAnthropic) -> None:
    server.script(lambda body: Reply.of(f"{len(body['messages'])} turn"), lambda _: Fault(529))
    answer = await client.messages.create(model=MODEL, max_tokens=10, messages=[said()])
    assert answer.content[0].to_dict()["text"] == "1 turn"
    with pytest.raises(anthropic.OverloadedError):
        await client.messages.create(model=MODEL, max_tokens=10, messages=[said()])
