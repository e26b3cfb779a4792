"""Conversations and their messages in SQL."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from core.domain.answer import Citation, Reference, ReferenceType
from core.domain.chat import ToolInvocation, Usage
from core.domain.conversation import Conversation, Focus, Message, Outcome, Role, ThreadAddress, ToolCallRecord
from core.domain.corpus import Span
from core.errors import InvalidState, NotFound
from storage.database import Database
from storage.tables import ConversationRow, MessageDocumentRow, MessageRow


class SqlConversationRepository:
    """ConversationRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, conversation: Conversation) -> None:
        await self._database.write(lambda session: _add(session, conversation))

    async def get(self, conversation_id: str, workspace: str) -> Conversation:
        found = await self._find(
            col(ConversationRow.id) == conversation_id, col(ConversationRow.workspace) == workspace
        )
        if not found:
            raise _not_found(conversation_id)
        return found[0]

    async def find_by_address(self, address: ThreadAddress) -> Conversation | None:
        found = await self._find(
            col(ConversationRow.platform) == address.platform,
            col(ConversationRow.workspace) == address.workspace,
            col(ConversationRow.channel) == address.channel,
            col(ConversationRow.thread) == address.thread,
        )
        return found[0] if found else None

    async def list_conversations(self, workspace: str, document_id: str | None = None) -> list[Conversation]:
        conditions = [col(ConversationRow.workspace) == workspace]
        if document_id is not None:
            conditions.append(_about(document_id))
        return await self._find(*conditions)

    async def rename(self, conversation_id: str, title: str) -> None:
        def work(session: Session) -> None:
            _require(session, conversation_id).title = title

        await self._database.write(work)

    async def set_focus(self, conversation_id: str, focus: Focus | None) -> None:
        await self._database.write(lambda session: _set_focus(_require(session, conversation_id), focus))

    async def delete(self, conversation_id: str) -> None:
        change = delete(ConversationRow).where(col(ConversationRow.id) == conversation_id)
        await self._database.write(lambda session: session.execute(change))

    async def append(self, conversation_id: str, messages: Sequence[Message]) -> None:
        await self._database.write(lambda session: _append(session, conversation_id, messages))

    async def list_messages(self, conversation_id: str) -> list[Message]:
        query = (
            select(MessageRow)
            .where(col(MessageRow.conversation_id) == conversation_id)
            .order_by(col(MessageRow.sequence))
        )
        return await self._database.read(lambda session: [_to_message(row) for row in session.scalars(query)])

    async def find_message(self, message_id: str) -> Message | None:
        row = await self._database.read(lambda session: session.get(MessageRow, message_id))
        return _to_message(row) if row is not None else None

    async def remove_messages(self, conversation_id: str, message_ids: Collection[str]) -> None:
        await self._database.write(lambda session: _remove_messages(session, conversation_id, message_ids))

    async def forget_document(self, document_id: str) -> int:
        return await self._database.write(lambda session: _forget_document(session, document_id))

    async def _find(self, *conditions: ColumnElement[bool]) -> list[Conversation]:
        """Most recently used first."""
        query = (
            select(ConversationRow)
            .where(*conditions)
            .order_by(col(ConversationRow.last_message_at).desc(), col(ConversationRow.id))
        )
        return await self._database.read(lambda session: [_to_conversation(row) for row in session.scalars(query)])


def _not_found(conversation_id: str) -> NotFound:
    return NotFound(f"There is no conversation {conversation_id!r}; `footnote conversations list` shows them")


def _about(document_id: str) -> ColumnElement[bool]:
    """The condition that a conversation is pinned to the document, focused on it or citing it."""
    citing = (
        select(col(MessageRow.conversation_id))
        .join(MessageDocumentRow, col(MessageDocumentRow.message_id) == col(MessageRow.id))
        .where(col(MessageDocumentRow.document_id) == document_id)
    )
    return or_(
        col(ConversationRow.pinned_document_id) == document_id,
        col(ConversationRow.focus_document_id) == document_id,
        col(ConversationRow.id).in_(citing),
    )


def _require(session: Session, conversation_id: str) -> ConversationRow:
    """The row, locked against other processes' writes (SQLite's writer holds the whole database anyway)."""
    row = session.get(ConversationRow, conversation_id, with_for_update=True)
    if row is None:
        raise _not_found(conversation_id)
    return row


