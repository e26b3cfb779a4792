"""Conversations and their messages in memory."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from core.domain.conversation import ChannelAddress, Conversation, Focus, Message, ThreadAddress
from core.errors import InvalidState, NotFound
from storage.storable import to_storable, to_storable_value


class MemoryConversationRepository:
    """ConversationRepository that forgets everything with the process."""

    def __init__(self) -> None:
        self._conversations: dict[str, Conversation] = {}
        self._messages: dict[str, list[Message]] = {}  # of a conversation id, oldest first

    async def add(self, conversation: Conversation, messages: Sequence[Message] = ()) -> None:
        conversation = to_storable_value(conversation)
        if conversation.id in self._conversations or await self.find_by_address(conversation.address):
            raise InvalidState(
                f"There is a conversation {conversation.id!r}, or one at {conversation.address}, already; use that one"
            )
        self._conversations[conversation.id] = replace(conversation, message_count=0)
        self._messages[conversation.id] = []
        try:
            await self.append(conversation.id, messages)
        except InvalidState:
            await self.delete(conversation.id)
            raise

    async def get(self, conversation_id: str, workspace: str) -> Conversation:
        found = self._conversations.get(conversation_id)
        if found is None or found.address.workspace != workspace:
            raise _not_found(conversation_id)
        return found

    async def find_by_address(self, address: ThreadAddress) -> Conversation | None:
        wanted = to_storable_value(address)
        return next((found for found in self._conversations.values() if found.address == wanted), None)

    async def read(self, conversation_id: str, workspace: str) -> tuple[Conversation, list[Message]]:
        return await self.get(conversation_id, workspace), await self.list_messages(conversation_id)

    async def read_thread(self, address: ThreadAddress) -> tuple[Conversation, list[Message]] | None:
        found = await self.find_by_address(address)
        return (found, await self.list_messages(found.id)) if found is not None else None

    async def list_conversations(
        self,
        workspace: str,
        document_id: str | None = None,
        *,
        owner: str | None = None,
        channel: ChannelAddress | None = None,
    ) -> list[Conversation]:
        wanted, where = to_storable_value(owner), to_storable_value(channel)
        found = [
            conversation
            for conversation in self._conversations.values()
            if conversation.address.workspace == workspace
            and (document_id is None or self._is_about(conversation, document_id))
            and wanted in (None, conversation.owner)
            and where in (None, ChannelAddress.of(conversation.address))
        ]
        found.sort(key=lambda conversation: conversation.id)
        return sorted(found, key=lambda conversation: conversation.last_message_at, reverse=True)

    async def rename(self, conversation_id: str, title: str) -> None:
        self._conversations[conversation_id] = replace(self._require(conversation_id), title=to_storable(title))

    async def delete(self, conversation_id: str) -> None:
        self._conversations.pop(conversation_id, None)
        self._messages.pop(conversation_id, None)

    async def append(self, conversation_id: str, messages: Sequence[Message], *, focus: Focus | None = None) -> None:
        conversation = self._require(conversation_id)
        ids = [message.id for message in messages]
        stored = {message.id for own in self._messages.values() for message in own}
        if len(set(ids)) < len(ids) or stored.intersection(ids):
            raise InvalidState(
                f"One of the messages is in the conversation {conversation_id!r} already; give each an id of its own"
            )
        own = self._messages[conversation_id]
        own.extend(replace(to_storable_value(message), conversation_id=conversation_id) for message in messages)
        self._conversations[conversation_id] = replace(
            conversation,
            message_count=len(own),
            last_message_at=max([conversation.last_message_at, *(message.created_at for message in messages)]),
            focus=to_storable_value(focus) if focus is not None else conversation.focus,
        )

    async def list_messages(self, conversation_id: str) -> list[Message]:
        return list(self._messages.get(conversation_id, []))

    async def find_message(self, message_id: str) -> Message | None:
        wanted = to_storable(message_id)
        return next((found for own in self._messages.values() for found in own if found.id == wanted), None)

    async def remove_messages(self, conversation_id: str, message_ids: Collection[str]) -> None:
        gone = {to_storable(message_id) for message_id in message_ids}
        own = self._messages.get(conversation_id, [])
        own[:] = [message for message in own if message.id not in gone]
        if conversation := self._conversations.get(conversation_id):
            self._conversations[conversation_id] = replace(conversation, message_count=len(own))

    async def forget_document(self, document_id: str) -> int:
        concerned = [found for found in self._conversations.values() if self._is_about(found, document_id)]
        for conversation in concerned:
            self._conversations[conversation.id] = _without(conversation, document_id)
            own = self._messages[conversation.id]
            own[:] = [replace(message, stale=message.stale or _cites(message, document_id)) for message in own]
        return len(concerned)

    def every_message(self) -> list[tuple[Conversation, Message]]:
        """With its conversation, in the order of each (for the twins that keep what hangs on messages)."""
        return [(self._conversations[id], message) for id, own in self._messages.items() for message in own]

    def mark_stale(self, message_id: str, *, is_stale: bool) -> None:
        for own in self._messages.values():
            own[:] = [replace(item, stale=is_stale) if item.id == message_id else item for item in own]

    def _require(self, conversation_id: str) -> Conversation:
        if conversation_id not in self._conversations:
            raise _not_found(conversation_id)
        return self._conversations[conversation_id]

    def _is_about(self, conversation: Conversation, document_id: str) -> bool:
        focus = conversation.focus
        return (
            conversation.pinned_document_id == document_id
            or (focus is not None and focus.document_id == document_id)
            or any(_cites(message, document_id) for message in self._messages[conversation.id])
        )


def _not_found(conversation_id: str) -> NotFound:
    return NotFound(f"There is no conversation {conversation_id!r}; `footnote conversations list` shows them")


def _cites(message: Message, document_id: str) -> bool:
    return any(citation.document_id == document_id for citation in message.citations)


def _without(conversation: Conversation, document_id: str) -> Conversation:
    if conversation.pinned_document_id == document_id:
        conversation = replace(conversation, pinned_document_id=None)
    if conversation.focus is not None and conversation.focus.document_id == document_id:
        conversation = replace(conversation, focus=None)
    return conversation
