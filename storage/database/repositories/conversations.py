"""Conversations and their messages in SQL."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from core.domain.conversation import ChannelAddress, Conversation, Focus, Message, ThreadAddress
from core.errors import InvalidState, NotFound
from storage.database import Database
from storage.database.repositories.conversation_rows import (
    conversation_values,
    focus_values,
    message_values,
    to_conversation,
    to_message,
)
from storage.database.tables import ConversationRow, FootnoteTable, MessageDocumentRow, MessageRow
from storage.database.tables.column_types import UtcTime

T = TypeVar("T")

_CONVERSATION, _MESSAGE, _CITED = (
    FootnoteTable.metadata.tables[name] for name in ("conversation", "message", "message_document")
)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)

# Made once: what SQLAlchemy has compiled it keeps with the statement.
_BY_ID = select(_CONVERSATION).where(
    _CONVERSATION.c.id == bindparam("wanted"), _CONVERSATION.c.workspace == bindparam("workspace")
)
_BY_ADDRESS = select(_CONVERSATION).where(
    *(_CONVERSATION.c[name] == bindparam(name) for name in ("platform", "workspace", "channel", "thread"))
)
_MESSAGES = select(_MESSAGE).where(_MESSAGE.c.conversation_id == bindparam("wanted")).order_by(_MESSAGE.c.sequence)
_MESSAGE_BY_ID = select(_MESSAGE).where(_MESSAGE.c.id == bindparam("wanted"))
_NEWEST = bindparam("newest", type_=UtcTime)
# Locks the row against other processes' writes, so that the numbers of messages are given once.
_GROW = (
    update(_CONVERSATION)
    .where(_CONVERSATION.c.id == bindparam("wanted"))
    .values(
        message_count=_CONVERSATION.c.message_count + bindparam("added"),
        last_message_at=case(
            (_CONVERSATION.c.last_message_at < _NEWEST, _NEWEST), else_=_CONVERSATION.c.last_message_at
        ),
    )
    .returning(_CONVERSATION.c.message_count)
)
_LAST_SEQUENCE = select(func.max(_MESSAGE.c.sequence)).where(_MESSAGE.c.conversation_id == bindparam("wanted"))
_REMOVE_MESSAGES = delete(_MESSAGE).where(
    _MESSAGE.c.conversation_id == bindparam("wanted"), _MESSAGE.c.id.in_(bindparam("ids", expanding=True))
)
_SHRINK = (
    update(_CONVERSATION)
    .where(_CONVERSATION.c.id == bindparam("wanted"))
    .values(message_count=_CONVERSATION.c.message_count - bindparam("removed"))
)
_ADD, _ADD_MESSAGES, _ADD_CITED = insert(_CONVERSATION), insert(_MESSAGE), insert(_CITED)
_SET_FOCUS = (
    update(_CONVERSATION)
    .where(_CONVERSATION.c.id == bindparam("wanted"))
    .values({name: bindparam(f"new_{name}", type_=_CONVERSATION.c[name].type) for name in focus_values(None)})
)


class SqlConversationRepository:
    """ConversationRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, conversation: Conversation, messages: Sequence[Message] = ()) -> None:
        def work(connection: Connection) -> None:
            _add(connection, conversation)
            _append(connection, conversation.id, messages)

        await self._database.write_rows(work)

    async def get(self, conversation_id: str, workspace: str) -> Conversation:
        found = await self._list(_BY_ID, to_conversation, {"wanted": conversation_id, "workspace": workspace})
        if not found:
            raise _not_found(conversation_id)
        return found[0]

    async def find_by_address(self, address: ThreadAddress) -> Conversation | None:
        found = await self._list(_BY_ADDRESS, to_conversation, _address_values(address))
        return found[0] if found else None

    async def read(self, conversation_id: str, workspace: str) -> tuple[Conversation, list[Message]]:
        found = await self._read(_BY_ID, {"wanted": conversation_id, "workspace": workspace})
        if found is None:
            raise _not_found(conversation_id)
        return found

    async def read_thread(self, address: ThreadAddress) -> tuple[Conversation, list[Message]] | None:
        return await self._read(_BY_ADDRESS, _address_values(address))

    async def list_conversations(
        self,
        workspace: str,
        document_id: str | None = None,
        *,
        owner: str | None = None,
        channel: ChannelAddress | None = None,
    ) -> list[Conversation]:
        query = select(_CONVERSATION).where(_CONVERSATION.c.workspace == workspace)
        if document_id is not None:
            query = query.where(_about(document_id))
        if owner is not None:
            query = query.where(_CONVERSATION.c.owner == owner)
        if channel is not None:
            query = query.where(
                _CONVERSATION.c.platform == channel.platform,
                _CONVERSATION.c.workspace == channel.workspace,
                _CONVERSATION.c.channel == channel.channel,
            )
        query = query.order_by(_CONVERSATION.c.last_message_at.desc(), _CONVERSATION.c.id)
        return await self._list(query, to_conversation)

    async def rename(self, conversation_id: str, title: str) -> None:
        def work(session: Session) -> None:
            _require(session, conversation_id).title = title

        await self._database.write(work)

    async def delete(self, conversation_id: str) -> None:
        change = delete(ConversationRow).where(col(ConversationRow.id) == conversation_id)
        await self._database.write(lambda session: session.execute(change))

    async def append(self, conversation_id: str, messages: Sequence[Message], *, focus: Focus | None = None) -> None:
        def work(connection: Connection) -> None:
            _append(connection, conversation_id, messages)
            if focus is not None:
                _set_focus(connection, conversation_id, focus)

        await self._database.write_rows(work)

    async def list_messages(self, conversation_id: str) -> list[Message]:
        return await self._list(_MESSAGES, to_message, {"wanted": conversation_id})

    async def find_message(self, message_id: str) -> Message | None:
        found = await self._list(_MESSAGE_BY_ID, to_message, {"wanted": message_id})
        return found[0] if found else None

    async def remove_messages(self, conversation_id: str, message_ids: Collection[str]) -> None:
        def work(connection: Connection) -> None:
            wanted = {"wanted": conversation_id, "ids": [*message_ids]}
            gone = connection.execute(_REMOVE_MESSAGES, wanted).rowcount
            connection.execute(_SHRINK, {"wanted": conversation_id, "removed": gone})

        await self._database.write_rows(work)

    async def forget_document(self, document_id: str) -> int:
        return await self._database.write(lambda session: _forget_document(session, document_id))

    async def _list(
        self, query: Select[Any], to_value: Callable[[Any], T], wanted: Mapping[str, Any] | None = None
    ) -> list[T]:
        return await self._database.read_rows(
            lambda connection: [to_value(row) for row in connection.execute(query, wanted)]
        )

    async def _read(self, query: Select[Any], wanted: Mapping[str, Any]) -> tuple[Conversation, list[Message]] | None:
        def work(connection: Connection) -> tuple[Conversation, list[Message]] | None:
            row = connection.execute(query, wanted).one_or_none()
            if row is None:
                return None
            messages = connection.execute(_MESSAGES, {"wanted": row.id})
            return to_conversation(row), [to_message(message) for message in messages]

        return await self._database.read_rows(work)


