"""Conversations and their messages in SQL."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from core.domain.audit import Audit
from core.domain.conversation import Conversation, Focus, Message, Role, ToolCallRecord
from core.domain.corpus import Document
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.errors import InvalidState, NotFound
from storage.database import Commit, Database
from storage.database.column_types import UtcTime
from storage.database.repositories import audit as noted
from storage.database.repositories import redaction
from storage.database.repositories.conversation_rows import ADDRESS, FOCUS, SAME, to_conversation, to_message
from storage.database.repositories.inbox_rows import remove_thread_posts
from storage.database.tables import TABLES

T = TypeVar("T")


_CONVERSATION, _MESSAGE, _CITED = (TABLES[name] for name in ("conversation", "message", "message_document"))
_LONG_AGO = datetime.min.replace(tzinfo=UTC)

# Built once: SQLAlchemy keeps the compiled form with the statement.
_BY_ID = select(_CONVERSATION).where(
    _CONVERSATION.c.id == bindparam("wanted"), _CONVERSATION.c.workspace == bindparam("workspace")
)
_BY_ADDRESS = select(_CONVERSATION).where(*(_CONVERSATION.c[name] == bindparam(name) for name in ADDRESS))
_MESSAGES = select(_MESSAGE).where(_MESSAGE.c.conversation_id == bindparam("wanted")).order_by(_MESSAGE.c.sequence)
_BY_MESSAGE = select(_CONVERSATION).where(
    _CONVERSATION.c.id
    == select(_MESSAGE.c.conversation_id).where(_MESSAGE.c.id == bindparam("wanted")).scalar_subquery()
)
_MESSAGE_BY_ID = select(_MESSAGE).where(_MESSAGE.c.id == bindparam("wanted"))
_NEWEST = bindparam("newest", type_=UtcTime)
# Locks the row against other processes' writes, so that no number of a message is used twice.
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
_REMOVE_MESSAGES = (
    delete(_MESSAGE)
    .where(_MESSAGE.c.conversation_id == bindparam("wanted"), _MESSAGE.c.id.in_(bindparam("ids", expanding=True)))
    .returning(_MESSAGE.c.role)
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
    .values({f"focus_{name}": bindparam(f"new_{name}", type_=_CONVERSATION.c[f"focus_{name}"].type) for name in FOCUS})
)


class SqlConversationRepository:
    """ConversationRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, conversation: Conversation, messages: Sequence[Message] = ()) -> None:
        def work(connection: Connection) -> None:
            _add(connection, conversation)
            _append(connection, conversation.id, messages)

        await self._database.write(work)

    async def get(self, conversation_id: str, workspace: str) -> Conversation:
        found = await self._list(_BY_ID, to_conversation, {"wanted": conversation_id, "workspace": workspace})
        if not found:
            raise _not_found(conversation_id)
        return found[0]

    async def find_by_address(self, address: ThreadAddress) -> Conversation | None:
        found = await self._list(_BY_ADDRESS, to_conversation, asdict(address))
        return found[0] if found else None

    async def find_by_message(self, message_id: str) -> Conversation | None:
        found = await self._list(_BY_MESSAGE, to_conversation, {"wanted": message_id})
        return found[0] if found else None

    async def read(self, conversation_id: str, workspace: str) -> tuple[Conversation, list[Message]]:
        found = await self._read(_BY_ID, {"wanted": conversation_id, "workspace": workspace})
        if found is None:
            raise _not_found(conversation_id)
        return found

    async def read_thread(self, address: ThreadAddress) -> tuple[Conversation, list[Message]] | None:
        return await self._read(_BY_ADDRESS, asdict(address))

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
            query = query.where(*(_CONVERSATION.c[name] == value for name, value in asdict(channel).items()))
        query = query.order_by(_CONVERSATION.c.last_message_at.desc(), _CONVERSATION.c.id)
        return await self._list(query, to_conversation)

    async def rename(self, conversation_id: str, title: str) -> None:
        change = update(_CONVERSATION).where(_CONVERSATION.c.id == conversation_id).values(title=title)
        if not await self._database.change(change):
            raise _not_found(conversation_id)

    async def delete(self, conversation_id: str, *, audit: Audit = None) -> None:
        def work(connection: Connection) -> None:
            gone = delete(_CONVERSATION).where(_CONVERSATION.c.id == conversation_id).returning(*_CONVERSATION.c)
            for row in connection.execute(gone).all():
                remove_thread_posts(connection, to_conversation(row).address)
                noted.write_note(connection, audit)

        await self._database.write(work, Commit.DURABLE)

    async def append(self, conversation_id: str, messages: Sequence[Message], *, focus: Focus | None = None) -> None:
        def work(connection: Connection) -> None:
            _append(connection, conversation_id, messages)
            if focus is not None:
                _set_focus(connection, conversation_id, focus)

        await self._database.write(work)

    async def list_messages(self, conversation_id: str) -> list[Message]:
        return await self._list(_MESSAGES, to_message, {"wanted": conversation_id})

    async def find_message(self, message_id: str) -> Message | None:
        found = await self._list(_MESSAGE_BY_ID, to_message, {"wanted": message_id})
        return found[0] if found else None

    async def remove_messages(self, conversation_id: str, message_ids: Collection[str]) -> None:
        def work(connection: Connection) -> None:
            wanted = {"wanted": conversation_id, "ids": [*message_ids]}
            gone = connection.execute(_REMOVE_MESSAGES, wanted).scalars().all()
            spoken = sum(role != Role.TOOL_RESULT.value for role in gone)
            connection.execute(_SHRINK, {"wanted": conversation_id, "removed": spoken})

        await self._database.write(work)

    async def count_about(self, documents: Sequence[Document]) -> int:
        return await self._database.read(lambda connection: redaction.count_about(connection, documents))

    async def _list(
        self, query: Select[Any], to_value: Callable[[Any], T], wanted: Mapping[str, Any] | None = None
    ) -> list[T]:
        return [to_value(row) for row in await self._database.rows(query, wanted)]

    async def _read(self, query: Select[Any], wanted: Mapping[str, Any]) -> tuple[Conversation, list[Message]] | None:
        def work(connection: Connection) -> tuple[Conversation, list[Message]] | None:
            row = connection.execute(query, wanted).one_or_none()
            if row is None:
                return None
            messages = connection.execute(_MESSAGES, {"wanted": row.id})
            return to_conversation(row), [to_message(message) for message in messages]

        return await self._database.read(work)


