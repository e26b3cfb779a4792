"""Threads of the chat page, with summaries of their references."""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.web.client import WebPlatform
from bot.web.events import EventHub
from bot.web.parts import WebParts
from bot.web.render import message_view, people_in, thread_view
from bot.web.translate import CHANNEL_THREAD, PLATFORM, WebPost, thread_address
from core.answering.answers.stored import stored_ids
from core.answering.redaction import withheld
from core.domain.answer import Citation
from core.domain.conversation import Conversation, Message, Role
from core.domain.corpus import SearchScope
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.service import InboxEntry
from core.errors import NotFound
from core.features.feedback import Feedbacks
from core.features.staleness.stale_answers import stale_questions
from core.knowledge.references.document_lines import page_summary
from core.ports import CorpusRepository
from core.ports.service import InboxStore
from core.serializers.objects import Json
from core.service.inbox import Inbox

KEPT = 2_000  # summaries in memory

_Key = tuple[object, ...]


@dataclass(slots=True)
class Summaries:
    """Summaries of cited pages, each read once within a thread's scope."""

    corpus: CorpusRepository
    _kept: OrderedDict[_Key, str] = field(default_factory=OrderedDict)

    async def of(self, citations: Iterable[Citation], scope: SearchScope) -> Mapping[str, str]:
        """Return a line for each page ID; "" for a deleted or unreadable page."""
        wanted = {citation.page_id: citation.document for citation in citations}
        found = await asyncio.gather(*(self._one(page_id, path, scope) for page_id, path in wanted.items()))
        return dict(zip(wanted, found, strict=True))

    async def _one(self, page_id: str, path: str, scope: SearchScope) -> str:
        key = (page_id, scope.workspace, scope.sources, *sorted(scope.positions.items()))
        if key not in self._kept:
            try:
                self._kept[key] = page_summary(await self.corpus.get_page(page_id, scope), path)
            except NotFound:
                return ""
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


DEFAULT_CHANNEL = "general"
# Maximum open questions of a thread to show.
SHOWN_WAITING = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatParts:
    """Parts that only the chat page needs."""

    hub: EventHub
    platform: WebPlatform
    inbox: Inbox
    entries: InboxStore
    feedbacks: Feedbacks
    examples: tuple[str, ...] = ()  # questions to suggest on an empty first screen


