"""Events of threads for browsers, sent as server-sent events."""

import asyncio
import secrets
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field

from aiohttp import web

from bot.web.render import shown_json

# Events kept for reconnects: enough for two streamed answers of a few hundred pieces.
RING_EVENTS = 1_000
# Topics kept for reconnects, evicted oldest first.
IDLE_TOPICS = 200
RESET = "reset"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """`id` is unique across restarts: `{run of the process}-{number}`, increasing within a topic."""

    id: str
    kind: str
    data: Mapping[str, object]

    def encode(self) -> bytes:
        """Return its `text/event-stream` block."""
        data = shown_json(self.data)  # no raw line breaks: one data line is enough
        return f"id: {self.id}\nevent: {self.kind}\ndata: {data}\n\n".encode()


@dataclass(slots=True)
class _Topic:
    ring: deque[tuple[int, Event]]
    floor: int  # events up to this number may be evicted
    last: int
    readers: set[asyncio.Event] = field(default_factory=set)


class EventHub:
    """Events by topic. Publishing never blocks and never fails; call it in the event loop."""

    def __init__(self, *, ring_events: int = RING_EVENTS, idle_topics: int = IDLE_TOPICS) -> None:
        self._run = secrets.token_hex(4)
        self._ring_events = ring_events
        self._idle_topics = idle_topics
        self._topics: OrderedDict[str, _Topic] = OrderedDict()
        self._last = 0  # over all topics, so that an evicted topic never repeats a number
        self._closed = False

    def publish(self, topic: str, kind: str, data: Mapping[str, object]) -> str:
        """Send `data` to the topic's readers, now or when they reconnect; return the event's ID."""
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
        """Publish to every topic with readers. New readers get the whole state anyway."""
        for topic in [name for name, found in self._topics.items() if found.readers]:
            self.publish(topic, kind, data)

    def cursor(self, topic: str) -> str:
        """Return the current position. Take it before reading a state: the state may lack only later events."""
        self._touch(topic)
        return self._to_id(self._last)

    async def read(self, topic: str, after: str | None = None) -> AsyncGenerator[Event]:
        """Yield the topic's events after the ID `after`, then new ones, until the hub closes.

        A `reset` replaces evicted events: `after` is of an earlier process, or too old.
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
        """Return -1 for an ID of another process."""
        run, _, number = event_id.rpartition("-")
        is_ours = run == self._run and number.isascii() and number.isdigit() and int(number) <= self._last
        return int(number) if is_ours else -1


# Proxies and browsers drop a silent stream after half a minute; writing also detects closed connections.
HEARTBEAT_SECONDS = 15.0
RECONNECT_MILLISECONDS = 1_000


async def stream(request: web.Request, events: AsyncGenerator[Event]) -> web.StreamResponse:
    """Send events until the browser disconnects. It resumes with its last ID."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"})
    await response.prepare(request)
    with suppress(ConnectionResetError):
        await response.write(f"retry: {RECONNECT_MILLISECONDS}\n\n".encode())
        async with aclosing(with_heartbeat(events, HEARTBEAT_SECONDS)) as blocks:
            async for block in blocks:
                await response.write(block)
    return response


async def with_heartbeat(events: AsyncGenerator[Event], seconds: float) -> AsyncGenerator[bytes]:
    """Yield the events as blocks of a stream, and a comment after so many silent seconds."""
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
