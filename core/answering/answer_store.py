"""Questions and answers in the history: opened, recorded, and stored exactly once for each event."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from core.answering.answers.stored import answer_message, messages_of_draft, question_message, stored_ids, timings
from core.answering.deletion import forget_turns
from core.domain.answer import Answer, Draft
from core.domain.conversation import Conversation, Message, Role
from core.domain.incoming import IncomingMessage, is_asked_later
from core.domain.jobs import Job
from core.ports import Clock
from core.ports.service import InboxStore, JobRepository
from core.work.conversations import Conversations
from core.work.questions import WITHOUT_SIGNS, check_question
from core.work.steps import forget_kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A question with its conversation, as far as the history has them."""

    conversation: Conversation
    question: Message
    history: Sequence[Message]  # messages before the question
    is_new: bool = False  # the conversation is not stored yet
    is_recorded: bool  # the question is in the history, and so are the messages before it
    stored: Message | None = None  # its answer, stored by an earlier attempt


class AnswerStore:
    """`edited` names the platforms on which people edit questions; there an edit replaces earlier versions."""

    def __init__(
        self,
        conversations: Conversations,
        jobs: JobRepository,
        inbox: InboxStore,
        clock: Clock,
        edited: Collection[str] = (),
    ) -> None:
        self._conversations = conversations
        self._jobs = jobs
        self._inbox = inbox
        self._clock = clock
        self._edited = edited

    async def open(self, message: IncomingMessage) -> Opened:
        """Find or begin the conversation. Raises NotFound and BadInput."""
        check_question(message.text, needs_words=message.address.platform in WITHOUT_SIGNS)
        thread = await self._conversations.thread_of(message)
        conversation, messages = thread.conversation, thread.messages
        question = question_message(message, conversation.id, self._clock.now())
        place = next((place for place, item in enumerate(messages) if item.id == question.id), None)
        if place is None:
            return Opened(
                conversation=conversation, question=question, history=messages, is_recorded=False, is_new=thread.is_new
            )
        answer_id = stored_ids(message).answer
        stored = next((item for item in messages[place:] if item.id == answer_id), None)
        return Opened(
            conversation=conversation, question=question, history=messages[:place], is_recorded=True, stored=stored
        )

    async def record(self, opened: Opened, messages: Sequence[Message]) -> None:
        """Store messages, and the conversation with the first of them."""
        if opened.is_new:
            await self._conversations.begin(opened.conversation, messages)
        else:
            await self._conversations.record(opened.conversation, messages)

    async def replace_earlier(self, message: IncomingMessage) -> None:
        """Remove earlier versions of an edited question, or of one that came too early, with their answers."""
        is_edit = message.message_key not in ("", message.event_key) and message.address.platform in self._edited
        if not is_edit and not is_asked_later(message.event_key, message.message_key):
            return
        versions = [entry.incoming for entry in await self._inbox.list_versions(message.message_key)]
        first = replace(message, event_key=message.message_key)  # its entry may be purged already
        earlier = {question.event_key: question for question in [first, *versions]}
        earlier.pop(message.event_key, None)
        await forget_turns(self._conversations, list(earlier.values()))

    async def forget(self, message: IncomingMessage) -> None:
        """Remove a withdrawn question from the history."""
        if message.address.platform in self._edited:
            await forget_turns(self._conversations, [message])

    async def leave(self, message: IncomingMessage) -> None:
        """Remove a question with its answer, and its conversation if nothing else was answered there."""
        await forget_turns(self._conversations, [message])
        conversation = await self._conversations.find(message.address)
        if conversation is not None:
            _, history = await self._conversations.show(conversation.id, message.address.workspace)
            if not any(item.role is Role.ASSISTANT for item in history):
                await self._conversations.delete(conversation.id, message.address.workspace)

    async def finish(
        self,
        message: IncomingMessage,
        conversation: Conversation,
        answer: Answer,
        draft: Draft | None,
        jobs: Sequence[Job],
        started: float,
    ) -> Answer:
        """Store the answer with its tool calls, move the focus, and return the complete answer."""
        now = self._clock.now()
        await forget_kept(jobs, self._jobs)  # no retry follows, after a failure either
        shown = answer_message(answer, message, conversation.id, jobs[0].id if jobs else None, now)
        between = messages_of_draft(draft, conversation.id, now) if draft else []
        await self._conversations.record(conversation, [*between, shown], answer.citations)
        return replace(
            answer,
            conversation_id=conversation.id,
            message_id=shown.id,
            jobs=tuple(jobs),
            timings_ms={"total": round((self._clock.monotonic() - started) * 1000, 1), **timings(jobs)},
        )
