"""Conversations and messages as rows of their tables, and back."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from core.domain.answer import Citation, Reference, ReferenceType, ToolInvocation, Usage
from core.domain.conversation import Conversation, Focus, Message, Outcome, Role, ThreadAddress, ToolCallRecord
from core.domain.corpus import Span

ADDRESS = ("platform", "workspace", "channel", "thread")  # columns of a conversation


def conversation_values(conversation: Conversation) -> dict[str, Any]:
    """A conversation without its messages."""
    return {
        "id": conversation.id,
        "platform": conversation.address.platform,
        "workspace": conversation.address.workspace,
        "channel": conversation.address.channel,
        "thread": conversation.address.thread,
        "title": conversation.title,
        "owner": conversation.owner,
        "created_at": conversation.created_at,
        "last_message_at": conversation.last_message_at,
        "message_count": 0,
        "pinned_document_id": conversation.pinned_document_id,
        **focus_values(conversation.focus),
    }


def focus_values(focus: Focus | None) -> dict[str, Any]:
    return {
        "focus_document_id": focus.document_id if focus else None,
        "focus_document": focus.document if focus else None,
        "focus_title": focus.title if focus else None,
        "focus_touched_at": focus.touched_at if focus else None,
        "focus_sections": list(focus.sections) if focus else [],
    }


def message_values(message: Message, conversation_id: str, sequence: int) -> dict[str, Any]:
    return {
        "id": message.id,
        "conversation_id": conversation_id,
        "sequence": sequence,
        "role": message.role.value,
        "author": message.author,
        "status": message.status,
        "job_id": message.job_id,
        "stale": message.stale,
        "created_at": message.created_at,
        "content": message.content,
        "references": [asdict(reference) for reference in message.references],
        "citations": [asdict(citation) for citation in message.citations],
        "tool_calls": [_tool_call_values(call) for call in message.tool_calls],
        "outcome": asdict(message.outcome) if message.outcome else None,
    }


def to_conversation(row: Any) -> Conversation:
    return Conversation(
        id=row.id,
        address=to_address(row),
        title=row.title,
        owner=row.owner,
        created_at=row.created_at,
        last_message_at=row.last_message_at,
        focus=_to_focus(row),
        pinned_document_id=row.pinned_document_id,
        message_count=row.message_count,
    )


def to_address(row: Any) -> ThreadAddress:
    """Of a row with the columns ADDRESS."""
    return ThreadAddress(**{name: getattr(row, name) for name in ADDRESS})


def _to_focus(row: Any) -> Focus | None:
    if row.focus_document_id is None or row.focus_touched_at is None:
        return None
    return Focus(
        document_id=row.focus_document_id,
        document=row.focus_document or "",
        title=row.focus_title or "",
        sections=tuple(row.focus_sections),
        touched_at=row.focus_touched_at,
    )


def to_message(row: Any) -> Message:
    return Message(
        id=row.id,
        conversation_id=row.conversation_id,
        role=Role(row.role),
        author=row.author,
        content=row.content,
        created_at=row.created_at,
        references=tuple(map(_to_reference, row.references)),
        citations=tuple(map(_to_citation, row.citations)),
        tool_calls=tuple(map(_to_tool_call, row.tool_calls)),
        job_id=row.job_id,
        status=row.status,
        stale=row.stale,
        outcome=_to_outcome(row.outcome) if row.outcome else None,
    )


def _to_reference(values: Mapping[str, Any]) -> Reference:
    return Reference(**{**values, "type": ReferenceType(values["type"]), "near": tuple(values.get("near", ()))})


def _to_citation(values: Mapping[str, Any]) -> Citation:
    return Citation(
        **{**values, "heading_path": tuple(values["heading_path"]), "span": Span(**values["span"])},
    )


def _to_outcome(values: Mapping[str, Any]) -> Outcome:
    return Outcome(
        partial=values["partial"],
        grounded=values["grounded"],
        unsupported=tuple(Span(**span) for span in values["unsupported"]),
        choices=tuple(values["choices"]),
        suggestions=tuple(values["suggestions"]),
        usage=Usage(**values["usage"]),
        model=values["model"],
        note_on=tuple(values.get("note_on", ())),
        response_type=values.get("response_type", "general"),
        data=values.get("data"),
        data_sources=tuple(values.get("data_sources", ())),
        data_gaps=tuple(values.get("data_gaps", ())),
        read_to=values.get("read_to", {}),
    )


def _tool_call_values(call: ToolCallRecord) -> dict[str, object]:
    return {
        "id": call.invocation.id,
        "name": call.invocation.name,
        "arguments": dict(call.invocation.arguments),
        "text": call.text,
        "passage_ids": call.passage_ids,
        "is_error": call.is_error,
    }


def _to_tool_call(values: Mapping[str, Any]) -> ToolCallRecord:
    return ToolCallRecord(
        invocation=ToolInvocation(id=values["id"], name=values["name"], arguments=values["arguments"]),
        text=values["text"],
        passage_ids=tuple(values["passage_ids"]),
        is_error=values["is_error"],
    )
