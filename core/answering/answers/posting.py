"""Posts to a chat platform, in bounded time, and the job that shows each.

The job is only for display: the platform itself is asked whether something was posted.
"""

import asyncio
import logging
from collections.abc import Awaitable, Mapping
from dataclasses import replace

from core.answering.answers.stored import stored_ids
from core.domain.answer import Answer
from core.domain.jobs import Job, JobKind, JobStatus
from core.domain.service import InboxEntry, PostRef
from core.errors import PlatformError, PlatformUnreachable, StorageError
from core.ports import Clock, ProgressSink
from core.ports.service import ChatPlatform, JobRepository
from core.work.progress import SilentProgress
from core.work.retries import to_sentence

POST_KEY = "post"  # the post's place under its request
NO_POST = ""  # where a post would be
POST_TIMEOUT_SECONDS = 60.0  # of one post; platforms answer within seconds, or not at all

log = logging.getLogger(__name__)


class Posting:
    """Posts to platforms by name. Without `jobs` the posts are recorded nowhere."""

    def __init__(self, platforms: Mapping[str, ChatPlatform], clock: Clock, jobs: JobRepository | None) -> None:
        self._platforms = platforms
        self._clock = clock
        self._jobs = jobs
        self._writing: set[asyncio.Task[None]] = set()

    async def open(self, entry: InboxEntry) -> ProgressSink:
        """Show that work on it has begun; notes and auto-answers come without a sign before them."""
        is_silent = entry.incoming.is_note or entry.incoming.circumstances.is_unasked
        return SilentProgress() if is_silent else await self._platform(entry).open(entry)

    async def answer(self, entry: InboxEntry, answer: Answer) -> PostRef:
        """Post the answer. Raises PlatformError, also for a platform that doesn't reply.

        A note without any stale answer left isn't posted.
        """
        if entry.incoming.is_note and not answer.note_on:
            return NO_POST
        platform = self._platform(entry)
        # An earlier process may have posted: a try before this one, or the answer to the message before it was edited.
        look_first = entry.attempts > 1 or entry.event_key != entry.message_key
        post = platform.post(entry.address, entry.message_key, answer, look_first=look_first)
        return await self._recorded(self._new_job(entry, "post", has_request=bool(answer.jobs)), platform, post)

    async def error(self, entry: InboxEntry, sentence: str) -> PostRef:
        """Post the one error. Raises as `answer` does. A note's error is only logged."""
        if entry.incoming.is_note:
            log.warning("A note in %s can't be posted: %s", entry.address, sentence)
            return NO_POST
        platform = self._platform(entry)
        has_request = self._jobs is not None and bool(await self._jobs.list_tree(stored_ids(entry.incoming).request))
        post = platform.fail(entry.address, entry.message_key, sentence)
        return await self._recorded(self._new_job(entry, "error post", has_request=has_request), platform, post)

    def _platform(self, entry: InboxEntry) -> ChatPlatform:
        """Return the entry's platform. PlatformUnreachable if its connection was lost after the entry was claimed."""
        name = entry.address.platform
        if name not in self._platforms:
            raise PlatformUnreachable(f"{name.capitalize()} is not connected. Trying again.")
        return self._platforms[name]

    def _new_job(self, entry: InboxEntry, name: str, *, has_request: bool) -> Job:
        """Create the job under its request, with one id for all attempts; without a recorded request, as a tree."""
        request = stored_ids(entry.incoming).request
        job_id = f"{request}/{POST_KEY}"
        now = self._clock.now()
        return Job(
            id=job_id,
            workspace=entry.workspace,
            root_id=request if has_request else job_id,
            parent_id=request if has_request else None,
            kind=JobKind.POST,
            name=name,
            status=JobStatus.RUNNING,
            created_at=now,
            started_at=now,
            input={"platform": entry.address.platform, "message_key": entry.message_key},
            attempts=entry.attempts,
        )

    async def _recorded(self, job: Job, platform: ChatPlatform, post: Awaitable[PostRef]) -> PostRef:
        """Post, and record it. A cancellation leaves the record: only the entry's owner may write then."""
        self._save(job)
        try:
            ref = await _in_time(platform, post)
        except Exception as error:
            now = self._clock.now()
            self._save(replace(job, status=JobStatus.FAILED, error=to_sentence(error), completed_at=now))
            raise
        self._save(replace(job, status=JobStatus.DONE, output={"post": ref}, completed_at=self._clock.now()))
        return ref

    def _save(self, job: Job) -> None:
        """Behind the post, which waits for none of its own records; they are written in this order."""
        if self._jobs is not None:
            task = asyncio.create_task(_write(self._jobs, job))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)


async def _write(jobs: JobRepository, job: Job) -> None:
    try:
        await jobs.save(job)
    except StorageError as error:
        log.warning("Job %s is not recorded as %s: %s", job.id, job.status.value, error)


async def _in_time(platform: ChatPlatform, post: Awaitable[PostRef]) -> PostRef:
    try:
        return await asyncio.wait_for(post, POST_TIMEOUT_SECONDS)
    except TimeoutError as error:
        raise PlatformError(f"{platform.name} did not take the post in {POST_TIMEOUT_SECONDS:g} s.") from error
