"""Events of threads for browsers, sent as server-sent events."""

import asyncio
import json
import secrets
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field

from aiohttp import web

# A streamed answer is a few hundred pieces; this many events cover a reconnect in the middle of two of them.
RING_EVENTS = 1_000
# Topics without readers are kept for reconnects; the oldest go first.
IDLE_TOPICS = 200
RESET = "reset"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """`id` is unique over restarts: `{run of the process}-{number}`, numbers rising within a topic."""

    id: str
    kind: str
    data: Mapping[str, object]

    def encode(self) -> bytes:
        """As a `text/event-stream` carries it."""
        data = json.dumps(self.data, ensure_ascii=False)  # no raw line breaks: one data line is enough
        return f"id: {self.id}\nevent: {self.kind}\ndata: {data}\n\n".encode()


@dataclass(slots=True)
class _Topic:
    ring: deque[tuple[int, Event]]
    floor: int  # events up to this number may be gone
    last: int
    readers: set[asyncio.Event] = field(default_factory=set)


class EventHub:
    """Publishing never blocks and never fails; it is called in the event loop."""

    def __init__(self, *, ring_events: int = RING_EVENTS, idle_topics: int = IDLE_TOPICS) -> None:
        self._run = secrets.token_hex(4)
        self._ring_events = ring_events
        self._idle_topics = idle_topics
        self._topics: OrderedDict[str, _Topic] = OrderedDict()
        self._last = 0  # numbers go on over all topics, so that a forgotten topic never repeats one
        self._closed = False

    def publish(self, topic: str, kind: str, data: Mapping[str, object]) -> str:
        """Show `data` to the topic's readers, now or when they come back; the event's id."""
        found = self._touch(topic)
        self._last += 1
        if len(found.ring) == self._ring_events:
            found.floor = found.ring.popleft()[0]
        event = Event(id=self._to_id(self._last), kind=kind, data=data)
        found.ring.append((self._last, event))
        found.last = self._last
        for reader in found.readers:
            reader.set()
        return event.id

    def publish_all(self, kind: str, data: Mapping[str, object]) -> None:
        """To every topic that somebody reads now; the others read the whole state when they come."""
        for topic in [name for name, found in self._topics.items() if found.readers]:
            self.publish(topic, kind, data)

    def cursor(self, topic: str) -> str:
        """A position to read on from, taken before a state is read: later events are those the state may lack."""
        self._touch(topic)
        return self._to_id(self._last)

    async def read(self, topic: str, after: str | None = None) -> AsyncGenerator[Event]:
        """Events of a topic, those after the id `after` first, then as they come; ends when the hub closes.

        A `reset` comes instead of events that are gone: `after` is of an earlier process, or too old for the ring.
        """
        position = self._last if after is None else self._to_position(after)
        with self._reader(topic) as (found, wake):
            while not self._closed:
                wake.clear()
                if position < found.floor:
                    position = self._last
                    yield Event(id=self._to_id(position), kind=RESET, data={})
                for number, event in [item for item in found.ring if item[0] > position]:
                    position = number
                    yield event
                if found.last <= position and not self._closed:
                    await wake.wait()

    def close(self) -> None:
        """End all readers; safe to repeat."""
        self._closed = True
        for found in self._topics.values():
            for reader in found.readers:
                reader.set()

    @property
    def readers(self) -> int:
        return sum(len(found.readers) for found in self._topics.values())

    @property
    def topics(self) -> int:
        return len(self._topics)

    @contextmanager
    def _reader(self, topic: str) -> Iterator[tuple[_Topic, asyncio.Event]]:
        found, wake = self._touch(topic), asyncio.Event()
        found.readers.add(wake)
        try:
            yield found, wake
        finally:
            found.readers.discard(wake)
            self._forget_idle()

    def _touch(self, topic: str) -> _Topic:
        found = self._topics.get(topic)
        if found is None:
            found = self._topics[topic] = _Topic(ring=deque(), floor=self._last, last=self._last)
            self._forget_idle(keep=topic)
        self._topics.move_to_end(topic)
        return found

    def _forget_idle(self, keep: str | None = None) -> None:
        idle = [name for name, found in self._topics.items() if not found.readers and name != keep]
        for name in idle[: max(0, len(idle) - self._idle_topics)]:
            del self._topics[name]

    def _to_id(self, number: int) -> str:
        return f"{self._run}-{number}"

    def _to_position(self, event_id: str) -> int:
        """-1 for an id that is not of this process."""
        run, _, number = event_id.rpartition("-")
        is_ours = run == self._run and number.isascii() and number.isdigit() and int(number) <= self._last
        return int(number) if is_ours else -1


# Proxies and browsers give up on a silent stream after half a minute; a dead browser shows when it is written to.
HEARTBEAT_SECONDS = 15.0
RECONNECT_MILLISECONDS = 1_000


async def stream(request: web.Request, events: AsyncGenerator[Event]) -> web.StreamResponse:
    """Send events as they come. A browser that goes ends it; what it still needs it asks for by its last id."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"})
    await response.prepare(request)
    with suppress(ConnectionResetError):
        await response.write(f"retry: {RECONNECT_MILLISECONDS}\n\n".encode())
        async with aclosing(with_heartbeat(events, HEARTBEAT_SECONDS)) as blocks:
            async for block in blocks:
                await response.write(block)
    return response


async def with_heartbeat(events: AsyncGenerator[Event], seconds: float) -> AsyncGenerator[bytes]:
    """The events as blocks of a stream, with a comment whenever there was none for so long."""
    waiting: asyncio.Future[Event] | None = None
    try:
        while True:
            waiting = waiting or asyncio.ensure_future(anext(events))
            await asyncio.wait({waiting}, timeout=seconds)
            if not waiting.done():
                yield b": still here\n\n"
                continue
            try:
                event = waiting.result()
            except StopAsyncIteration:
                return
            waiting = None
            yield event.encode()
    finally:
        if waiting is not None:
            waiting.cancel()
            await asyncio.wait({waiting})
        await events.aclose()
