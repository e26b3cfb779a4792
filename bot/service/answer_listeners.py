"""Listeners for the answers of this process's worker: the draft as it grows, then the post.

Answers that another process posts don't reach them; a waiting command also polls the inbox.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import ThreadAddress
from core.domain.jobs import Job
from core.domain.service import InboxEntry, PostRef
from core.ports import ProgressSink
from core.ports.service import ChatPlatform


@dataclass(eq=False, slots=True, kw_only=True)
class _Listener:
    progress: ProgressSink
    posted: asyncio.Future[Answer]


class AnswerListeners:
    def __init__(self) -> None:
        self._listeners: dict[str, list[_Listener]] = {}

    @contextmanager
    def listen(self, message_key: str, progress: ProgressSink) -> Iterator[asyncio.Future[Answer]]:
        """Report the answer to `progress` while it is made; the future gets the post.

        An error post comes as an answer of status error, in no conversation.
        """
        listener = _Listener(progress=progress, posted=asyncio.get_running_loop().create_future())
        self._listeners.setdefault(message_key, []).append(listener)
        try:
            yield listener.posted
        finally:
            self._listeners[message_key].remove(listener)
            if not self._listeners[message_key]:
                del self._listeners[message_key]

    def wrap(self, platform: ChatPlatform) -> ChatPlatform:
        """Return the platform with its posts and progress also sent to the listeners."""
        return _NotifyingPlatform(platform, self)

    def progress_of(self, message_key: str) -> list[ProgressSink]:
        return [listener.progress for listener in self._listeners.get(message_key, ())]

    def notify(self, message_key: str, answer: Answer) -> None:
        for listener in self._listeners.get(message_key, ()):
            if not listener.posted.done():
                listener.posted.set_result(answer)


class _NotifyingPlatform:
    """Implements core.ports.service.ChatPlatform."""

    def __init__(self, platform: ChatPlatform, listeners: AnswerListeners) -> None:
        self._platform = platform
        self._listeners = listeners
        self.remove, self.redact = platform.remove, platform.redact

    @property
    def name(self) -> str:
        return self._platform.name

    async def open(self, entry: InboxEntry) -> ProgressSink:
        own = await self._platform.open(entry)
        listening = self._listeners.progress_of(entry.message_key)
        for sink in listening if entry.attempts > 1 else ():
            sink.reset()  # an earlier attempt may have shown a draft
        return _SharedProgress((own, *listening)) if listening else own

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        ref = await self._platform.post(address, message_key, answer, look_first=look_first)
        self._listeners.notify(message_key, answer)
        return ref

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        ref = await self._platform.fail(address, message_key, sentence)
        self._listeners.notify(message_key, Answer(status=AnswerStatus.ERROR, text=sentence))
        return ref


class _SharedProgress:
    def __init__(self, sinks: tuple[ProgressSink, ...]) -> None:
        self._sinks = sinks

    def text(self, piece: str) -> None:
        for sink in self._sinks:
            sink.text(piece)

    def reset(self) -> None:
        for sink in self._sinks:
            sink.reset()

    def step(self, job: Job) -> None:
        for sink in self._sinks:
            sink.step(job)
