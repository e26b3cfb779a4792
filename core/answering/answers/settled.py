"""Answers without a run: stored ones, shown again as they were, and answers to stopped or failed questions."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from core.answering.answer_store import AnswerStore, Opened
from core.answering.answers.stored import request_input, stored_ids, timings
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import Message, Outcome
from core.domain.incoming import IncomingMessage
from core.domain.jobs import Job, JobKind, JobStatus
from core.ports import Clock
from core.ports.service import JobRepository

CUT_OFF = "The process ended in the middle of this step."
# How the request of an answer ended that no run gave; with any other, it failed.
_SETTLED = {AnswerStatus.STOPPED: JobStatus.CANCELLED, AnswerStatus.ANSWERED: JobStatus.DONE}


class SettledAnswers:
    def __init__(self, store: AnswerStore, jobs: JobRepository, clock: Clock) -> None:
        self._store = store
        self._jobs = jobs
        self._clock = clock

    async def load(self, stored: Message) -> Answer:
        """Return a stored answer with its job tree."""
        return to_answer(stored, await self._jobs.list_tree(stored.job_id) if stored.job_id else [])

    async def settle(self, message: IncomingMessage, answer: Answer) -> Answer:
        """Return the stored answer of a question; store this one if it has no answer yet."""
        started = self._clock.monotonic()
        await self._store.replace_earlier(message)
        opened = await self._store.open(message)
        if opened.stored is not None:
            return await self.load(opened.stored)
        jobs = await self.fail_orphaned_steps(stored_ids(message).request)
        if not jobs:
            jobs = [_settled_request(message, opened.conversation.id, answer, self._clock.now())]
            await self._jobs.save(*jobs)
        return await self.end(message, opened, answer, jobs, started)

    async def end(
        self, message: IncomingMessage, opened: Opened, answer: Answer, jobs: Sequence[Job], started: float
    ) -> Answer:
        """Store an answer without a run, and the question if no attempt recorded it."""
        now = await self._store.open(message)
        if now.stored is not None:
            return await self.load(now.stored)
        if not now.is_recorded:
            now = opened if now.is_new else now  # the conversation whose ID the jobs have
            await self._store.record(now, [now.question])
        return await self._store.finish(message, now.conversation, answer, None, jobs, started)

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


def to_answer(stored: Message, jobs: Sequence[Job]) -> Answer:
    """The answer that an assistant message is, with the tree of how it was made."""
    outcome = stored.outcome or Outcome()
    return Answer(
        status=AnswerStatus(stored.status or AnswerStatus.ANSWERED),
        text=stored.content,
        citations=stored.citations,
        references=stored.references,
        partial=outcome.partial,
        grounded=outcome.grounded,
        unsupported=outcome.unsupported,
        choices=outcome.choices,
        suggestions=outcome.suggestions,
        response_type=outcome.response_type,
        data=outcome.data,
        data_sources=outcome.data_sources,
        data_gaps=outcome.data_gaps,
        conversation_id=stored.conversation_id,
        message_id=stored.id,
        jobs=tuple(jobs),
        usage=outcome.usage,
        timings_ms={"total": round(jobs[0].duration_ms or 0, 1) if jobs else 0.0, **timings(jobs)},
        model=outcome.model,
        rests_on=outcome.rests_on,
        searched=outcome.searched,
    )


def _settled_request(message: IncomingMessage, conversation_id: str, answer: Answer, now: datetime) -> Job:
    """The request of a question that was ended without any work on it that was recorded."""
    status = _SETTLED.get(answer.status, JobStatus.FAILED)
    request_id = stored_ids(message).request
    return Job(
        id=request_id,
        workspace=message.address.workspace,
        root_id=request_id,
        parent_id=None,
        kind=JobKind.REQUEST,
        name="answer",
        status=status,
        created_at=now,
        completed_at=now,
        input=request_input(message, conversation_id),
        error=answer.text if status is JobStatus.FAILED else None,
    )
