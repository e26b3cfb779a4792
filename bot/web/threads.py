"""Threads of the chat page."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from aiohttp import web

from bot.web.client import WebPlatform
from bot.web.events import EventHub
from bot.web.parts import WebParts
from bot.web.render import is_quoted, message_view, people_in, thread_view
from bot.web.requests import authors_of, person_of
from bot.web.security import is_owner
from bot.web.table_html import cited_rows
from bot.web.translate import CHANNEL_THREAD, PLATFORM, WebPost, is_nameless, shown_name, thread_address
from core.answering.answers.stored import stored_ids
from core.answering.answers.suggestions import SuggestedQuestions
from core.answering.redaction import withheld
from core.domain.answer import Citation
from core.domain.conversation import Conversation, Message, Role
from core.domain.corpus import SearchScope
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.service import InboxEntry
from core.errors import NotFound
from core.features.feedback import Feedbacks
from core.features.staleness.stale_answers import question_before, stale_questions
from core.ports.service import InboxStore
from core.serializers.objects import Json
from core.service.inbox import Inbox

DEFAULT_CHANNEL = "general"
# Maximum open questions of a thread to show.
SHOWN_WAITING = 50
NO_THREAD_HERE = "Thread not found. It was deleted, or the address is mistyped."
_AFTER_QUOTES = re.compile(r"\[\d{1,3}\]\n\n((?:(?!\[\d{1,3}\]).)+)\Z", re.DOTALL)  # notes below the last quote


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatParts:
    """Parts that only the chat page needs."""

    hub: EventHub
    platform: WebPlatform
    inbox: Inbox
    entries: InboxStore
    feedbacks: Feedbacks
    examples: tuple[str, ...] = ()  # questions to suggest on an empty first screen, before `suggestions`
    suggestions: SuggestedQuestions | None = None
    quotes_only: bool = False  # answers are quotes, because the workspace has no language model


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """The person at a browser: `author` of its messages (None before the first), and all its names.

    The owner sees all threads, others their own.
    """

    author: str | None = None
    names: Collection[str] = ()
    sees_all: bool = False

    @classmethod
    def of(cls, request: web.Request) -> "Reader":
        return cls(author=person_of(request), names=authors_of(request), sees_all=is_owner(request))

    def may_see(self, owner: str) -> bool:
        """Return whether they may see a thread by its owner."""
        return self.sees_all or owner in self.names


class Threads:
    """Queries of the chat page."""

    def __init__(self, parts: WebParts, chat: ChatParts) -> None:
        self._parts = parts
        self._chat = chat

    async def overview(self, reader: Reader) -> Json:
        """Return channels by name, the default first, and all threads, most recently used first."""
        found = await self._stored(reader)
        me = {item.owner for item in found}
        names = sorted({item.address.channel for item in found} - {DEFAULT_CHANNEL})
        people = await self._parts.sessions.people.names()
        threads = [thread_view(item, me, people) for item in found if item.address.thread != CHANNEL_THREAD]
        return {"channels": [DEFAULT_CHANNEL, *names], "threads": threads}

    async def own(self, reader: Reader, limit: int) -> list[Json]:
        """Return the reader's threads, most recently used first."""
        found = [item for item in await self._stored(reader) if item.address.thread != CHANNEL_THREAD]
        return [thread_view(item, {item.owner}) for item in found[:limit]]

    async def _stored(self, reader: Reader) -> list[Conversation]:
        stored = await self._parts.conversations.list_conversations(self._parts.workspace)
        return [item for item in stored if item.address.platform == PLATFORM and reader.may_see(item.owner)]

    async def find(self, address: ThreadAddress, reader: Reader) -> Conversation | None:
        """Return the conversation of a thread; None before its first answer. NotFound for another person's.

        A channel itself has no owner: talk there is only for people who see everything.
        """
        conversation = await self._parts.conversations.find(address)
        if address.thread == CHANNEL_THREAD:
            return conversation if reader.sees_all else None
        owners = {conversation.owner} if conversation else {one.incoming.author for one in await self.waiting(address)}
        if not all(map(reader.may_see, owners)):
            raise NotFound(NO_THREAD_HERE)
        return conversation

    async def show(self, channel: str, thread: str, reader: Reader) -> Json:
        """Return a thread's state, and the position of its next event. NotFound for an unknown thread."""
        address = thread_address(self._parts.workspace, channel, thread)
        cursor = self._chat.hub.cursor(str(address))
        conversation = await self.find(address, reader)
        waiting = [one for one in await self.waiting(address) if conversation or reader.may_see(one.incoming.author)]
        if conversation is None and not waiting and thread != CHANNEL_THREAD:
            raise NotFound(NO_THREAD_HERE)
        messages = await self._messages(conversation)
        if conversation is not None:
            messages = await self._readable(conversation, messages, reader)
        return {
            "cursor": cursor,
            "channel": channel,
            "thread": thread,
            "title": _title(conversation, waiting, channel, thread),
            "people": _people(messages, reader),
            "messages": await self._views(conversation, messages, reader),
            "waiting": await self._waiting_views(address, waiting, {message.id for message in messages}, reader),
        }

    async def read(self, conversation_id: str, reader: Reader) -> Json:
        """Return a conversation, read-only if it is on another platform. NotFound for an unknown ID or another's."""
        conversation, messages = await self._parts.conversations.show(conversation_id, self._parts.workspace)
        is_here = conversation.address.platform == PLATFORM
        if not (reader.sees_all or (is_here and reader.may_see(conversation.owner))):
            raise NotFound(NO_THREAD_HERE)
        messages = await self._readable(conversation, messages, reader)
        address = conversation.address
        return {
            "place": [address.channel, address.thread] if is_here else None,
            "title": conversation.title or "(no title)",
            "note": _where_held(conversation),
            "people": _people(messages, reader),
            "messages": await self._views(conversation, messages, Reader(names=reader.names)),
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

    async def _readable(self, conversation: Conversation, messages: Sequence[Message], reader: Reader) -> list[Message]:
        """Redact messages beyond the reading positions of the thread and the reader."""
        scope = await self._parts.scope(conversation.address, reader.author)
        return await withheld(messages, scope, self._parts.corpus)

    async def _waiting_views(
        self, address: ThreadAddress, waiting: Sequence[InboxEntry], stored: Collection[str], reader: Reader
    ) -> list[Json]:
        """Return unanswered questions; with text only until work begins, which adds it to the history."""
        people = await self._parts.sessions.people.names()
        running = {live.key: live.to_view() for live in self._chat.platform.running(address)}
        ids = {entry.seq: stored_ids(entry.incoming) for entry in waiting}
        return [
            {
                "key": entry.message_key,
                "author": shown_name(entry.incoming.author, people),
                "mine": entry.incoming.author in reader.names,
                "text": None if ids[entry.seq].question in stored else entry.incoming.text,
                "live": running.get(entry.message_key),
            }
            for entry in waiting
            if ids[entry.seq].answer not in stored
        ]

    async def _views(
        self, conversation: Conversation | None, messages: Sequence[Message], reader: Reader
    ) -> list[Json]:
        if conversation is None:
            return []
        address, links = conversation.address, self._parts.links
        rated = await self._chat.feedbacks.ratings_by(reader.author, conversation) if reader.author else {}
        scope = await self._parts.scope(address, reader.author)
        shown = [
            await self._with_tables(message, messages, scope)
            for message in messages
            if message.role is not Role.TOOL_RESULT
        ]
        stale = stale_questions(messages)

        def link(citation: Citation, answer: str) -> str:
            return links.path(citation, address, answer)

        people = await self._parts.sessions.people.names()
        return [message_view(message, link, rated.get(message.id), stale, reader.names, people) for message in shown]

    async def _with_tables(self, message: Message, messages: Sequence[Message], scope: SearchScope) -> Message:
        """Return an answer of quotes with its rows as tables, if it cites nothing but rows; any other as it is."""
        if not is_quoted(message):
            return message
        asked = question_before(messages, message.id)
        tables = []
        for cited in _by_page(message.citations):
            page = await self._parts.corpus.find_page(cited[0].document_id, cited[0].page_number, scope)
            if page is None or page.revision != cited[0].revision:
                return message
            kind = "csv" if cited[0].document.lower().endswith((".csv", ".tsv")) else ""
            numbers = [item.number for item in cited]
            drawn = cited_rows(page, kind, [item.span for item in cited], numbers, asked.content if asked else "")
            if drawn is None:
                return message
            tables.append(drawn)
        rest = _AFTER_QUOTES.search(message.content)
        return replace(message, content="\n\n".join([*tables, *([rest[1]] if rest else [])]))


def _by_page(citations: Sequence[Citation]) -> list[list[Citation]]:
    pages: dict[tuple[str, int], list[Citation]] = {}
    for item in citations:
        pages.setdefault((item.document_id, item.page_number), []).append(item)
    return list(pages.values())


def _people(messages: Sequence[Message], reader: Reader) -> list[str]:
    """Return the others in a thread who can be called by name."""
    return [name for name in people_in(messages, besides=reader.names) if not is_nameless(name)]


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
