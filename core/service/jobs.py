"""Job trees for people, and the inbox entries that wait."""

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.answering.answers.stored import request_input, stored_ids
from core.domain.answer import QueryType
from core.domain.conversation import Conversation, Role
from core.domain.incoming import IncomingMessage, ThreadAddress, again_key, message_key
from core.domain.jobs import RETENTION, Job, JobKind, JobStatus
from core.domain.service import InboxEntry, InboxStatus
from core.errors import InvalidState, NotFound
from core.ports import Clock, ConversationRepository
from core.ports.service import InboxStore, JobRepository
from core.work.orphaned_jobs import AbandonedRuns


def request_id(entry: InboxEntry) -> str:
    """The id of the entry's request, also before any work on it is recorded."""
    return stored_ids(entry.incoming).request


def to_request(entry: InboxEntry) -> Job:
    """Return the request job of a question without any record."""
    job_id = request_id(entry)
    job = Job(
        id=job_id,
        workspace=entry.workspace,
        root_id=job_id,
        parent_id=None,
        kind=JobKind.REQUEST,
        name="answer",
        status=JobStatus.QUEUED,
        created_at=entry.created_at,
        input=request_input(entry.incoming, entry.incoming.conversation_id),
        attempts=entry.attempts,
    )
    return _as_it_stands(job, entry)


def as_open(tree: Sequence[Job], entry: InboxEntry) -> list[Job]:
    """Return the recorded tree of an unfinished question, with its request still open.

    The request shows the entry's wait; steps that a shutdown or a kill interrupted wait with it.
    """
    root, *steps = tree
    if entry.status is not InboxStatus.RUNNING:
        steps = [step if step.status.is_final else replace(step, status=JobStatus.QUEUED) for step in steps]
    return [_as_it_stands(root, entry), *steps]


def _as_it_stands(request: Job, entry: InboxEntry) -> Job:
    status = JobStatus.QUEUED if entry.error is None else JobStatus.WAITING
    if entry.status is InboxStatus.RUNNING:
        status = JobStatus.RUNNING
    elif entry.cancelled_by is not None:
        status = JobStatus.CANCELLED  # its post has still to say so
    error = None if status is JobStatus.RUNNING else entry.error
    next_try = {"next_try_at": entry.waits_until.isoformat()} if entry.waits_until is not None else {}
    return replace(request, status=status, error=error, output={**request.output, **next_try}, completed_at=None)


class Jobs:
    def __init__(
        self,
        repository: JobRepository,
        conversations: ConversationRepository,
        clock: Clock,
        inbox: InboxStore | None = None,  # where questions wait; without one, none do
        abandoned: AbandonedRuns | None = None,  # asked before a run other than a question is shown as running
    ) -> None:
        self._inbox = inbox
        self._abandoned = abandoned
        self._repository = repository
        self._conversations = conversations
        self._clock = clock

    async def recent(self, workspace: str, limit: int = 50) -> list[list[Job]]:
        """Return the newest trees, each with its root first; a waiting question is a tree of its request only."""
        roots = await self._repository.list_roots(workspace, limit)
        if await self._settled(roots):
            roots = await self._repository.list_roots(workspace, limit)
        trees = await asyncio.gather(*(self._repository.list_tree(root.id) for root in roots))
        entries = await self._inbox.list_open(workspace, limit) if self._inbox is not None else []
        waiting = {request_id(entry): entry for entry in entries}
        shown = [as_open(tree, waiting.pop(tree[0].id)) if tree[0].id in waiting else tree for tree in trees if tree]
        shown += [[to_request(entry)] for entry in waiting.values()]
        return sorted(shown, key=lambda tree: tree[0].created_at, reverse=True)[:limit]

    async def tree(self, job_id: str, workspace: str) -> list[Job]:
        """The whole tree a job belongs to, its root first; of a question that waits, its request. NotFound."""
        return (await self._find(job_id, workspace))[0]

    async def cancel(self, job_id: str, workspace: str) -> list[Job]:
        """Cancel an unfinished job with its unfinished descendants. InvalidState if it has ended.

        A waiting or running question is marked in the inbox: its worker stops, and its post shows that.
        """
        tree, entry = await self._find(job_id, workspace)
        job = next(item for item in tree if item.id == job_id)
        if job.status.is_final:
            raise InvalidState(f"Job {job_id!r} can't be cancelled: it is {job.status.value} already.")
        if entry is not None and self._inbox is not None and job.parent_id is None:
            await self._inbox.cancel(entry.message_key, entry.incoming.author)
            return await self.tree(job_id, workspace)
        now = self._clock.now()
        below = [item for item in tree if item.id == job_id or item.id.startswith(f"{job_id}/")]
        ended = [
            replace(item, status=JobStatus.CANCELLED, completed_at=now) for item in below if not item.status.is_final
        ]
        await self._repository.save(*ended)
        return await self._repository.list_tree(job.root_id)

    async def tidy(self) -> int:
        """Forget the trees that ended longer ago than RETENTION; how many jobs those were. Called once a day."""
        return await self._repository.purge(self._clock.now() - RETENTION)

    async def _find(self, job_id: str, workspace: str) -> tuple[list[Job], InboxEntry | None]:
        """Return a job's tree, with the entry of its question if that is open. NotFound for an unknown ID."""
        try:
            job = await self._repository.get(job_id, workspace)
        except NotFound:
            entries = await self._inbox.list_open(workspace) if self._inbox is not None else []
            entry = next((entry for entry in entries if request_id(entry) == job_id), None)
            if entry is None:
                raise
            return [to_request(entry)], entry
        tree = await self._repository.list_tree(job.root_id)
        if await self._settled(tree[:1]):
            tree = await self._repository.list_tree(job.root_id)
        key = tree[0].input.get("message_key") if tree else None
        open_entries = await self._inbox.find_open(str(key)) if self._inbox is not None and key else []
        entry = next((entry for entry in open_entries if request_id(entry) == job.root_id), None)
        return (as_open(tree, entry) if entry is not None else tree), entry

    async def _settled(self, roots: Sequence[Job]) -> bool:
        """Whether one of these may have been ended just now because its process died."""
        running = [root for root in roots if root.kind is not JobKind.REQUEST and not root.status.is_final]
        return bool(running and self._abandoned is not None and await self._abandoned.settle())

    async def question_of(self, job_id: str, workspace: str) -> IncomingMessage:
        """The question of a failed or cancelled request, to be asked again: the next version of the same message.

        It keeps the asker, the options and the posting key, so that its answer takes the place of the failed one.
        NotFound for unknown ids; InvalidState for steps, for requests that run or went well, and for questions that
        are no longer in their conversation.
        """
        job = await self._repository.get(job_id, workspace)
        if job.kind is not JobKind.REQUEST and job.parent_id is None:
            raise InvalidState(f"Job {job_id!r} is no question but a run of {job.kind.value}: give its command again.")
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
            event_key=again_key(key, uuid.uuid4().hex),
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
    """Return the conversation's thread, or the thread on the platform that the question came from.

    The posting key names that platform, so a private question is never posted elsewhere.
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
