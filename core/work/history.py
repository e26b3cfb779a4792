"""The history of a thread: read before a question, written after it; its title, and its focus."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from core.domain.answer import Citation
from core.domain.conversation import Conversation, Focus, Message, Role
from core.domain.incoming import IncomingMessage
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


class ThreadHistory:
    """Reads a thread's history for a question, and adds the question and its answer to it."""

    def __init__(self, repository: ConversationRepository, clock: Clock) -> None:
        self._repository = repository
        self._clock = clock

    async def thread_of(self, message: IncomingMessage) -> OpenedThread:
        """Return the conversation that a message names, its thread's, or a new one, with its messages.

        A new one is stored with its first message.
        """
        if message.conversation_id:
            conversation, messages = await self._repository.read(message.conversation_id, message.address.workspace)
            return OpenedThread(conversation, messages)
        if found := await self._repository.read_thread(message.address):
            return OpenedThread(*found)
        return OpenedThread(self._new(message, title_from(message.text)), [], is_new=True)

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
