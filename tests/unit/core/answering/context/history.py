"""Histories for tests of context strategies."""

from collections.abc import Sequence

from core.domain.chat import ChatMessage, ToolInvocation
from core.domain.conversation import Message, Role, ToolCallRecord
from tests.builders import build_message

A, B = "local/handbook/a.md", "local/handbook/b.md"


def asked(text: str, author: str = "ada") -> Message:
    return build_message(f"u-{text}", text, author=author)


def answered(text: str, **fields: object) -> Message:
    return build_message(f"a-{text}", text, role=Role.ASSISTANT, author="footnote", **fields)


def tools(id: str, *passage_ids: str, text: str = "found", is_error: bool = False) -> Message:
    call = ToolCallRecord(
        invocation=ToolInvocation(id=id, name="search", arguments={"query": id}),
        text=text,
        passage_ids=passage_ids,
        is_error=is_error,
    )
    return build_message(f"t-{id}", "", role=Role.TOOL_RESULT, author="tools", tool_calls=(call,))


def passage(document: str, page: int = 1) -> str:
    return f"{document}@r1#{page}:0"


def turns_of(count: int, words: int = 1) -> list[Message]:
    """`count` questions, each with a lookup of document A and an answer of so many words."""
    return [
        message
        for number in range(1, count + 1)
        for message in (
            asked(f"Question {number}?"),
            tools(f"c{number}", passage(A)),
            answered(f"Answer {number}. {'more ' * (words - 1)}".strip()),
        )
    ]


def passages(turns: Sequence[ChatMessage]) -> list[tuple[int, str]]:
    return [
        (item.number, item.source.passage.text)
        for turn in turns
        for result in turn.tool_results
        for item in result.passages
    ]


def texts(turns: Sequence[ChatMessage]) -> list[str]:
    """What was said, without turns of tools."""
    return [turn.text for turn in turns if turn.text]
