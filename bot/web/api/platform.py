"""The API as a chat platform: a post wakes the requests that wait for it, and they read the answer where it is stored.

The reference of a post names conversation and message.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from core.domain.answer import Answer
from core.domain.incoming import ThreadAddress
from core.domain.service import InboxEntry, PostRef
from core.ports import ProgressSink
from core.work.progress import SilentProgress

PLATFORM = "api"
CHANNEL = "api"


class ApiPlatform:
    """Answers for waiting requests (implements core.ports.service.ChatPlatform)."""

    def __init__(self) -> None:
        self._posted: dict[str, set[asyncio.Event]] = {}  # requests waiting, by message key

    @property
    def name(self) -> str:
        return PLATFORM

    async def open(self, entry: InboxEntry) -> ProgressSink:
        return SilentProgress()

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        self._wake(message_key)
        return f"{answer.conversation_id}/{answer.message_id}"

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        self._wake(message_key)
        return "/"

    async def remove(self, entry: InboxEntry) -> None:
        """Do nothing: nothing but the history holds answers."""

    async def redact(self, entry: InboxEntry, sentence: str) -> None:
        """Do nothing: the history has the sentence."""

    @contextmanager
    def watch(self, message_key: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set with each post of a message."""
        posted = asyncio.Event()
        self._posted.setdefault(message_key, set()).add(posted)
        try:
            yield posted
        finally:
            self._posted[message_key].discard(posted)
            if not self._posted[message_key]:
                del self._posted[message_key]

    def _wake(self, message_key: str) -> None:
        for posted in self._posted.get(message_key, ()):
            posted.set()


def api_address(workspace: str, thread: str) -> ThreadAddress:
    """Return the address of a session's messages; `thread` is a conversation ID if it is on another platform."""
    return ThreadAddress(platform=PLATFORM, workspace=workspace, channel=CHANNEL, thread=thread)
