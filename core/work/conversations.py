"""Use cases of conversations: open one for a thread, list, show, rename, delete."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from datetime import datetime

from core.domain.audit import AuditNote, Deed
from core.domain.conversation import Conversation, Message
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.errors import BadInput, NotFound
from core.ports import Clock, ConversationRepository
from core.text.words import shorten
from core.work.history import TITLE_LENGTH, ThreadHistory, title_from

RETENTION = "retention"  # who deletes in the audit log, when a workspace's time is over


class Conversations(ThreadHistory):
    """Adds the management of whole conversations to the history of threads."""

    def __init__(
        self,
        repository: ConversationRepository,
        clock: Clock,
        after_delete: Callable[[ThreadAddress], Awaitable[None]] | None = None,
    ) -> None:
        """`after_delete` is called with the thread of a deleted conversation, to delete its other data."""
        super().__init__(repository, clock)
        self.list_conversations = repository.list_conversations
        self._after_delete = after_delete

    async def open(self, message: IncomingMessage, pinned_document_id: str | None = None) -> Conversation:
        """Return the conversation of a message: the one it names, its thread's, or a new one titled by the question."""
        if message.conversation_id:
            return await self._repository.get(message.conversation_id, message.address.workspace)
        found = await self._repository.find_by_address(message.address)
        if found is None:
            title = title_from(message.text)
            found = await self.create(message, title=title, pinned_document_id=pinned_document_id)
        return found

    async def create(
        self, message: IncomingMessage, *, title: str = "", pinned_document_id: str | None = None
    ) -> Conversation:
        """Store a new conversation at the message's address. Raises InvalidState if the thread has one."""
        conversation = self._new(message, title, pinned_document_id)
        await self._repository.add(conversation)
        return conversation

    async def find(self, address: ThreadAddress) -> Conversation | None:
        """Return the conversation of a thread, or None."""
        return await self._repository.find_by_address(address)

    async def show(self, conversation_id: str, workspace: str) -> tuple[Conversation, list[Message]]:
        """Return it with all its messages, oldest first. Raises NotFound for an id of another workspace."""
        return await self._repository.read(conversation_id, workspace)

    async def message(self, message_id: str, workspace: str) -> tuple[Conversation, Message]:
        """Return a message with its conversation. Raises NotFound for an unknown id, or one of another workspace."""
        found = await self._repository.find_message(message_id)
        gone = NotFound(f"There is no message {message_id!r} here: it may have been deleted.")
        if found is None:
            raise gone
        try:
            return await self._repository.get(found.conversation_id, workspace), found
        except NotFound:  # don't reveal conversations of other workspaces
            raise gone from None

    async def signed_message(self, message_id: str) -> tuple[Conversation, Message]:
        """Return a message of any workspace with its conversation, whose address the caller's signature must name.

        Raises NotFound for an unknown id.
        """
        found, conversation = await asyncio.gather(
            self._repository.find_message(message_id), self._repository.find_by_message(message_id)
        )
        if found is None or conversation is None:
            raise NotFound("The answer of this link was deleted.")
        return conversation, found

    async def rename(self, conversation_id: str, workspace: str, title: str) -> Conversation:
        """Set the title, cut to a line. Raises BadInput for a blank title."""
        conversation = await self._repository.get(conversation_id, workspace)
        title = shorten(title, TITLE_LENGTH)
        if not title:
            raise BadInput("A conversation's title can't be empty. Enter at least one letter.")
        await self._repository.rename(conversation_id, title)
        return replace(conversation, title=title)

    async def delete(self, conversation_id: str, workspace: str, *, by: str = "") -> None:
        """Delete it with its messages; `by`: the person who does. Raises NotFound for an id of another workspace."""
        conversation = await self._repository.get(conversation_id, workspace)
        about = f"{conversation_id} at {conversation.address}"
        note = AuditNote(workspace=workspace, actor=by, deed=Deed.CONVERSATION_DELETED, about=about)
        await self._repository.delete(conversation_id, audit=note if by else None)
        if self._after_delete is not None:
            await self._after_delete(conversation.address)

    async def delete_unused(self, workspace: str, before: datetime) -> int:
        """Delete the conversations of a workspace whose last message is older; return their number."""
        found = await self.list_conversations(workspace)
        old = [item for item in found if item.last_message_at < before]
        for item in old:
            await self.delete(item.id, workspace, by=RETENTION)
        return len(old)

    async def forget(self, conversation: Conversation, message_ids: Collection[str]) -> None:
        """Remove messages from the history; unknown ids are ignored."""
        await self._repository.remove_messages(conversation.id, message_ids)