def _add(session: Session, conversation: Conversation) -> None:
    session.add(_to_conversation_row(conversation))
    try:
        session.flush()
    except IntegrityError as error:
        raise InvalidState(
            f"There is a conversation {conversation.id!r}, or one at {conversation.address}, already; use that one"
        ) from error


def _append(session: Session, conversation_id: str, messages: Sequence[Message]) -> None:
    row = _require(session, conversation_id)
    last = select(func.max(col(MessageRow.sequence))).where(col(MessageRow.conversation_id) == conversation_id)
    for sequence, message in enumerate(messages, start=(session.scalar(last) or 0) + 1):
        row.message_count += 1
        row.last_message_at = max(row.last_message_at, message.created_at)
        session.add(_to_message_row(message, conversation_id, sequence))
    try:
        session.flush()
    except IntegrityError as error:
        raise InvalidState(
            f"One of the messages is in the conversation {conversation_id!r} already; give each an id of its own"
        ) from error
    session.add_all(
        MessageDocumentRow(message_id=message.id, document_id=document_id)
        for message in messages
        for document_id in {citation.document_id for citation in message.citations}
    )


def _remove_messages(session: Session, conversation_id: str, message_ids: Collection[str]) -> None:
    meant = col(MessageRow.conversation_id) == conversation_id, col(MessageRow.id).in_(message_ids)
    gone = session.execute(delete(MessageRow).where(*meant).returning(col(MessageRow.id))).all()
    if gone:
        _require(session, conversation_id).message_count -= len(gone)


def _forget_document(session: Session, document_id: str) -> int:
    concerned = session.scalars(select(ConversationRow).where(_about(document_id)).with_for_update()).all()
    for row in concerned:
        if row.pinned_document_id == document_id:
            row.pinned_document_id = None
        if row.focus_document_id == document_id:
            _set_focus(row, None)
    citing = select(col(MessageDocumentRow.message_id)).where(col(MessageDocumentRow.document_id) == document_id)
    session.execute(update(MessageRow).where(col(MessageRow.id).in_(citing)).values(stale=True))
    return len(concerned)


def _set_focus(row: ConversationRow, focus: Focus | None) -> None:
    row.focus_document_id = focus.document_id if focus else None
    row.focus_document = focus.document if focus else None
    row.focus_title = focus.title if focus else None
    row.focus_touched_at = focus.touched_at if focus else None
    row.focus_sections = list(focus.sections) if focus else []


def _to_conversation_row(conversation: Conversation) -> ConversationRow:
    row = ConversationRow(
        id=conversation.id,
        platform=conversation.address.platform,
        workspace=conversation.address.workspace,
        channel=conversation.address.channel,
        thread=conversation.address.thread,
        title=conversation.title,
        owner=conversation.owner,
        created_at=conversation.created_at,
        last_message_at=conversation.last_message_at,
        pinned_document_id=conversation.pinned_document_id,
        focus_sections=[],
    )
    _set_focus(row, conversation.focus)
    return row


def _to_conversation(row: ConversationRow) -> Conversation:
    return Conversation(
        id=row.id,
        address=ThreadAddress(platform=row.platform, workspace=row.workspace, channel=row.channel, thread=row.thread),
        title=row.title,
        owner=row.owner,
        created_at=row.created_at,
        last_message_at=row.last_message_at,
        focus=_to_focus(row),
        pinned_document_id=row.pinned_document_id,
        message_count=row.message_count,
    )


def _to_focus(row: ConversationRow) -> Focus | None:
    if row.focus_document_id is None or row.focus_touched_at is None:
        return None
    return Focus(
        document_id=row.focus_document_id,
        document=row.focus_document or "",
        title=row.focus_title or "",
        sections=tuple(row.focus_sections),
        touched_at=row.focus_touched_at,
    )


def _to_message_row(message: Message, conversation_id: str, sequence: int) -> MessageRow:
    return MessageRow(
        id=message.id,
        conversation_id=conversation_id,
        sequence=sequence,
        role=message.role.value,
        author=message.author,
        status=message.status,
        job_id=message.job_id,
        stale=message.stale,
        created_at=message.created_at,
        content=message.content,
        references=[asdict(reference) for reference in message.references],
        citations=[asdict(citation) for citation in message.citations],
        tool_calls=[_tool_call_values(call) for call in message.tool_calls],
        outcome=asdict(message.outcome) if message.outcome else None,
    )


def _to_message(row: MessageRow) -> Message:
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
    return Reference(**{**values, "type": ReferenceType(values["type"])})


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
