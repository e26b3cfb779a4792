"""JSON shapes of conversations, shared by the command line, the API and exports.

The design fixes their keys: add keys, never rename them.
"""

from collections.abc import Mapping, Sequence

from core.domain.conversation import Conversation, Focus, Message
from core.serializers.objects import Json, citation_json, reference_json, time_json


def conversation_json(conversation: Conversation, messages: Sequence[Message] | None = None) -> Json:
    """A conversation as listed; with `messages`, as shown."""
    return {
        "id": conversation.id,
        "title": conversation.title,
        "thread": str(conversation.address),
        "owner": conversation.owner,
        "focus": _focus_json(conversation.focus),
        "message_count": conversation.message_count,
        "created_at": time_json(conversation.created_at),
        "last_message_at": time_json(conversation.last_message_at),
        **({"messages": [message_json(message) for message in messages]} if messages is not None else {}),
    }


def message_json(message: Message) -> Json:
    return {
        "id": message.id,
        "role": message.role.value,
        "author": message.author,
        "content": message.content,
        "created_at": time_json(message.created_at),
        "references": [reference_json(reference) for reference in message.references],
        "citations": [citation_json(citation) for citation in message.citations],
        "tool_calls": [
            {
                "tool": call.invocation.name,
                "arguments": dict(call.invocation.arguments),
                "result": call.text,
                "passages": list(call.passage_ids),
                "error": call.is_error,
            }
            for call in message.tool_calls
        ],
        "stale": message.stale,
        **({"note_on": list(message.outcome.note_on)} if message.is_note and message.outcome else {}),
    }


def _focus_json(focus: Focus | None) -> Mapping[str, object] | None:
    if focus is None:
        return None
    return {"document": focus.document, "title": focus.title, "sections": list(focus.sections)}
