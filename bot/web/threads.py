"""Threads of the chat page, with summaries of their references."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.web.client import WebPlatform
from bot.web.events import EventHub
from bot.web.parts import ScopeOf
from bot.web.render import SourceLink, message_view, people_in, thread_view
from bot.web.translate import CHANNEL_THREAD, PLATFORM, WebPost, thread_address
from core.answering.answers.stored import stored_ids
from core.answering.redaction import withheld
from core.domain.answer import Citation
from core.domain.conversation import Conversation, IncomingMessage, Message, Role, ThreadAddress
from core.domain.corpus import SearchScope
from core.domain.service import InboxEntry, is_note
from core.errors import NotFound
from core.features.feedback import Feedbacks
from core.features.staleness.detection import stale_questions
from core.knowledge.references.document_lines import page_summary
from core.ports import CorpusRepository
from core.ports.service import InboxStore
from core.serializers.objects import Json
from core.work.conversations import Conversations

KEPT = 2_000  # summaries in memory

_Key = tuple[object, ...]


@dataclass(slots=True)
class Summaries:
    """Reads the pages behind citations, each once, within what the readers of a thread may read."""

    corpus: CorpusRepository
    _kept: OrderedDict[_Key, str] = field(default_factory=OrderedDict)

    async def of(self, citations: Iterable[Citation], scope: SearchScope) -> Mapping[str, str]:
        """A line for each page id; "" for a page that is gone, or that may not be read here."""
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
# Open questions of a thread that are shown; behind so many, nobody waits for the next one.
SHOWN_WAITING = 50

LinkMaker = Callable[[ThreadAddress], SourceLink]


@dataclass(frozen=True, slots=True, kw_only=True)
class Threads:
    """Reads for the chat page."""

    workspace: str
    conversations: Conversations
    entries: InboxStore
    platform: WebPlatform
    hub: EventHub
    link: LinkMaker
    feedbacks: Feedbacks
    summaries: Summaries
    scope: ScopeOf
    corpus: CorpusRepository

    async def overview(self) -> Json:
        """Channels by name, the default one first, and all threads, the last used first."""
        found = await self._web_conversations()
        names = sorted({item.address.channel for item in found} - {DEFAULT_CHANNEL})
        threads = [thread_view(item) for item in found if item.address.thread != CHANNEL_THREAD]
        return {"channels": [DEFAULT_CHANNEL, *names], "threads": threads}

    async def show(self, channel: str, thread: str, person: str | None) -> Json:
        """A thread's state, with the position from which to read its events on. NotFound for one that never began."""
        address = thread_address(self.workspace, channel, thread)
        cursor = self.hub.cursor(str(address))
        waiting = await self.waiting(address)
        conversation = await self.conversations.find(address)
        if conversation is None and not waiting and thread != CHANNEL_THREAD:
            raise NotFound("There is no such thread: it was deleted, or its address is mistyped.")
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
        """Any conversation of the workspace, to be read: one of another platform can't be gone on with here.

        NotFound for an id that is none.
        """
        conversation, messages = await self.conversations.show(conversation_id, self.workspace)
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
        """Who else wrote in the thread of a post."""
        conversation = await self.conversations.find(thread_address(post.workspace, post.channel, post.thread))
        messages = await self._messages(conversation)
        return tuple(people_in(messages, besides={post.author}))

    async def record_talk(self, incoming: IncomingMessage, message: Message) -> None:
        """Keep what people said to each other, so that all of them, and later answers, can see it."""
        conversation = await self.conversations.find(incoming.address)
        if conversation is None:
            conversation = await self.conversations.create(incoming, title=f"#{incoming.address.channel}")
        await self.conversations.record(conversation, [replace(message, conversation_id=conversation.id)])

    async def _web_conversations(self) -> list[Conversation]:
        found = await self.conversations.list_conversations(self.workspace)
        return [item for item in found if item.address.platform == PLATFORM]

    async def waiting(self, address: ThreadAddress) -> list[InboxEntry]:
        """Open questions of a thread, oldest first."""
        recent = await self.entries.recent(self.workspace, address=address, limit=SHOWN_WAITING)
        return [entry for entry in reversed(recent) if not entry.status.is_final and not is_note(entry.incoming)]

    async def _messages(self, conversation: Conversation | None) -> list[Message]:
        if conversation is None:
            return []
        _, messages = await self.conversations.show(conversation.id, self.workspace)
        return messages

    async def _readable(
        self, conversation: Conversation, messages: Sequence[Message], person: str | None
    ) -> list[Message]:
        """Without what lies beyond where the thread and the person have read."""
        return await withheld(messages, await self.scope(conversation.address, person), self.corpus)

    def _waiting_views(
        self, address: ThreadAddress, waiting: Sequence[InboxEntry], stored: Collection[str]
    ) -> list[Json]:
        """Questions without an answer; their text only until it stands in the history, which is when work begins."""
        running = {live.key: live.to_view() for live in self.platform.running(address)}
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
        link = self.link(conversation.address)
        rated = await self.feedbacks.ratings_by(person, conversation) if person else {}
        shown = [message for message in messages if message.role is not Role.TOOL_RESULT]
        citations = [citation for message in shown for citation in message.citations]
        scope = await self.scope(conversation.address, person)
        summaries = await self.summaries.of(citations, scope) if citations else {}
        stale = stale_questions(messages)
        return [message_view(message, link, rated.get(message.id), summaries, stale) for message in shown]


def _where_held(conversation: Conversation) -> str:
    """What to do with a conversation that this page only shows."""
    platform, id = conversation.address.platform, conversation.id
    here = "Here it can be read."
    if platform == "terminal":
        return f"This conversation is held in the terminal. {here} Go on with: footnote chat --conversation {id}"
    if platform == "api":
        return f"This conversation is held over the API. {here} Go on there with its session: {id}"
    return f"This conversation is held on {platform.capitalize()}. {here} Go on there, in its thread."


def _title(conversation: Conversation | None, waiting: Sequence[InboxEntry], channel: str, thread: str) -> str:
    if thread == CHANNEL_THREAD:
        return f"#{channel}"
    if conversation is not None and conversation.title:
        return conversation.title
    return waiting[0].incoming.text[:80] if waiting else "(no title)"
