"""Deletion of a question or a whole thread: it isn't answered any longer, and removed from the history."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from core.answering.answers.stored import StoredIds, stored_ids
from core.domain.conversation import Conversation, Message, Role
from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress
from core.domain.service import WITHDRAWN, InboxEntry, PostRef
from core.errors import NotFound
from core.knowledge.attachments import Attachments
from core.ports.service import InboxStore
from core.work.conversations import Conversations

# An answer that is being posted ends within seconds; one of another process hears of it with its next beat.
PATIENCE_SECONDS = 15.0
LOOK_SECONDS = 0.05
MOST_OPEN = 1_000  # entries of a thread that are looked through for open ones


class Derived(Protocol):
    """Knowledge made from messages, which goes with them."""

    async def forget_message(self, message_key: str) -> None: ...

    async def forget_thread(self, address: ThreadAddress) -> None: ...

    async def forget_channel(self, channel: ChannelAddress) -> None: ...

    async def sweep(self) -> int:
        """Delete all that lost its message."""


class Forgetting:
    """`stop` is Worker.withdraw, which ends this process's work on it at once."""

    def __init__(
        self,
        *,
        inbox: InboxStore,
        conversations: Conversations,
        stop: Callable[[str], None],
        attachments: Attachments | None = None,
        derived: Sequence[Derived] = (),
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._inbox = inbox
        self._conversations = conversations
        self._stop = stop
        self._attachments = attachments
        self._derived = tuple(derived)
        self._patience = patience_seconds

    async def forget_message(self, message_key: str) -> tuple[PostRef, ...]:
        """Delete a question with its answer; return the posts to delete, the same ones after a repeat.

        Open work ends without a post, and is awaited, as a post may be on its way. A conversation without another
        question is deleted, too, because its title is the question. Unknown keys return nothing. Raises StorageError.
        """
        for derived in self._derived:
            await derived.forget_message(message_key)
        if not await self._inbox.list_versions(message_key):
            return ()  # most deleted messages were no questions: no write
        await self._withdraw([message_key])
        versions = await self._inbox.list_versions(message_key)
        await forget_turns(self._conversations, [entry.incoming for entry in versions])
        await self._inbox.forget(message_key)
        for address in {entry.address for entry in versions}:
            await self._drop_if_unused(address)
        for derived in self._derived:
            await derived.sweep()
        return tuple(dict.fromkeys(entry.post_ref for entry in versions if entry.post_ref is not None))

    async def forget_thread(self, address: ThreadAddress) -> None:
        """Delete the conversation of a removed thread, with its files; an unknown thread is ignored.

        Open work in it ends without a post. Raises StorageError.
        """
        await self._withdraw([entry.message_key for entry in await self._open_in(address)])
        if self._attachments is not None:
            await self._attachments.forget(address)
        conversation = await self._conversations.find(address)
        if conversation is not None:
            await self._conversations.delete(conversation.id, address.workspace)
        for derived in self._derived:
            await derived.forget_thread(address)

    async def forget_channel(self, channel: ChannelAddress) -> None:
        """Delete the threads of a removed channel; private answers stay with their askers.

        Raises StorageError.
        """
        for conversation in await self._conversations.list_conversations(channel.workspace, channel=channel):
            if conversation.address.private_to is None:
                try:
                    await self.forget_thread(conversation.address)
                except NotFound:
                    continue  # the event of its thread was faster
        for derived in self._derived:
            await derived.forget_channel(channel)

    async def leave(self, workspace: str, is_there: Callable[[IncomingMessage], bool]) -> None:
        """End the open work of a server or team that the bot was removed from, without a post; threads stay."""
        entries = await self._inbox.list_open(workspace)
        await self._withdraw([entry.message_key for entry in entries if is_there(entry.incoming)])

    async def _drop_if_unused(self, address: ThreadAddress) -> None:
        conversation = await self._conversations.find(address)
        if conversation is None or await self._open_in(address):
            return
        _, history = await self._conversations.show(conversation.id, address.workspace)
        if not any(message.role is Role.ASSISTANT for message in history):  # earlier messages of people are read again
            await self._conversations.delete(conversation.id, address.workspace)

    async def _open_in(self, address: ThreadAddress) -> list[InboxEntry]:
        entries = await self._inbox.recent(address.workspace, address=address, limit=MOST_OPEN)
        return [entry for entry in entries if not entry.status.is_final]

    async def _withdraw(self, message_keys: Sequence[str]) -> None:
        """Have all that is open of messages end silently, and wait for it, but not for ever."""
        keys = list(dict.fromkeys(message_keys))
        for key in keys:
            if await self._inbox.cancel(key, WITHDRAWN):
                self._stop(key)
        for _ in range(round(self._patience / LOOK_SECONDS)):
            if not [entry for key in keys for entry in await self._inbox.find_open(key)]:
                return
            await asyncio.sleep(LOOK_SECONDS)


async def forget_turns(conversations: Conversations, questions: Sequence[IncomingMessage]) -> None:
    """Remove questions and their answers from the history; unknown ones are ignored."""
    for question in questions:
        conversation = await _conversation_of(conversations, question)
        if conversation is not None:
            _, history = await conversations.show(conversation.id, conversation.address.workspace)
            if gone := _turn_of(history, stored_ids(question)):
                await conversations.forget(conversation, gone)


async def _conversation_of(conversations: Conversations, question: IncomingMessage) -> Conversation | None:
    if question.conversation_id is None:
        return await conversations.find(question.address)
    try:
        conversation, _ = await conversations.show(question.conversation_id, question.address.workspace)
    except NotFound:
        return None
    return conversation


def _turn_of(messages: Sequence[Message], ids: StoredIds) -> list[str]:
    """Return the existing ids of a stored question, its steps, and its answer."""
    place = next((place for place, item in enumerate(messages) if item.id == ids.question), None)
    if place is None:
        return [item.id for item in messages if item.id == ids.answer]
    after = messages[place + 1 :]
    answer = next((place for place, item in enumerate(after) if item.id == ids.answer), None)
    work = after[: answer + 1] if answer is not None else []
    return [ids.question, *(item.id for item in work if item.role is not Role.USER)]
