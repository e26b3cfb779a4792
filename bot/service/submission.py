"""Submission of commands' questions to the inbox, so that they are durable, in order and counted like all others.

The command waits for the post. If it asks to stop, the answer is stopped on behalf of its author. If it dies, or the
service ends, the question is still answered in its conversation.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from bot.service.answer_listeners import AnswerListeners
from bot.service.calls import Caller
from bot.terminal.platform import NO_QUESTION, PLATFORM
from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import IncomingMessage, message_key
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
# A job ends a moment before its inbox entry does, at the post: wait for that.
OPEN_TRIES = 20
OPEN_PAUSE_SECONDS = 0.05
KEPT = (
    "The Footnote service stopped before it answered. Your question is kept, and answered when the service runs again "
    "(see `footnote conversations list`)."
)


class QuestionSubmitter:
    """`ask` and `retry` wait for the answer; `resubmit` does not."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        store: InboxStore,
        listeners: AnswerListeners,
        conversations: Conversations,
        jobs: Jobs,
        cancel: Callable[[str, str], Awaitable[object]],
    ) -> None:
        """`cancel` stops the answer to a message; it takes the message key and the user who asked to stop it."""
        self._inbox = inbox
        self._store = store
        self._listeners = listeners
        self._conversations = conversations
        self._jobs = jobs
        self._outcomes = Outcomes(conversations, jobs)
        self._cancel = cancel

    async def ask(self, message: IncomingMessage, progress: ProgressSink, caller: Caller) -> Answer:
        """Submit a command's question and return its answer.

        Raises NotFound for an unknown conversation ID, and BadInput for a text that isn't a question.
        """
        return await self._ask(await self._placed(message), progress, caller)

    async def retry(self, job_id: str, workspace: str, progress: ProgressSink, caller: Caller) -> Answer:
        """Return a new answer to the question of a failed or cancelled request. Raises as `resubmit` does."""
        return await self._ask(await self._question_of(job_id, workspace), progress, caller)

    async def resubmit(self, job_id: str, workspace: str) -> IncomingMessage:
        """Submit the question of a failed or cancelled request again; durable when this returns.

        Raises as Jobs.question_of does, and InvalidState while the question is still in progress.
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
        raise InvalidState(f"The question of job {job_id!r} is already in progress. Wait for its answer, or stop it.")

    async def _placed(self, message: IncomingMessage) -> IncomingMessage:
        """Return the message in the thread whose order it joins, with a key of that thread."""
        address = message.address
        if message.conversation_id is not None:
            conversation, _ = await self._conversations.show(message.conversation_id, address.workspace)
            is_ours = conversation.address.platform == PLATFORM
            address = conversation.address if is_ours else replace(address, thread=conversation.id)
        key = message_key(address, message.event_key.rpartition(":")[2])
        return replace(message, address=address, event_key=key, message_key=key)

    async def _ask(self, incoming: IncomingMessage, progress: ProgressSink, caller: Caller) -> Answer:
        with self._listeners.listen(incoming.message_key, progress) as posted:
            receipt = await self._inbox.receive(incoming)
            if not receipt.accepted:
                return _refusal(receipt, incoming)
            try:
                return await self._answer(incoming, posted)
            except asyncio.CancelledError:
                if not caller.wants_stop:
                    raise InvalidState(KEPT) from None
                with suppress(InvalidState):  # it ended at this moment
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
                raise InvalidState("The question is no longer in the inbox. Ask again.")
            if posted.done() or entry.status.is_final:
                return await self._outcomes.find(entry)


def _refusal(receipt: Receipt, incoming: IncomingMessage) -> Answer:
    """Return the refusing gate's reason as an answer. BadInput for a text that isn't a question."""
    if receipt.command is not None:
        raise BadInput(NO_QUESTION)
    if receipt.decision.code == "bad_question":
        raise BadInput(receipt.decision.sentence)
    conversation_id = incoming.conversation_id or ""
    return Answer(status=AnswerStatus.REFUSED, text=receipt.decision.sentence, conversation_id=conversation_id)
