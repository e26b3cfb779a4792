"""Questions from commands, asked like everybody's: through the inbox, so that they are durable, in order and counted.

The command waits for the post. When it asks to stop, the answer is stopped in its asker's name; when it dies, or the
service ends, the answer is made all the same and stands in its conversation.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from bot.control.answer_listeners import Hearing
from bot.terminal.platform import PLATFORM
from bot.terminal.translate import NO_QUESTION
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import IncomingMessage, ThreadAddress, message_key
from core.domain.service import Receipt
from core.errors import BadInput, InvalidState
from core.ports import ProgressSink
from core.ports.service import InboxStore
from core.service.inbox import Inbox
from core.service.jobs import Jobs
from core.service.outcomes import Outcomes
from core.work.conversations import Conversations

POLL_SECONDS = 1.0  # between looks into the inbox, for answers that another process posts
STOP_SECONDS = 4.0  # for a stopped answer to be stored; the command itself waits five
# A job ends a moment before its entry does, which is when the post is made: that is waited for.
OPEN_TRIES = 20
OPEN_PAUSE_SECONDS = 0.05
KEPT = (
    "The Footnote service stopped before it had answered: the question is kept and answered when it runs again "
    "(`footnote conversations list`)."
)


@dataclass(slots=True, kw_only=True)
class Caller:
    """The command at the other end of a call."""

    wants_stop: bool = False  # it said so before it went; one that dies says nothing


class Asking:
    """`ask` and `again` wait for the answer; `receive_again` does not."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        store: InboxStore,
        hearing: Hearing,
        conversations: Conversations,
        jobs: Jobs,
        cancel: Callable[[str, str], Awaitable[object]],
    ) -> None:
        """`cancel` stops the answer to a message: its posting key, and who asked."""
        self._inbox = inbox
        self._store = store
        self._hearing = hearing
        self._conversations = conversations
        self._jobs = jobs
        self._outcomes = Outcomes(conversations, jobs)
        self._cancel = cancel

    async def ask(self, message: IncomingMessage, progress: ProgressSink, caller: Caller) -> Answer:
        """The answer to a command's question.

        Raises NotFound for an unknown conversation id, and BadInput for a question that can't be one.
        """
        return await self._ask(await self._placed(message), progress, caller)

    async def again(self, job_id: str, workspace: str, progress: ProgressSink, caller: Caller) -> Answer:
        """The new answer to the question of a failed or cancelled request. Raises as `receive_again` does."""
        return await self._ask(await self._question_of(job_id, workspace), progress, caller)

    async def receive_again(self, job_id: str, workspace: str) -> IncomingMessage:
        """Hand the question of a failed or cancelled request to the inbox once more; durable when this returns.

        Raises as Jobs.question_of does, and InvalidState while the question is being answered already.
        """
        incoming = await self._question_of(job_id, workspace)
        receipt = await self._inbox.receive(incoming)
        if not receipt.accepted:
            raise InvalidState(receipt.decision.sentence)
        return incoming

    async def _question_of(self, job_id: str, workspace: str) -> IncomingMessage:
        incoming = await self._jobs.question_of(job_id, workspace)
        for _ in range(OPEN_TRIES):
            if not await self._store.find_open(incoming.message_key):
                return incoming
            await asyncio.sleep(OPEN_PAUSE_SECONDS)
        raise InvalidState(f"The question of job {job_id!r} is being answered already: wait for it, or stop it.")

    async def _placed(self, message: IncomingMessage) -> IncomingMessage:
        """In the thread whose questions it has to be answered after, with a key of that thread."""
        address = message.address
        if message.conversation_id is not None:
            conversation, _ = await self._conversations.show(message.conversation_id, address.workspace)
            address = terminal_address(address, conversation.id, conversation.address)
        key = message_key(address, message.event_key.rpartition(":")[2])
        return replace(message, address=address, event_key=key, message_key=key)

    async def _ask(self, incoming: IncomingMessage, progress: ProgressSink, caller: Caller) -> Answer:
        with self._hearing.listen(incoming.message_key, progress) as posted:
            receipt = await self._inbox.receive(incoming)
            if not receipt.accepted:
                return _refusal(receipt, incoming)
            try:
                return await self._answer(incoming, posted)
            except asyncio.CancelledError:
                if not caller.wants_stop:
                    raise InvalidState(KEPT) from None
                with suppress(InvalidState):  # it ended this moment
                    await self._cancel(incoming.message_key, incoming.author)
                await asyncio.wait({posted}, timeout=STOP_SECONDS)
                raise

    async def _answer(self, incoming: IncomingMessage, posted: "asyncio.Future[Answer]") -> Answer:
        while True:
            await asyncio.wait({posted}, timeout=POLL_SECONDS)
            if posted.done() and posted.result().conversation_id:
                return posted.result()
            entry = await self._store.find(incoming.event_key)
            if entry is None:
                raise InvalidState("The question is no longer in the inbox: ask again.")
            if posted.done() or entry.status.is_final:
                return await self._outcomes.find(entry)


def terminal_address(asked_at: ThreadAddress, conversation_id: str, conversation_at: ThreadAddress) -> ThreadAddress:
    """Where a command's question goes: its conversation's thread, or beside one of another platform, never into it."""
    if conversation_at.platform == PLATFORM:
        return conversation_at
    return replace(asked_at, thread=conversation_id)


def _refusal(receipt: Receipt, incoming: IncomingMessage) -> Answer:
    """BadInput for what can't be a question; the answer of any other gate says why it refused."""
    if receipt.command is not None:
        raise BadInput(NO_QUESTION)
    if receipt.decision.code == "bad_question":
        raise BadInput(receipt.decision.sentence)
    conversation_id = incoming.conversation_id or ""
    return Answer(status=AnswerStatus.REFUSED, text=receipt.decision.sentence, conversation_id=conversation_id)