def _address_values(address: ThreadAddress) -> dict[str, str]:
    return {
        "platform": address.platform,
        "workspace": address.workspace,
        "channel": address.channel,
        "thread": address.thread,
    }


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


def _add(connection: Connection, conversation: Conversation) -> None:
    try:
        connection.execute(_ADD, conversation_values(conversation))
    except IntegrityError as error:
        raise InvalidState(
            f"There is a conversation {conversation.id!r}, or one at {conversation.address}, already; use that one"
        ) from error


def _append(connection: Connection, conversation_id: str, messages: Sequence[Message]) -> None:
    newest = max((message.created_at for message in messages), default=_LONG_AGO)
    grown = connection.execute(_GROW, {"wanted": conversation_id, "added": len(messages), "newest": newest})
    if grown.scalar_one_or_none() is None:
        raise _not_found(conversation_id)
    # Not counted: messages may have been taken out.
    first = (connection.execute(_LAST_SEQUENCE, {"wanted": conversation_id}).scalar() or 0) + 1
    rows = [message_values(message, conversation_id, first + place) for place, message in enumerate(messages)]
    cited = [
        {"message_id": message.id, "document_id": document_id}
        for message in messages
        for document_id in {citation.document_id for citation in message.citations}
    ]
    try:
        if rows:
            connection.execute(_ADD_MESSAGES, rows if len(rows) > 1 else rows[0])
    except IntegrityError as error:
        raise InvalidState(
            f"One of the messages is in the conversation {conversation_id!r} already; give each an id of its own"
        ) from error
    if cited:
        connection.execute(_ADD_CITED, cited)


def _set_focus(connection: Connection, conversation_id: str, focus: Focus | None) -> None:
    values = {f"new_{name}": value for name, value in focus_values(focus).items()}
    if not connection.execute(_SET_FOCUS, {"wanted": conversation_id, **values}).rowcount:
        raise _not_found(conversation_id)


def _forget_document(session: Session, document_id: str) -> int:
    concerned = session.scalars(select(ConversationRow).where(_about(document_id)).with_for_update()).all()
    for row in concerned:
        if row.pinned_document_id == document_id:
            row.pinned_document_id = None
        if row.focus_document_id == document_id:
            for name, value in focus_values(None).items():
                setattr(row, name, value)
    citing = select(col(MessageDocumentRow.message_id)).where(col(MessageDocumentRow.document_id) == document_id)
    session.execute(update(MessageRow).where(col(MessageRow.id).in_(citing)).values(stale=True))
    return len(concerned)
