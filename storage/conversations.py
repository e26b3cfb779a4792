"""Conversations and their messages in SQL."""

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from core.domain.conversation import Conversation, Focus, Message, ThreadAddress
from core.domain.settings import ChannelAddress
from core.errors import InvalidState, NotFound
from storage.conversation_rows import conversation_values, focus_values, message_values, to_conversation, to_message
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
        found = await self._find(*_in(ChannelAddress.of(address)), col(ConversationRow.thread) == address.thread)
        return found[0] if found else None

    async def list_conversations(
        self,
        workspace: str,
        document_id: str | None = None,
        *,
        owner: str | None = None,
        channel: ChannelAddress | None = None,
    ) -> list[Conversation]:
        conditions = [col(ConversationRow.workspace) == workspace]
        if document_id is not None:
            conditions.append(_about(document_id))
        if owner is not None:
            conditions.append(col(ConversationRow.owner) == owner)
        if channel is not None:
            conditions += _in(channel)
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
        return await self._database.read(lambda session: [to_message(row) for row in session.scalars(query)])

    async def find_message(self, message_id: str) -> Message | None:
        row = await self._database.read(lambda session: session.get(MessageRow, message_id))
        return to_message(row) if row is not None else None

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
        return await self._database.read(lambda session: [to_conversation(row) for row in session.scalars(query)])


def _not_found(conversation_id: str) -> NotFound:
    return NotFound(f"There is no conversation {conversation_id!r}; `footnote conversations list` shows them")


def _in(channel: ChannelAddress) -> Sequence[ColumnElement[bool]]:
    return (
        col(ConversationRow.platform) == channel.platform,
        col(ConversationRow.workspace) == channel.workspace,
        col(ConversationRow.channel) == channel.channel,
    )


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
    session.add(ConversationRow(**conversation_values(conversation)))
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
        session.add(MessageRow(**message_values(message, conversation_id, sequence)))
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
    for name, value in focus_values(focus).items():
        setattr(row, name, value)
