"""The API as a chat platform: a post passes the answer to the waiting request.

After a crash, clients get the answer from its conversation. The reference of a post names conversation and message.
"""

import asyncio
from collections import OrderedDict
from contextlib import suppress

from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import ThreadAddress
from core.domain.service import InboxEntry, PostRef
from core.ports import ProgressSink
from core.work.progress import SilentProgress

PLATFORM = "api"
CHANNEL = "api"
# Answers kept in memory; older ones are read from their conversation, with fewer details.
KEPT_ANSWERS = 200


class ApiPlatform:
    """Answers for waiting requests (implements core.ports.service.ChatPlatform)."""

    def __init__(self, kept_answers: int = KEPT_ANSWERS) -> None:
        self._kept_answers = kept_answers
        self._answers: OrderedDict[str, Answer] = OrderedDict()  # by message key
        self._posted: dict[str, set[asyncio.Event]] = {}  # requests waiting, by message key

    @property
    def name(self) -> str:
        return PLATFORM

    async def open(self, entry: InboxEntry) -> ProgressSink:
        return SilentProgress()

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        self._answers[message_key] = answer
        self._answers.move_to_end(message_key)
        if len(self._answers) > self._kept_answers:
            self._answers.popitem(last=False)
        for waiting in self._posted.get(message_key, ()):
            waiting.set()
        return f"{answer.conversation_id}/{answer.message_id}"  # both empty for an error outside a conversation

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        answer = Answer(status=AnswerStatus.ERROR, text=sentence)
        return await self.post(address, message_key, answer, look_first=True)

    async def remove(self, entry: InboxEntry) -> None:
        """Do nothing: posts are read from the history."""

    async def wait(self, message_key: str, seconds: float) -> Answer | None:
        """Wait for the answer to a message. None after so many seconds, or if it was evicted."""
        if message_key not in self._answers and seconds > 0:
            waiting = asyncio.Event()
            self._posted.setdefault(message_key, set()).add(waiting)
            try:
                with suppress(TimeoutError):
                    await asyncio.wait_for(waiting.wait(), seconds)
            finally:
                self._posted[message_key].discard(waiting)
                if not self._posted[message_key]:
                    del self._posted[message_key]
        return self._answers.get(message_key)


def api_address(workspace: str, thread: str) -> ThreadAddress:
    """Return the address of a session's messages; `thread` is a conversation ID if it is on another platform."""
    return ThreadAddress(platform=PLATFORM, workspace=workspace, channel=CHANNEL, thread=thread)
