"""Use cases around job trees: list, show, cancel, and ask a failed request again."""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace

from core.answering import AnswerService
from core.domain.answer import Answer, QueryType
from core.domain.conversation import IncomingMessage, Role
from core.domain.jobs import Job, JobKind, JobStatus
from core.errors import InvalidState
from core.ports import Clock, ConversationRepository, JobRepository, ProgressSink


class Jobs:
    def __init__(
        self,
        repository: JobRepository,
        conversations: ConversationRepository,
        answers: Callable[[], AnswerService],  # made only when a question is asked again
        clock: Clock,
    ) -> None:
        self._repository = repository
        self._conversations = conversations
        self._answers = answers
        self._clock = clock

    async def recent(self, workspace: str, limit: int = 50) -> list[list[Job]]:
        """The newest trees, each with its root first."""
        roots = await self._repository.list_roots(workspace, limit)
        return list(await asyncio.gather(*(self._repository.list_tree(root.id) for root in roots)))

    async def tree(self, job_id: str, workspace: str) -> list[Job]:
        """The whole tree a job belongs to, its root first. NotFound for unknown ids."""
        job = await self._repository.get(job_id, workspace)
        return await self._repository.list_tree(job.root_id)

    async def cancel(self, job_id: str, workspace: str) -> list[Job]:
        """End a job that has not ended, with all below it that has not. InvalidState when it has ended."""
        job = await self._repository.get(job_id, workspace)
        if job.status.is_final:
            raise InvalidState(f"Job {job_id!r} can't be cancelled: it is {job.status.value} already.")
        now = self._clock.now()
        for item in await self._repository.list_tree(job.root_id):
            below = item.id == job.id or item.id.startswith(f"{job.id}/")
            if below and not item.status.is_final:
                await self._repository.save(replace(item, status=JobStatus.CANCELLED, completed_at=now))
        return await self._repository.list_tree(job.root_id)

    async def retry(self, job_id: str, workspace: str, progress: ProgressSink) -> Answer:
        """Ask the question of a failed or cancelled request again, in its conversation, with the same options."""
        job = await self._repository.get(job_id, workspace)
        if job.kind is not JobKind.REQUEST:
            raise InvalidState(f"Job {job_id!r} is a {job.kind.value} step: retry its request {job.root_id!r}.")
        if job.status not in (JobStatus.FAILED, JobStatus.CANCELLED):
            raise InvalidState(
                f"Job {job_id!r} is {job.status.value}: only failed or cancelled requests can be retried."
            )
        conversation_id = str(job.input["conversation_id"])
        conversation = await self._conversations.get(conversation_id, workspace)
        messages = await self._conversations.list_messages(conversation_id)
        asked = next(
            (item for item in messages if item.id == job.input.get("message_id") and item.role is Role.USER), None
        )
        if asked is None:
            raise InvalidState(f"The question of job {job_id!r} is no longer in conversation {conversation_id!r}.")
        return await self._answers().answer(
            IncomingMessage(
                address=conversation.address,
                author=asked.author,
                text=asked.content,
                event_key=uuid.uuid4().hex,
                conversation_id=conversation_id,
                document=_option(job.input, "document"),
                journal=_option(job.input, "journal"),
                query_type=QueryType(_option(job.input, "query_type") or QueryType.QUESTION),
                position=_option(job.input, "position"),
                model=_option(job.input, "model"),
                strategy=_option(job.input, "strategy"),
            ),
            progress,
        )


def _option(recorded: Mapping[str, object], name: str) -> str | None:
    value = recorded.get(name)
    return str(value) if value else None
