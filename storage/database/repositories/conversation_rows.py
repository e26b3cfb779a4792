"""Conversations and messages from their rows."""

from collections.abc import Mapping
from typing import Any

from core.domain.answer import Citation, Provenance, Reference, ReferenceType
from core.domain.chat import ToolInvocation
from core.domain.conversation import Conversation, Focus, Message, Outcome, Role, ToolCallRecord
from core.domain.incoming import ThreadAddress
from core.domain.passages import Span
from core.domain.replies import Usage

ADDRESS = ("platform", "workspace", "channel", "thread")  # columns of a conversation
SAME = ("id", "title", "owner", "created_at", "last_message_at", "pinned_document_id")  # as in a Conversation
FOCUS = ("document_id", "document", "title", "touched_at", "sections")  # behind "focus_"


def to_conversation(row: Any) -> Conversation:
    same = {name: getattr(row, name) for name in (*SAME, "message_count")}
    return Conversation(**same, address=to_address(row), focus=_to_focus(row))


def to_address(row: Any) -> ThreadAddress:
    """Return the address in a row with the columns ADDRESS."""
    return ThreadAddress(**{name: getattr(row, name) for name in ADDRESS})


def _to_focus(row: Any) -> Focus | None:
    if row.focus_document_id is None:
        return None
    values = {name: getattr(row, f"focus_{name}") for name in FOCUS}
    return Focus(**{**values, "sections": tuple(row.focus_sections)})


def to_message(row: Any) -> Message:
    values = {
        **row._mapping,
        "role": Role(row.role),
        "references": tuple(map(_to_reference, row.references)),
        "citations": tuple(map(_to_citation, row.citations)),
        "tool_calls": tuple(map(_to_tool_call, row.tool_calls)),
        "outcome": _to_outcome(row.outcome) if row.outcome else None,
    }
    del values["sequence"]
    return Message(**values)


def _to_reference(values: Mapping[str, Any]) -> Reference:
    return Reference(**{**values, "type": ReferenceType(values["type"]), "near": tuple(values.get("near", ()))})


def _to_citation(values: Mapping[str, Any]) -> Citation:
    return Citation(**{**values, "heading_path": tuple(values["heading_path"]), "span": Span(**values["span"])})


def _to_outcome(values: Mapping[str, Any]) -> Outcome:
    """Return the outcome in the JSON of a row; rows of earlier versions lack some fields."""
    lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list) and name != "data"}
    spans = tuple(Span(**span) for span in values["unsupported"])
    given = values.get("rests_on")
    rests_on = Provenance(**{name: tuple(ids) for name, ids in given.items()}) if given else None
    usage = Usage(**values["usage"])
    return Outcome(**{**values, **lists, "unsupported": spans, "usage": usage, "rests_on": rests_on})


def _to_tool_call(values: Mapping[str, Any]) -> ToolCallRecord:
    return ToolCallRecord(
        invocation=ToolInvocation(id=values["id"], name=values["name"], arguments=values["arguments"]),
        text=values["text"],
        passage_ids=tuple(values["passage_ids"]),
        is_error=values["is_error"],
        said=values.get("said", ""),  # calls of earlier versions have none
    )
