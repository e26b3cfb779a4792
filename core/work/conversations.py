"""Use cases of conversations: open one for a thread, list, show, rename, delete; titles and focus."""

import uuid
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from core.domain.answer import Citation
from core.domain.conversation import Conversation, Focus, Message, Role
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.errors import BadInput, NotFound
from core.ports import Clock, ConversationRepository
from core.text.words import shorten
from core.work.questions import split_deep

FOCUS_IDLE = timedelta(minutes=30)  # after which the subject is forgotten
FOCUS_SECTIONS = 5  # sections that the last answers cited, and the next search looks at first
TITLE_LENGTH = 80  # characters; chat platforms allow 100


@dataclass(frozen=True, slots=True)
class OpenedThread:
    """A conversation with its messages, oldest first."""

    conversation: Conversation
    messages: Sequence[Message]
    is_new: bool = False  # not stored yet


class Conversations:
    def __init__(
        self,
        repository: ConversationRepository,
        clock: Clock,
        after_delete: Callable[[ThreadAddress], Awaitable[None]] | None = None,
    ) -> None:
        """`after_delete` is called with the thread of a deleted conversation, to delete its other data."""
        self._repository = repository
        self.list_conversations = repository.list_conversations
        self._clock = clock
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

    async def thread_of(self, message: IncomingMessage) -> OpenedThread:
        """Return the conversation as `open` does, with its messages; a new one is stored with its first message."""
        if message.conversation_id:
            conversation, messages = await self._repository.read(message.conversation_id, message.address.workspace)
            return OpenedThread(conversation, messages)
        if found := await self._repository.read_thread(message.address):
            return OpenedThread(*found)
        return OpenedThread(self._new(message, title_from(message.text)), [], is_new=True)

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

    async def rename(self, conversation_id: str, workspace: str, title: str) -> Conversation:
        """Set the title, cut to a line. Raises BadInput for a blank title."""
        conversation = await self._repository.get(conversation_id, workspace)
        title = shorten(title, TITLE_LENGTH)
        if not title:
            raise BadInput("A conversation's title can't be empty. Enter at least one letter.")
        await self._repository.rename(conversation_id, title)
        return replace(conversation, title=title)

    async def delete(self, conversation_id: str, workspace: str) -> None:
        """Delete it with its messages. Raises NotFound for an id of another workspace."""
        conversation = await self._repository.get(conversation_id, workspace)
        await self._repository.delete(conversation_id)
        if self._after_delete is not None:
            await self._after_delete(conversation.address)

    async def begin(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        """Store a new conversation with its first messages. Raises InvalidState if the thread has one by now."""
        await self._repository.add(conversation, messages)

    async def record(
        self, conversation: Conversation, messages: Sequence[Message], citations: Sequence[Citation] = ()
    ) -> None:
        """Append to the history; a conversation without a title gets it from its first question.

        The question is the last user message in `messages`: earlier ones may be by other people. `citations` are the
        answer's, and set the focus: the document of most footnotes, and its cited pages.
        """
        focus = next_focus(conversation.focus, citations, self._clock.now())
        await self._repository.append(conversation.id, messages, focus=focus if focus != conversation.focus else None)
        question = next((message.content for message in reversed(messages) if message.role is Role.USER), "")
        if not conversation.title and question:
            await self._repository.rename(conversation.id, title_from(question))

    async def forget(self, conversation: Conversation, message_ids: Collection[str]) -> None:
        """Remove messages from the history; unknown ids are ignored."""
        await self._repository.remove_messages(conversation.id, message_ids)

    def _new(self, message: IncomingMessage, title: str, pinned_document_id: str | None = None) -> Conversation:
        now = self._clock.now()
        return Conversation(
            id=uuid.uuid4().hex,
            address=message.address,
            title=shorten(title, TITLE_LENGTH),
            owner=message.author,
            created_at=now,
            last_message_at=now,
            pinned_document_id=pinned_document_id,
        )


def title_from(question: str) -> str:
    """Return a title of at most TITLE_LENGTH characters: the question's first line, without a leading `deep:`."""
    first = next((line for line in split_deep(question)[0].splitlines() if line.strip()), "")
    return shorten(first.lstrip("#>-* "), TITLE_LENGTH)


def live_focus(focus: Focus | None, now: datetime) -> Focus | None:
    """Return the focus unless it has expired."""
    return focus if focus is not None and now - focus.touched_at <= FOCUS_IDLE else None


def next_focus(focus: Focus | None, citations: Sequence[Citation], now: datetime) -> Focus | None:
    """Return the focus after an answer; an answer without footnotes keeps it."""
    if not citations:
        return replace(focus, touched_at=now) if live_focus(focus, now) and focus else focus
    counts: dict[str, int] = {}
    for citation in citations:
        counts[citation.document_id] = counts.get(citation.document_id, 0) + 1
    document_id = max(counts, key=lambda item: counts[item])  # the first cited wins a tie: dicts keep order
    about = [citation for citation in citations if citation.document_id == document_id]
    before = focus.sections if focus and focus.document_id == document_id and live_focus(focus, now) else ()
    sections = tuple(dict.fromkeys([*(citation.page_id for citation in about), *before]))[:FOCUS_SECTIONS]
    return Focus(
        document_id=document_id,
        document=about[0].document,
        title=about[0].document_title,
        sections=sections,
        touched_at=now,
    )
