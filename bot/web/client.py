"""The chat page as a platform: answers go into the history, and to the browsers that look on.

A post of this platform is a message of the conversation. So it outlives a restart, and posting again finds it by its
id: what browsers show is always the history, and beside it only what is being made right now.
"""

from itertools import count

from bot.web.events import EventHub
from bot.web.live import LivePost, LiveProgress
from bot.web.translate import PLATFORM
from core.answering.answers.stored import BOT_NAME, stored_ids
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import IncomingMessage, Message, Outcome, Role, ThreadAddress
from core.domain.service import InboxEntry, PostRef
from core.ports import Clock, ProgressSink
from core.work.conversations import Conversations


class WebPlatform:
    """ChatPlatform of the chat page."""

    name = PLATFORM

    def __init__(self, hub: EventHub, conversations: Conversations, clock: Clock) -> None:
        self._hub = hub
        self._conversations = conversations
        self._clock = clock
        self._live: dict[str, LiveProgress] = {}
        self._turns = count(1)

    async def open(self, entry: InboxEntry) -> ProgressSink:
        """A placeholder in every browser that looks on; an earlier one of the same key starts anew."""
        incoming = entry.incoming
        live = LivePost(
            key=entry.message_key,
            address=entry.address,
            author=incoming.author,
            question=incoming.text,
            turn=next(self._turns),
        )
        self._forget(live.key)
        self._live[live.key] = LiveProgress(live, self._hub, self._turns)
        self._hub.publish(str(live.address), "begin", live.to_view())
        return self._live[live.key]

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
        return [progress.live for progress in self._live.values() if progress.live.address == address]

    async def _ensure(self, address: ThreadAddress, message: Message) -> None:
        conversation = await self._conversations.find(address)
        if conversation is None:
            return  # it was deleted meanwhile, with its messages: there is nowhere to post
        _, messages = await self._conversations.show(conversation.id, address.workspace)
        if all(known.id != message.id for known in messages):
            await self._conversations.record(conversation, [message])

    def _end(self, address: ThreadAddress, message_key: str) -> None:
        self._forget(message_key)
        self._hub.publish(str(address), "end", {"key": message_key})
        self._hub.publish_all("threads", {})

    def _forget(self, message_key: str) -> None:
        if (progress := self._live.pop(message_key, None)) is not None:
            progress.end()


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
        status=None if answer.note_on else answer.status.value,
        outcome=Outcome(note_on=tuple(item.message_id for item in answer.note_on)) if answer.note_on else None,
    )
