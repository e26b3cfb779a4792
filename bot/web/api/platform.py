"""The API as a chat platform: an answer is "posted" by handing it to the request that waits for it.

Nothing has to be found again after a crash: the answer is in its conversation, and a client that asks for a message
later is answered from there. A post's reference says which message of which conversation it shows.
"""

import asyncio
from collections import OrderedDict
from contextlib import suppress

from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import ThreadAddress
from core.domain.service import InboxEntry, PostRef
from core.ports import ProgressSink
from core.work.progress import SilentProgress

PLATFORM = "api"
CHANNEL = "api"
# Answers kept for clients that come back for them; older ones are read from their conversation, with less around them.
KEPT_ANSWERS = 200


class ApiPlatform:
    """Where answers meet the requests that wait for them (implements core.ports.service.ChatPlatform)."""

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
        return to_ref(answer)

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        answer = Answer(status=AnswerStatus.ERROR, text=sentence)
        return await self.post(address, message_key, answer, look_first=True)

    async def wait(self, message_key: str, seconds: float) -> Answer | None:
        """The answer to a message, as soon as it is posted; None when the time is up, or it was forgotten."""
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
    """Of a session's messages: the thread is the session's, or of one from another platform its conversation's id."""
    return ThreadAddress(platform=PLATFORM, workspace=workspace, channel=CHANNEL, thread=thread)


def to_ref(answer: Answer) -> PostRef:
    """`conversation id/message id`; both empty for an error that is in no conversation."""
    return f"{answer.conversation_id}/{answer.message_id}"
