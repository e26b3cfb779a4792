"""The chat page as a platform: answers go into the history, and to the browsers that look on.

A post of this platform is a message of the conversation. So it outlives a restart, and posting again finds it by its
id: what browsers show is always the history, and beside it only what is being made right now.
"""

import asyncio
from dataclasses import dataclass, field

from bot.webchat.events import EventHub
from bot.webchat.render import step_view
from bot.webchat.translate import PLATFORM
from core.answering import BOT_NAME
from core.conversations import Conversations
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import IncomingMessage, Message, Role, ThreadAddress
from core.domain.inbox import InboxEntry, PostRef
from core.domain.jobs import Job
from core.jsonable import Json
from core.ports import Clock, ProgressSink
from core.stored_answers import stored_ids

# Pieces of a draft that come within this time go to browsers as one event.
FLUSH_SECONDS = 0.04
# Steps shown under a running answer.
SHOWN_STEPS = 100


@dataclass(slots=True, kw_only=True)
class LivePost:
    """An answer in the making, as a browser that comes late has to see it."""

    key: str
    address: ThreadAddress
    author: str
    question: str
    text: str = ""
    steps: dict[str, Json] = field(default_factory=dict)

    def to_view(self) -> Json:
        return {
            "key": self.key,
            "author": self.author,
            "question": self.question,
            "text": self.text,
            "steps": list(self.steps.values())[-SHOWN_STEPS:],
        }


class WebPlatform:
    """ChatPlatform of the chat page."""

    name = PLATFORM

    def __init__(self, hub: EventHub, conversations: Conversations, clock: Clock) -> None:
        self._hub = hub
        self._conversations = conversations
        self._clock = clock
        self._live: dict[str, LivePost] = {}

    async def open(self, entry: InboxEntry) -> ProgressSink:
        """A placeholder in every browser that looks on; an earlier one of the same key starts anew."""
        incoming = entry.incoming
        live = LivePost(key=entry.message_key, address=entry.address, author=incoming.author, question=incoming.text)
        self._live[live.key] = live
        self._hub.publish(str(live.address), "begin", live.to_view())
        return _LiveProgress(live, self._hub)

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        """See that the history holds the answer, then show it. The history is asked whatever `look_first` says."""
        message_id = answer.message_id or _post_id(address, message_key)
        await self._ensure(address, _to_message(message_id, answer, self._clock))
        self._end(address, message_key)
        return message_id

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        """The error as the bot's message, unless the history has an answer to this message already."""
        message_id = _post_id(address, message_key)
        await self._ensure(
            address, _to_message(message_id, Answer(status=AnswerStatus.ERROR, text=sentence), self._clock)
        )
        self._end(address, message_key)
        return message_id

    def running(self, address: ThreadAddress) -> list[LivePost]:
        """The answers in the making in a thread, oldest first."""
        return [live for live in self._live.values() if live.address == address]

    async def _ensure(self, address: ThreadAddress, message: Message) -> None:
        conversation = await self._conversations.find(address)
        if conversation is None:
            return  # it was deleted meanwhile, with its messages: there is nowhere to post
        _, messages = await self._conversations.show(conversation.id, address.workspace)
        if all(known.id != message.id for known in messages):
            await self._conversations.record(conversation, [message])

    def _end(self, address: ThreadAddress, message_key: str) -> None:
        self._live.pop(message_key, None)
        self._hub.publish(str(address), "end", {"key": message_key})
        self._hub.publish_all("threads", {})


class _LiveProgress:
    """ProgressSink that gathers pieces for a moment before it shows them."""

    def __init__(self, live: LivePost, hub: EventHub) -> None:
        self._live = live
        self._hub = hub
        self._topic = str(live.address)
        self._waiting = ""
        self._timer: asyncio.TimerHandle | None = None

    def text(self, piece: str) -> None:
        self._live.text += piece
        self._waiting += piece
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._flush)

    def reset(self) -> None:
        self._live.text = self._waiting = ""
        self._hub.publish(self._topic, "reset_text", {"key": self._live.key})

    def step(self, job: Job) -> None:
        view = step_view(job)
        self._live.steps[job.id] = view
        self._hub.publish(self._topic, "step", {"key": self._live.key, "step": view})

    def _flush(self) -> None:
        self._timer = None
        piece, self._waiting = self._waiting, ""
        if piece:
            self._hub.publish(self._topic, "text", {"key": self._live.key, "piece": piece})


def _post_id(address: ThreadAddress, message_key: str) -> str:
    """Where the history keeps the answer to a message; messages of this page are never edited, so it has one event."""
    return stored_ids(IncomingMessage(address=address, author="", text="", event_key=message_key)).answer


def _to_message(message_id: str, answer: Answer, clock: Clock) -> Message:
    return Message(
        id=message_id,
        conversation_id=answer.conversation_id,
        role=Role.ASSISTANT,
        author=BOT_NAME,
        content=answer.text,
        created_at=clock.now(),
        references=answer.references,
        citations=answer.citations,
        job_id=answer.jobs[0].id if answer.jobs else None,
        status=answer.status.value,
    )
