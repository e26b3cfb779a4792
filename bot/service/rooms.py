"""Conversations of several people, played through the real inbox, worker and pipeline (`footnote eval rooms`).

A room is a chat platform in this process, which translates as the adapters do. Its threads are deleted afterwards.
"""

import asyncio
import time
import uuid
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.service.calls import OperationContext, operation
from bot.service.supervision import start_task
from bot.wiring.pipeline import build_pipeline
from core.domain.answer import Answer
from core.domain.incoming import (
    Attachment,
    ChannelAddress,
    Circumstances,
    IncomingMessage,
    RepliesTo,
    Talk,
    ThreadAddress,
    message_key,
)
from core.domain.readers import Audience
from core.domain.service import AutoAnswer, ChannelSettings, InboxEntry, Listening, PostRef, Receipt
from core.errors import PlatformError
from core.features.room_evaluation import Heard, Place, Posted, Said, Scene
from core.ports import Clock, ProgressSink
from core.service.addressing import ACKNOWLEDGED
from core.service.inbox import Inbox, platform_gates
from core.service.worker import Worker
from core.work.progress import SilentProgress

PLATFORM = "room"
MESSAGE = "message"  # key of metadata: the number of a message
EMPTY_WORKSPACE = "evaluation without documents"
PAUSE = timedelta(minutes=1)  # between messages that don't follow each other at once
MOST_SECONDS = 120.0  # for the answers to one message


