"""Questions and answers in the history: opened, recorded, and stored exactly once for each event."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from core.answering.answers.stored import (
    answer_message,
    messages_of_draft,
    question_message,
    settled_request,
    stored_ids,
    timings,
    to_answer,
)
from core.answering.deletion import forget_turns
from core.domain.answer import Answer, Draft
from core.domain.conversation import Conversation, Message
from core.domain.incoming import IncomingMessage
from core.domain.jobs import Job, JobKind, JobStatus
from core.ports import Clock
from core.ports.service import InboxStore, JobRepository
from core.work.conversations import Conversations
from core.work.questions import check_question
from core.work.steps import forget_kept

CUT_OFF = "The process ended in the middle of this step."


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
        check_question(message.text)
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

    async def load_answer(self, stored: Message) -> Answer:
        """Return a stored answer with its job tree."""
        return to_answer(stored, await self._jobs.list_tree(stored.job_id) if stored.job_id else [])

    async def record(self, opened: Opened, messages: Sequence[Message]) -> None:
        """Store messages, and the conversation with the first of them."""
        if opened.is_new:
            await self._conversations.begin(opened.conversation, messages)
        else:
            await self._conversations.record(opened.conversation, messages)

    async def replace_earlier(self, message: IncomingMessage) -> None:
        """Remove earlier versions of an edited question from the history, with their answers."""
        is_edit = message.message_key not in ("", message.event_key)
        if not is_edit or message.address.platform not in self._edited:
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

    async def settle(self, message: IncomingMessage, answer: Answer) -> Answer:
        """Return the stored answer of a question; store this one if there is none."""
        started = self._clock.monotonic()
        await self.replace_earlier(message)
        opened = await self.open(message)
        if opened.stored is not None:
            return await self.load_answer(opened.stored)
        jobs = await self.fail_orphaned_steps(stored_ids(message).request)
        if not jobs:
            jobs = [settled_request(message, opened.conversation.id, answer, self._clock.now())]
            await self._jobs.save(*jobs)
        return await self.end(message, opened, answer, jobs, started)

    async def end(
        self, message: IncomingMessage, opened: Opened, answer: Answer, jobs: Sequence[Job], started: float
    ) -> Answer:
        """Store an answer without a run, and the question if no attempt recorded it."""
        now = await self.open(message)
        if now.stored is not None:
            return await self.load_answer(now.stored)
        if not now.is_recorded:
            now = opened if now.is_new else now  # the conversation whose ID the jobs have
            await self.record(now, [now.question])
        return await self.finish(message, now.conversation, answer, None, jobs, started)

    async def fail_orphaned_steps(self, request_id: str) -> list[Job]:
        """Fail steps that an earlier attempt's process left running; return the tree. A post is still to be made."""
        now = self._clock.now()
        jobs = [
            job
            if job.status.is_final or job.kind is JobKind.POST
            else replace(job, status=JobStatus.FAILED, error=CUT_OFF, completed_at=now)
            for job in await self._jobs.list_tree(request_id)
        ]
        await self._jobs.save(*jobs)
        return jobs

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