class Threads:
    """Queries of the chat page."""

    def __init__(self, parts: WebParts, chat: ChatParts) -> None:
        self._parts = parts
        self._chat = chat
        self._summaries = Summaries(parts.corpus)

    async def overview(self) -> Json:
        """Return channels by name, the default first, and all threads, most recently used first."""
        stored = await self._parts.conversations.list_conversations(self._parts.workspace)
        found = [item for item in stored if item.address.platform == PLATFORM]
        names = sorted({item.address.channel for item in found} - {DEFAULT_CHANNEL})
        threads = [thread_view(item) for item in found if item.address.thread != CHANNEL_THREAD]
        return {"channels": [DEFAULT_CHANNEL, *names], "threads": threads}

    async def show(self, channel: str, thread: str, person: str | None) -> Json:
        """Return a thread's state, and the position of its next event. NotFound for an unknown thread."""
        address = thread_address(self._parts.workspace, channel, thread)
        cursor = self._chat.hub.cursor(str(address))
        waiting = await self.waiting(address)
        conversation = await self._parts.conversations.find(address)
        if conversation is None and not waiting and thread != CHANNEL_THREAD:
            raise NotFound("Thread not found. It was deleted, or the address is mistyped.")
        messages = await self._messages(conversation)
        if conversation is not None:
            messages = await self._readable(conversation, messages, person)
        return {
            "cursor": cursor,
            "channel": channel,
            "thread": thread,
            "title": _title(conversation, waiting, channel, thread),
            "people": people_in(messages),
            "messages": await self._views(conversation, messages, person),
            "waiting": self._waiting_views(address, waiting, {message.id for message in messages}),
        }

    async def read(self, conversation_id: str, person: str | None = None) -> Json:
        """Return any conversation, read-only if it is on another platform. NotFound for an unknown ID."""
        conversation, messages = await self._parts.conversations.show(conversation_id, self._parts.workspace)
        messages = await self._readable(conversation, messages, person)
        address = conversation.address
        return {
            "place": [address.channel, address.thread] if address.platform == PLATFORM else None,
            "title": conversation.title or "(no title)",
            "note": _where_held(conversation),
            "people": people_in(messages),
            "messages": await self._views(conversation, messages, None),
            "waiting": [],
        }

    async def others(self, post: WebPost) -> tuple[str, ...]:
        """Return the other authors in the thread of a post."""
        conversation = await self._parts.conversations.find(thread_address(post.workspace, post.channel, post.thread))
        messages = await self._messages(conversation)
        return tuple(people_in(messages, besides={post.author}))

    async def record_talk(self, incoming: IncomingMessage, message: Message) -> None:
        """Store a message between people, for them and for later answers."""
        conversation = await self._parts.conversations.find(incoming.address)
        if conversation is None:
            conversation = await self._parts.conversations.create(incoming, title=f"#{incoming.address.channel}")
        await self._parts.conversations.record(conversation, [replace(message, conversation_id=conversation.id)])

    async def waiting(self, address: ThreadAddress) -> list[InboxEntry]:
        """Return the open questions of a thread, oldest first."""
        recent = await self._chat.entries.recent(self._parts.workspace, address=address, limit=SHOWN_WAITING)
        return [entry for entry in reversed(recent) if not entry.status.is_final and not entry.incoming.is_note]

    async def _messages(self, conversation: Conversation | None) -> list[Message]:
        if conversation is None:
            return []
        _, messages = await self._parts.conversations.show(conversation.id, self._parts.workspace)
        return messages

    async def _readable(
        self, conversation: Conversation, messages: Sequence[Message], person: str | None
    ) -> list[Message]:
        """Redact messages beyond the reading positions of the thread and the person."""
        return await withheld(messages, await self._parts.scope(conversation.address, person), self._parts.corpus)

    def _waiting_views(
        self, address: ThreadAddress, waiting: Sequence[InboxEntry], stored: Collection[str]
    ) -> list[Json]:
        """Return unanswered questions; with text only until work begins, which adds it to the history."""
        running = {live.key: live.to_view() for live in self._chat.platform.running(address)}
        ids = {entry.seq: stored_ids(entry.incoming) for entry in waiting}
        return [
            {
                "key": entry.message_key,
                "author": entry.incoming.author,
                "text": None if ids[entry.seq].question in stored else entry.incoming.text,
                "live": running.get(entry.message_key),
            }
            for entry in waiting
            if ids[entry.seq].answer not in stored
        ]

    async def _views(
        self, conversation: Conversation | None, messages: Sequence[Message], person: str | None
    ) -> list[Json]:
        if conversation is None:
            return []
        address, links = conversation.address, self._parts.links
        rated = await self._chat.feedbacks.ratings_by(person, conversation) if person else {}
        shown = [message for message in messages if message.role is not Role.TOOL_RESULT]
        citations = [citation for message in shown for citation in message.citations]
        scope = await self._parts.scope(address, person)
        summaries = await self._summaries.of(citations, scope) if citations else {}
        stale = stale_questions(messages)

        def link(citation: Citation) -> str:
            return links.path(citation, address)

        return [message_view(message, link, rated.get(message.id), summaries, stale) for message in shown]


def _where_held(conversation: Conversation) -> str:
    """Return how to continue a conversation that this page only shows."""
    platform, id = conversation.address.platform, conversation.id
    here = "You can read it here."
    if platform == "terminal":
        return f"This conversation is in the terminal. {here} To continue, run: footnote chat --conversation {id}"
    if platform == "api":
        return f"This conversation is in the API. {here} To continue, use its session: {id}"
    return f"This conversation is on {platform.capitalize()}. {here} Continue in its thread there."


def _title(conversation: Conversation | None, waiting: Sequence[InboxEntry], channel: str, thread: str) -> str:
    if thread == CHANNEL_THREAD:
        return f"#{channel}"
    if conversation is not None and conversation.title:
        return conversation.title
    return waiting[0].incoming.text[:80] if waiting else "(no title)"