class RoomClock:
    """The process's clock, moved on between messages, so that playing takes no longer."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = timedelta()

    def now(self) -> datetime:
        return self._clock.now() + self._ahead

    def monotonic(self) -> float:
        return self._clock.monotonic() + self._ahead.total_seconds()

    def pass_time(self, duration: timedelta) -> None:
        self._ahead += duration


@dataclass
class Room:
    """A place with its talk and its posts (implements ChatPlatform and ThreadReader)."""

    scene: Scene
    workspace: str
    run: str  # makes the keys of this run unique
    clock: RoomClock
    name: str = PLATFORM
    talk: list[tuple[Said, ThreadAddress, datetime]] = field(default_factory=list)
    posts: dict[str, Answer] = field(default_factory=dict)  # by message key
    answered: set[ThreadAddress] = field(default_factory=set)
    addresses: set[ThreadAddress] = field(default_factory=set)

    # ------------------------------------------------------------------ as an adapter translates

    @property
    def channel(self) -> ChannelAddress:
        return ChannelAddress(platform=PLATFORM, workspace=self.workspace, channel=f"eval {self.scene.id}")

    def address_of(self, said: Said) -> ThreadAddress:
        first = self.scene.said[0].number
        in_channel = self.scene.place in (Place.CHANNEL, Place.AUTO_ANSWER)
        thread = "" if self.scene.place is Place.DIRECT else self._id(said.number if in_channel else first)
        return ThreadAddress(
            platform=PLATFORM, workspace=self.workspace, channel=self.channel.channel, thread=thread or self.run
        )

    def incoming(self, said: Said) -> IncomingMessage:
        address = self.address_of(said)
        key = message_key(address, self._id(said.number))
        about = next((other for other, _, _ in self.talk if other.number == said.reply_to), None)
        return IncomingMessage(
            address=address,
            author=said.author,
            author_name=said.author,
            text=said.text,
            event_key=key,
            message_key=key,
            circumstances=self._circumstances(said, address),
            about=self._to_talk(about) if about is not None and not said.replies_to_bot else None,
            metadata={MESSAGE: str(said.number)},
        )

    def _circumstances(self, said: Said, address: ThreadAddress) -> Circumstances:
        replied = RepliesTo.NOBODY if said.reply_to is None else RepliesTo.SOMEBODY
        is_first = said.number == self.scene.said[0].number
        return Circumstances(
            mentioned=said.mentions_bot,
            direct=self.scene.place is Place.DIRECT,
            in_thread=self.scene.place in (Place.BOT_THREAD, Place.HUMAN_THREAD) and not is_first,
            in_our_thread=address in self.answered and not is_first,
            replies_to=RepliesTo.US if said.replies_to_bot else replied,
            mentions_others=bool(said.mentions),
            from_bot=said.is_bot,
        )

    def _id(self, number: int) -> str:
        return f"{self.run}-{number}"

    def _to_talk(self, said: Said) -> Talk:
        at = next((at for other, _, at in self.talk if other is said), self.clock.now())
        return Talk(message_id=self._id(said.number), author=said.author, text=said.text, said_at=at)

    # ------------------------------------------------------------------ ChatPlatform

    async def open(self, entry: InboxEntry) -> ProgressSink:
        return SilentProgress()

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        self.posts[message_key] = answer
        return message_key

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        raise PlatformError(f"A room got an error: {sentence}")

    async def remove(self, entry: InboxEntry) -> None:
        self.posts.pop(entry.message_key, None)

    async def redact(self, entry: InboxEntry, sentence: str) -> None:
        """Do nothing: no answer is emptied while a room is played."""

    # ------------------------------------------------------------------ ThreadReader

    async def talk_before(self, question: IncomingMessage, limit: int) -> Sequence[Talk]:
        asked = int(question.metadata[MESSAGE])
        in_channel = self.scene.place in (Place.CHANNEL, Place.AUTO_ANSWER)
        before = [said for said, at, _ in self.talk if (in_channel or at == question.address) and said.number < asked]
        return [self._to_talk(said) for said in before[-limit:]]

    async def is_admin(self, question: IncomingMessage) -> bool:
        return False

    async def read_attachment(self, question: IncomingMessage, attachment: Attachment) -> bytes:
        raise PlatformError("There are no files in a room.")


class OperatorAlone:
    """The readers of a room: who runs the evaluation (implements Audiences)."""

    async def of_place(self, address: ThreadAddress, named: frozenset[str]) -> Audience:
        return Audience(is_operator=True)

    async def of_person(self, workspace: str, person: str, named: frozenset[str]) -> Audience:
        return Audience(is_operator=True)


@operation
async def play_scene(context: OperationContext, request: Scene) -> list[Heard]:
    """Play a conversation, and return the outcome of each message."""
    parts = context.parts
    workspace = EMPTY_WORKSPACE if request.is_empty else context.workspace
    clock = RoomClock(parts.clock)
    parts.access.audiences[PLATFORM] = OperatorAlone()
    room = Room(request, workspace, uuid.uuid4().hex[:12], clock)
    async with AsyncExitStack() as stack:
        pipeline = build_pipeline(parts, readers={PLATFORM: room})
        worker = Worker(parts.inbox_store, pipeline, {PLATFORM: room}, parts.clock, jobs=parts.stores.jobs)
        await start_task(stack, worker.run())
        gates, turns = platform_gates(parts.stores.settings), parts.build_turns(clock)
        inbox = Inbox(parts.inbox_store, gates, clock, worker.wake, worker.withdraw, turns=turns)
        play = _Play(context, room, inbox)
        stack.push_async_callback(play.tidy)
        return await play.run()


class _Play:
    def __init__(self, context: OperationContext, room: Room, inbox: Inbox) -> None:
        self._context = context
        self._room = room
        self._inbox = inbox
        self._receipts: dict[int, tuple[Receipt, float]] = {}

    async def run(self) -> list[Heard]:
        room, settings = self._room, self._context.parts.stores.settings
        mode = AutoAnswer.LIVE if room.scene.place is Place.AUTO_ANSWER else AutoAnswer.OFF
        await settings.save_channel(room.channel, ChannelSettings(auto_answer=mode))
        for place, said in enumerate(room.scene.said):
            if not said.soon:
                room.clock.pass_time(PAUSE)
            await self._hear(said)
            following = room.scene.said[place + 1 : place + 2]
            if not following or not following[0].soon:
                await self._settle()
        return [self._heard(said) for said in room.scene.said]

    async def _hear(self, said: Said) -> None:
        room = self._room
        incoming = room.incoming(said)
        room.addresses.add(incoming.address)
        room.talk.append((said, incoming.address, room.clock.now()))
        begun = time.perf_counter()
        receipt = await self._inbox.receive(incoming)
        self._receipts[said.number] = receipt, (time.perf_counter() - begun) * 1000
        if receipt.accepted:
            room.answered.add(incoming.address)
        listening = Listening.MUTED if said.muted_after else Listening.LISTENING if said.listened_after else None
        if listening is not None:
            await self._settle()
            await self._context.parts.stores.settings.save_listening(incoming.address, listening)

    async def _settle(self) -> None:
        """Wait for the answers to everything that was accepted."""
        store = self._context.parts.inbox_store
        async with asyncio.timeout(MOST_SECONDS):
            for receipt, _ in self._receipts.values():
                while await store.find_open(receipt.message_key):  # noqa: ASYNC110 - the store tells no process of it
                    await asyncio.sleep(0.01)

    def _heard(self, said: Said) -> Heard:
        receipt, milliseconds = self._receipts[said.number]
        of_key = [number for number, (other, _) in self._receipts.items() if other.message_key == receipt.message_key]
        answer = self._room.posts.get(receipt.message_key) if said.number == max(of_key) else None  # joined: one post
        return Heard(
            number=said.number,
            code=receipt.decision.code,
            reason=receipt.decision.sentence,
            decision_ms=milliseconds,
            reacted=receipt.decision.code == ACKNOWLEDGED.code,
            posts=(_to_posted(answer),) if answer is not None else (),
        )

    async def tidy(self) -> None:
        """Delete the threads, and take the settings back."""
        parts, room = self._context.parts, self._room
        for address in room.addresses:
            found = await parts.conversations.find(address)
            if found is not None:
                await parts.conversations.delete(found.id, room.workspace)
            await parts.stores.settings.save_listening(address, Listening.NORMAL)
        await parts.stores.settings.save_channel(room.channel, ChannelSettings())


def _to_posted(answer: Answer) -> Posted:
    documents = tuple(dict.fromkeys(citation.document for citation in answer.citations))
    return Posted(status=answer.status, text=answer.text, documents=documents)
