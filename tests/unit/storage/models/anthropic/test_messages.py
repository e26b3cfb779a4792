"""Requests in the vendor's form keep its rules."""

import itertools
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.chat import ChatMessage, ChatRequest, ChatRole, ToolChoice, ToolDefinition, ToolInvocation
from storage.models.anthropic.messages import to_params
from tests.anthropic_server.passages import SEARCH, calls, found, passage, results, user
from tests.anthropic_server.validation import MAX_BREAKPOINTS, validate

OTHER = ToolDefinition(name="get_page", description="Reads.", parameters={"type": "object", "properties": {}})


def params(*messages: ChatMessage, system: str = "Be brief.", **options: Any) -> dict[str, Any]:
    request = ChatRequest(system=system, messages=messages, **options)
    return dict(to_params(request, model="claude-opus-5-5", max_tokens=100))


def breakpoints(body: dict[str, Any]) -> int:
    return json.dumps(body).count("cache_control")


@st.composite
def histories(draw: st.DrawFn) -> list[ChatMessage]:
    """Turns as a context strategy gives them: a user first, every invocation answered by the next turn."""
    texts = st.sampled_from(["", "  ", "How?", "Nine. "])
    messages = [user("First.", draw(st.sampled_from([None, "Ann"])))]
    for turn in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(["user", "assistant", "tools"]))
        if kind == "user":
            messages.append(user(draw(texts)))
        elif kind == "assistant":
            messages.append(ChatMessage(role=ChatRole.ASSISTANT, text=draw(texts)))
        else:
            ids = [f"call {turn}/{n}" for n in range(draw(st.integers(1, 3)))]
            messages.append(calls(*(ToolInvocation(id=i, name="search", arguments={}) for i in ids), text=draw(texts)))
            failed = draw(st.booleans())
            messages.append(results(*(found(i, passage(), text=draw(texts), is_error=failed) for i in ids)))
    return [*messages, user("Last?")]


@given(histories(), st.sampled_from([(), (SEARCH,), (OTHER, SEARCH)]), st.sampled_from(["", "Be brief."]))
def test_any_history_is_a_request_the_api_takes(
    history: list[ChatMessage], tools: tuple[ToolDefinition, ...], system: str
) -> None:
    body = params(*history, tools=tools, system=system)
    validate(body)
    roles = [turn["role"] for turn in body["messages"]]
    assert all(one != two for one, two in itertools.pairwise(roles))
    assert 1 <= breakpoints(body) <= MAX_BREAKPOINTS


def test_breakpoints_stand_on_tools_system_and_the_last_two_user_turns() -> None:
    call = ToolInvocation(id="t1", name="search", arguments={})
    body = params(user("a"), calls(text="b"), user("c"), calls(call), results(found("t1")), tools=(OTHER, SEARCH))
    assert ["cache_control" in tool for tool in body["tools"]] == [False, True]
    assert "cache_control" in body["system"][0]
    assert ["cache_control" in turn["content"][-1] for turn in body["messages"]] == [False, False, True, False, True]


def test_without_tools_none_are_chosen_and_a_blank_system_is_left_out() -> None:
    body = params(user("a"), system=" ", tool_choice=ToolChoice.ANY)
    assert {"tools", "tool_choice", "system"}.isdisjoint(body)


@pytest.mark.parametrize(
    ("choice", "expected"), [(ToolChoice.AUTO, "auto"), (ToolChoice.ANY, "any"), (ToolChoice.NONE, "none")]
)
def test_the_choice_of_tools_is_passed_on(choice: ToolChoice, expected: str) -> None:
    assert params(user("a"), tools=(SEARCH,), tool_choice=choice)["tool_choice"] == {"type": expected}


def test_the_same_request_twice_is_the_same_bytes_and_leaves_native_content_alone() -> None:
    native = ({"type": "text", "text": "Nine."},)
    history = (user("a"), calls(native=native), user("b"))
    assert params(*history) == params(*history)
    assert native == ({"type": "text", "text": "Nine."},)


@pytest.mark.parametrize(
    "end", [{"type": "text", "text": "Well, "}, {"type": "thinking", "thinking": "?", "signature": "s"}]
)
def test_a_paused_turn_is_sent_back_as_the_last_without_white_space_behind(end: dict[str, str]) -> None:
    body = params(user("a"), calls(native=({"type": "text", "text": "So. "}, end)))
    validate(body)
    assert [block.get("text") for block in body["messages"][-1]["content"]] == ["So. ", end.get("text") and "Well,"]


def test_building_a_provider_does_not_import_the_sdk() -> None:
    code = (
        "import sys; from storage.models.anthropic.provider import AnthropicProvider as P, Limits as L; "
        "limits = L(max_output_tokens=1, timeout_seconds=1, stall_seconds=1, max_retries=0); "
        "P(api_key=None, model='m', limits=limits); "
        "print(sorted({'anthropic', 'httpx2'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_a_reply_by_a_schema_has_numbered_passages_and_no_citations() -> None:
    call = ToolInvocation(id="t1", name="search", arguments={})
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    body = params(user("a"), calls(call), results(found("t1", passage())), tools=(SEARCH,), output_schema=schema)
    validate(body)
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": schema}}
    (result,) = body["messages"][-1]["content"]
    assert [block["type"] for block in result["content"]] == ["text"]
    assert result["content"][0]["text"].startswith("[1] ") and "The gate opens at nine." in result["content"][0]["text"]
    assert "output_config" not in params(user("a"))
