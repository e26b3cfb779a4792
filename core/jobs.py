"""Use cases around job trees: list, show, cancel, and ask a failed request again."""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace

from core.answering import AnswerService
from core.domain.answer import Answer, QueryType
from core.domain.conversation import Conversation, IncomingMessage, Role, ThreadAddress
from core.domain.inbox import message_key
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
        """Ask the question of a failed or cancelled request again, here and now. Raises as `question_of` does."""
        question = await self.question_of(job_id, workspace)
        return await self._answers().answer(question, progress)

    async def question_of(self, job_id: str, workspace: str) -> IncomingMessage:
        """The question of a failed or cancelled request, to be asked again: the next version of the same message.

        It keeps the asker, the options and the posting key, so that its answer takes the place of the failed one.
        NotFound for unknown ids; InvalidState for steps, for requests that run or went well, and for questions that
        are no longer in their conversation.
        """
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
        address = _asked_at(job, conversation)
        key = _option(job.input, "message_key") or message_key(address, uuid.uuid4().hex)
        return IncomingMessage(
            address=address,
            author=asked.author,
            text=asked.content,
            event_key=f"{key}@again-{uuid.uuid4().hex}",
            message_key=key,
            conversation_id=conversation_id,
            document=_option(job.input, "document"),
            journal=_option(job.input, "journal"),
            query_type=QueryType(_option(job.input, "query_type") or QueryType.QUESTION),
            position=_option(job.input, "position"),
            model=_option(job.input, "model"),
            strategy=_option(job.input, "strategy"),
        )


def _asked_at(job: Job, conversation: Conversation) -> ThreadAddress:
    """The conversation's thread; for a question that came into it from another platform, that platform's own thread.

    The posting key says where it came from (core/domain/inbox.py): what was asked in private is not posted elsewhere.
    """
    address = conversation.address
    platform, _, rest = (_option(job.input, "message_key") or "").partition(":")
    workspace, _, channel_and_id = rest.partition(":")
    channel, _, message_id = channel_and_id.rpartition(":")
    if not message_id or workspace != address.workspace or (platform, channel) == (address.platform, address.channel):
        return address
    return ThreadAddress(platform=platform, workspace=workspace, channel=channel, thread=conversation.id)


def _option(recorded: Mapping[str, object], name: str) -> str | None:
    value = recorded.get(name)
    return str(value) if value else None
