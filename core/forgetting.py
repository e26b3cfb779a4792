"""A question that was deleted, or a whole thread, is forgotten: not answered any more, and out of the history."""

from collections.abc import Callable

from core.attachments import Attachments
from core.conversations import Conversations
from core.domain.conversation import ThreadAddress
from core.domain.inbox import PostRef
from core.service_ports import InboxStore

# An answer that is being posted ends within seconds; one of another process hears of it with its next beat.
PATIENCE_SECONDS = 15.0


class Forgetting:
    """`stop` is Worker.withdraw: it ends at once what this process is working on."""

    def __init__(
        self,
        *,
        inbox: InboxStore,
        conversations: Conversations,
        stop: Callable[[str], None],
        attachments: Attachments | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._inbox = inbox
        self._conversations = conversations
        self._stop = stop
        self._attachments = attachments
        self._patience = patience_seconds

    async def forget_message(self, message_key: str) -> tuple[PostRef, ...]:
        """Forget a question with its answer; gives the posts to delete, the same ones when it is repeated.

        What is open of it ends without a post. Unknown keys give nothing.
        """
        raise NotImplementedError

    async def forget_thread(self, address: ThreadAddress) -> None:
        """Forget the conversation of a thread that is gone, with its files; an unknown thread is ignored."""
        raise NotImplementedError
