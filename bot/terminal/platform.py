"""The terminal as a chat platform: an answer is "posted" by being in its conversation, where its command finds it.

A command that waits listens to the worker of its own service (bot/service/answer_listeners.py). It reads what another
process answers from the history, as after a crash.
"""

from core.domain.answer import Answer
from core.domain.conversation import ThreadAddress
from core.domain.service import InboxEntry, PostRef
from core.ports import ProgressSink
from core.work.progress import SilentProgress

PLATFORM = "terminal"


class TerminalPlatform:
    """Implements core.ports.service.ChatPlatform."""

    name = PLATFORM

    async def open(self, entry: InboxEntry) -> ProgressSink:
        return SilentProgress()

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        """`conversation id/message id` of the stored answer."""
        return f"{answer.conversation_id}/{answer.message_id}"

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        """Nothing more to show: the sentence is the entry's."""
        return ""
