"""The chat page as a platform: answers in the history, with live progress in each browser."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from bot.web.events import EventHub
from bot.web.render import step_view
from bot.web.translate import PLATFORM
from core.answering.answers.stored import BOT_NAME, stored_ids
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import Message, Outcome, Role
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.jobs import Job
from core.domain.service import InboxEntry, PostRef
from core.errors import StorageError
from core.ports import Clock, ProgressSink
from core.ports.service import InboxStore
from core.serializers.objects import Json
from core.work.conversations import Conversations

# Minimum time between two pieces of a draft.
FLUSH_SECONDS = 0.04
# Minimum characters of a piece. A burst is shown by quarters of the rest, within a fifth of a second.
LEAST_PIECE = 48
# Steps shown under a running answer.
SHOWN_STEPS = 100
POLL_SECONDS = 0.5  # delay until a browser sees another process's post; one small query each
RECENT = 100  # entries in each poll; older ones only while they are open

_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class LivePost:
    """The current state of a running answer, for browsers that connect late."""

    key: str
    address: ThreadAddress
    author: str
    question: str
    turn: int  # increases with each restart of a draft, over all answers of the process
    text: str = ""  # the draft of this turn, as sent to browsers
    steps: dict[str, Json] = field(default_factory=dict)

    def to_view(self) -> Json:
        return {
            "key": self.key,
            "author": self.author,
            "question": self.question,
            "turn": self.turn,
            "text": self.text,
            "steps": list(self.steps.values())[-SHOWN_STEPS:],
        }


class LiveProgress:
    """ProgressSink that sends a draft in even pieces, each with its turn and its offset in characters.

    A browser uses these to combine events with the state, in any order.
    """

    def __init__(self, live: LivePost, hub: EventHub, turns: Iterator[int]) -> None:
        self.live = live
        self._hub = hub
        self._turns = turns
        self._topic = str(live.address)
        self._waiting = ""
        self._timer: asyncio.TimerHandle | None = None

    def text(self, piece: str) -> None:
        self._waiting += piece
        if self._timer is None and self._waiting:
            self._flush()

    def reset(self) -> None:
        self.end()
        self.live.text, self.live.turn = "", next(self._turns)
        self._hub.publish(self._topic, "reset_text", {"key": self.live.key, "turn": self.live.turn})

    def step(self, job: Job) -> None:
        view = step_view(job)
        self.live.steps[job.id] = view
        self._hub.publish(self._topic, "step", {"key": self.live.key, "step": view})

    def end(self) -> None:
        """Send nothing more of this draft."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._waiting = None, ""

    def _flush(self) -> None:
        self._timer = None
        if not self._waiting:
            return
        length = max(LEAST_PIECE, len(self._waiting) // 4)
        piece, self._waiting = self._waiting[:length], self._waiting[length:]
        place, self.live.text = len(self.live.text), self.live.text + piece
        told = {"key": self.live.key, "turn": self.live.turn, "at": place, "piece": piece}
        self._hub.publish(self._topic, "text", told)
        self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._flush)


class WebPlatform:
    """Implements core.ports.service.ChatPlatform for the chat page."""

    name = PLATFORM

    def __init__(self, hub: EventHub, conversations: Conversations, clock: Clock) -> None:
        self._hub = hub
        self._conversations = conversations
        self._clock = clock
        self._live: dict[str, LiveProgress] = {}
        self._turns = count(1)

    async def open(self, entry: InboxEntry) -> ProgressSink:
        """Show a placeholder in every connected browser; replaces an earlier one of the same key."""
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
        """Add the answer to the history unless it is there, then show it. Ignores `look_first`."""
        message_id = answer.message_id or _post_id(address, message_key)
        await self._ensure(address, _to_message(message_id, answer, self._clock))
        self._end(address, message_key)
        return message_id

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        """Add the error to the history, unless it already has an answer to this message."""
        message_id = _post_id(address, message_key)
        await self._ensure(
            address, _to_message(message_id, Answer(status=AnswerStatus.ERROR, text=sentence), self._clock)
        )
        self._end(address, message_key)
        return message_id

    async def remove(self, entry: InboxEntry) -> None:
        """Have the browsers read the history again, which has the posts."""
        self._end(entry.address, entry.message_key)

    async def redact(self, entry: InboxEntry, sentence: str) -> None:
        """Have the browsers read the history again: it has the sentence."""
        self._end(entry.address, entry.message_key)

    def running(self, address: ThreadAddress) -> list[LivePost]:
        """Return the running answers of a thread, oldest first."""
        return [progress.live for progress in self._live.values() if progress.live.address == address]

    async def _ensure(self, address: ThreadAddress, message: Message) -> None:
        conversation = await self._conversations.find(address)
        if conversation is None:
            return  # deleted meanwhile, with its messages
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
    """Return the ID of the answer in the history. Messages of this page are never edited, so there is one event."""
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


class InboxPoller:
    """Polls the inbox for changes made by other processes, and notifies the browsers.

    Any process on the database can accept and answer questions of the chat page, but browsers are connected to this
    one. It polls the newest entries, and the open ones of the last poll.
    """

    def __init__(self, store: InboxStore, hub: EventHub, workspace: str) -> None:
        self._store = store
        self._hub = hub
        self._workspace = workspace
        self._open: dict[int, InboxEntry] = {}
        self._seen: set[int] | None = None  # entries of the last poll; None before the first

    async def run(self) -> None:
        """Poll until cancelled, while browsers are connected. Retries if the database fails.

        A new browser has just read the whole state; earlier changes are published again, which is harmless.
        """
        while True:
            try:
                if self._hub.readers:
                    await self.poll()
            except StorageError as error:
                _log.warning("Can't poll the inbox for changes of other processes: %s", error)
            await asyncio.sleep(POLL_SECONDS)

    async def poll(self) -> None:
        """Publish the changes since the last poll."""
        recent = {entry.seq: entry for entry in await self._store.recent(self._workspace, limit=RECENT)}
        for seq, entry in [*self._open.items()]:
            now = recent.get(seq) or await self._store.find(entry.event_key)
            if now is None or now.status.is_final:
                del self._open[seq]
                self._publish("end", entry)
        for seq, entry in sorted(recent.items()):
            if entry.address.platform != PLATFORM or seq in self._open:
                continue
            if self._seen is not None and seq not in self._seen:
                self._publish("changed", entry)
            if not entry.status.is_final:
                self._open[seq] = entry
        self._seen = set(recent)

    def _publish(self, kind: str, entry: InboxEntry) -> None:
        self._hub.publish(str(entry.address), kind, {"key": entry.message_key} if kind == "end" else {})
        self._hub.publish_all("threads", {})
