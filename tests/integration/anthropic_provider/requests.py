"""Requests as the agent loop sends them."""

from typing import Any

from core.domain.chat import ChatMessage, ChatRequest, ToolInvocation
from tests.anthropic_server.passages import SEARCH, calls, found, results, user


def ask(*messages: ChatMessage, **options: Any) -> ChatRequest:
    return ChatRequest(system="Answer from passages.", messages=messages or (user("When?"),), **options)


def searched(*items: Any, **options: Any) -> ChatRequest:
    """A question whose search has come back with passages."""
    call = ToolInvocation(id="toolu_1", name="search", arguments={"query": "gate"})
    history = (user("When does the gate open?"), calls(call), results(found("toolu_1", *items)))
    return ask(*history, tools=(SEARCH,), **options)
