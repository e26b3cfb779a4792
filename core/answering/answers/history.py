"""A run's tool calls in the history: texts cut to a bound, passages by id, to be reread within scope."""

import uuid
from collections.abc import Sequence
from datetime import datetime

from core.domain.answer import ChatMessage, ChatRole, Draft, ToolResult
from core.domain.conversation import Message, Role, ToolCallRecord

# Characters of a tool's own text (counts, titles, hints); a repeated call gives the rest.
MAX_RESULT_CHARACTERS = 2_000


def messages_of_draft(draft: Draft, conversation_id: str, now: datetime) -> list[Message]:
    """One stored message for each round of tool calls of the run, in order."""
    results = {
        result.invocation_id: result
        for turn in draft.new_messages
        if turn.role is ChatRole.TOOL_RESULT
        for result in turn.tool_results
    }
    rounds = [turn for turn in draft.new_messages if turn.tool_invocations]
    return [_message(turn, results, conversation_id, now) for turn in rounds]


def _message(turn: ChatMessage, results: dict[str, ToolResult], conversation_id: str, now: datetime) -> Message:
    calls = [_record(turn, index, results) for index in range(len(turn.tool_invocations))]
    return Message(
        id=uuid.uuid4().hex,
        conversation_id=conversation_id,
        role=Role.TOOL_RESULT,
        author="tools",
        content=_summary(calls),
        created_at=now,
        tool_calls=tuple(calls),
    )


def _record(turn: ChatMessage, index: int, results: dict[str, ToolResult]) -> ToolCallRecord:
    invocation = turn.tool_invocations[index]
    result = results[invocation.id]
    return ToolCallRecord(
        invocation=invocation,
        text=result.text[:MAX_RESULT_CHARACTERS],
        passage_ids=tuple(item.source.passage.id for item in result.passages),
        is_error=result.is_error,
    )


def _summary(calls: Sequence[ToolCallRecord]) -> str:
    return "; ".join(f"{call.invocation.name}: {len(call.passage_ids)} passages" for call in calls)