def _not_found(conversation_id: str) -> NotFound:
    return NotFound(f"There is no conversation {conversation_id!r}; `footnote conversations list` shows them")


def _about(document_id: str) -> ColumnElement[bool]:
    """Return the condition that a conversation is pinned to the document, focused on it or citing it."""
    citing = (
        select(_MESSAGE.c.conversation_id)
        .join(_CITED, _CITED.c.message_id == _MESSAGE.c.id)
        .where(_CITED.c.document_id == document_id)
    )
    return or_(
        _CONVERSATION.c.pinned_document_id == document_id,
        _CONVERSATION.c.focus_document_id == document_id,
        _CONVERSATION.c.id.in_(citing),
    )


def _add(connection: Connection, conversation: Conversation) -> None:
    try:
        connection.execute(_ADD, _conversation_values(conversation))
    except IntegrityError as error:
        raise InvalidState(
            f"There is a conversation {conversation.id!r}, or one at {conversation.address}, already; use that one"
        ) from error


def _count_spoken(messages: Iterable[Message]) -> int:
    """Count the messages of people and the bot, without results of tools."""
    return sum(message.role is not Role.TOOL_RESULT for message in messages)


def _append(connection: Connection, conversation_id: str, messages: Sequence[Message]) -> None:
    newest = max((message.created_at for message in messages), default=_LONG_AGO)
    grown = connection.execute(_GROW, {"wanted": conversation_id, "added": _count_spoken(messages), "newest": newest})
    if grown.scalar_one_or_none() is None:
        raise _not_found(conversation_id)
    # The highest number, not the count: messages may have been removed.
    first = (connection.execute(_LAST_SEQUENCE, {"wanted": conversation_id}).scalar() or 0) + 1
    rows = [_message_values(message, conversation_id, first + place) for place, message in enumerate(messages)]
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
    values = {f"new_{name}": value for name, value in _focus_values(focus).items()}
    if not connection.execute(_SET_FOCUS, {"wanted": conversation_id, **values}).rowcount:
        raise _not_found(conversation_id)


def _conversation_values(conversation: Conversation) -> dict[str, Any]:
    """Return the row of a conversation without messages."""
    return {
        **{name: getattr(conversation, name) for name in SAME},
        **asdict(conversation.address),
        "message_count": 0,
        **{f"focus_{name}": value for name, value in _focus_values(conversation.focus).items()},
    }


def _focus_values(focus: Focus | None) -> dict[str, Any]:
    return asdict(focus) if focus else dict.fromkeys(FOCUS) | {"sections": []}


def _message_values(message: Message, conversation_id: str, sequence: int) -> dict[str, Any]:
    same = ("id", "author", "status", "job_id", "stale", "created_at", "content")
    return {
        **{name: getattr(message, name) for name in same},
        "conversation_id": conversation_id,
        "sequence": sequence,
        "role": message.role.value,
        "references": [asdict(reference) for reference in message.references],
        "citations": [asdict(citation) for citation in message.citations],
        "tool_calls": [_tool_call_values(call) for call in message.tool_calls],
        "outcome": asdict(message.outcome) if message.outcome else None,
    }


def _tool_call_values(call: ToolCallRecord) -> dict[str, object]:
    return {
        "id": call.invocation.id,
        "name": call.invocation.name,
        "arguments": dict(call.invocation.arguments),
        "text": call.text,
        "passage_ids": call.passage_ids,
        "is_error": call.is_error,
        "said": call.said,
    }
