"""The worker: answers inbox entries, each thread in order, threads in parallel, each message in exactly one post.

`run` claims, `_attempt` is one attempt at one message, and `core/work/retries.py` decides the next move after an error.
After a kill the entry is still claimed; the next worker to claim it finds its progress in the history and on the
platform.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from core.answering.answers.posting import Posting
from core.answering.pipeline import STOPPED, Answering
from core.answering.redaction import REDACTED_POST, REDACTED_SHOWN
from core.domain.answer import Answer, AnswerStatus
from core.domain.audit import AuditNote, Deed
from core.domain.service import LOST, NO_ANSWER, WITHDRAWN, DueRemoval, InboxEntry, InboxStatus, PostFate
from core.errors import AccessDenied, FootnoteError, InvalidState, StorageError
from core.ports import Clock
from core.ports.service import ChatPlatform, InboxStore, JobRepository
from core.work.attempts import Attempt
from core.work.retries import MOST_CRASHES, GiveUp, decide, is_waiting, pause, poison_sentence, to_sentence
from core.work.runs import LostLease, Run

DEFAULT_PARALLEL = 64  # questions at once: they wait for models, not for the processor
DEFAULT_TRIES = 4  # with the pauses between them under half a minute: the thread waits behind it
DEFAULT_TIMEOUT_SECONDS = 300.0  # of one try; the agent's own budget (90 s) ends long before
POST_TRIES = 10  # for the error post; after that the thread continues without it, and the log has the reason
REMOVED_AT_ONCE = 20  # posts of deleted answers, one after the other
REMOVE_AGAIN_SECONDS = 300.0  # after a platform refused to delete a post
POLL_SECONDS = 1.0  # delay for entries and stops from other processes; own ones are noticed at once
BEATS = 3  # renewals in the time of a lease, at least
GRACE_SECONDS = 1.5  # for posts under way when the service stops; the whole stop has less than five

log = logging.getLogger(__name__)


class Worker:
    """One process's worker. `run` until `stop`; `wake` and `cancel` may be called from anywhere in the event loop."""

    def __init__(
        self,
        store: InboxStore,
        answers: Answering,
        platforms: Mapping[str, ChatPlatform],
        clock: Clock,
        *,
        jobs: JobRepository | None = None,
        parallel: int = DEFAULT_PARALLEL,
        tries: int = DEFAULT_TRIES,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        pause_scale: float = 1.0,
    ) -> None:
        """`platforms` by name; entries of other platforms are left for other workers.

        Posts are recorded in `jobs`. `pause_scale` makes all pauses between tries longer or shorter.
        """
        self._store = store
        self._answers = answers
        self._platforms = platforms
        self._posting = Posting(platforms, clock, jobs)
        self._clock = clock
        self._parallel = parallel
        self._tries = tries
        self._timeout = timeout_seconds
        self._pause_scale = pause_scale
        self._runs: dict[int, Run] = {}
        self._woken = asyncio.Event()
        self._stopping = False
        self._ended = asyncio.Event()
        self._ended.set()

    @property
    def running(self) -> tuple[InboxEntry, ...]:
        """The entries in progress."""
        return tuple(run.entry for run in self._runs.values())

    async def run(self) -> None:
        """Work until `stop`, were it told before. Storage errors are tried again; anything else raised is a bug."""
        self._ended.clear()
        tasks = [asyncio.create_task(self._beat()), asyncio.create_task(self._remove_posts())]
        try:
            while not self._stopping:
                self._woken.clear()
                await self._claim()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._woken.wait(), POLL_SECONDS)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.shield(self._leave())
            self._ended.set()

    async def stop(self) -> None:
        """Claim nothing more, leave unfinished work for the next start, and let `run` end; for good, safe to repeat."""
        self._stopping = True
        self.wake()
        await self._ended.wait()

    def wake(self) -> None:
        """There may be something to claim: look now instead of at the next poll."""
        self._woken.set()

    async def cancel(self, message_key: str, by: str, is_moderator: bool = False) -> None:
        """Stop the answer to a message; its post shows that. AccessDenied for others than its asker and moderators.

        InvalidState if the message has no open entry.
        """
        found = await self._store.find_open(message_key)
        if not found:
            raise InvalidState("There is nothing to stop: this message is not being answered.")
        audit, asker = None, found[0].incoming
        if any(entry.incoming.author != by for entry in found):
            if not is_moderator:
                raise AccessDenied(f"Only {asker.author_name or asker.author} or a moderator can stop this answer.")
            audit = AuditNote(workspace=asker.address.workspace, actor=by, deed=Deed.ANSWER_STOPPED, about=message_key)
        for entry in await self._store.cancel(message_key, by, audit=audit):
            self._stop_run(entry.seq, by)
        self.wake()

    def withdraw(self, message_key: str, before: int | None = None) -> None:
        """End runs of a message at once if their entries, up to a number, are withdrawn in the store."""
        for seq, run in list(self._runs.items()):
            if run.entry.message_key == message_key and (before is None or seq < before):
                self._stop_run(seq, WITHDRAWN)
        self.wake()

    async def _claim(self) -> None:
        free = self._parallel - len(self._runs)
        if free <= 0:
            return
        try:
            ours_until = self._ours_until()
            claimed = await self._store.claim(free, self._platforms.keys())
        except StorageError as error:
            log.warning("Nothing can be claimed: %s", error)
            return
        for entry in claimed:
            run = self._runs[entry.seq] = Run(entry, ours_until)
            run.task = asyncio.create_task(self._work(run), name=f"answer {entry.message_key}")

    async def _beat(self) -> None:
        """Renew the leases of running entries; stop lost ones, and ones cancelled by another process."""
        while True:
            await asyncio.sleep(min(self._store.lease_seconds / BEATS, POLL_SECONDS))
            seqs, ours_until = [*self._runs], self._ours_until()
            if not seqs:
                continue
            try:
                renewed = await self._store.renew(seqs)
            except StorageError as error:
                log.warning("The leases can't be renewed: %s", error)
                continue
            for run in [self._runs[seq] for seq in seqs if seq in self._runs]:
                if run.entry.seq in renewed:
                    run.ours_until = ours_until
                    if (by := renewed[run.entry.seq]) is not None:
                        self._stop_run(run.entry.seq, by)
                elif run.task is not None:
                    run.task.cancel()

    async def _remove_posts(self) -> None:
        """Take back the posts of deleted and of emptied answers."""
        while True:
            try:
                for removal in await self._store.list_removals(self._platforms.keys(), REMOVED_AT_ONCE):
                    await self._remove_post(removal)
            except StorageError as error:
                log.warning("The posts of deleted answers stay for now: %s", error)
            await asyncio.sleep(POLL_SECONDS)

    async def _remove_post(self, removal: DueRemoval) -> None:
        entry = removal.entry
        platform = self._platforms[entry.address.platform]
        try:
            if removal.fate is PostFate.REDACTED:
                await platform.redact(entry, REDACTED_SHOWN if entry.decision.code == LOST else REDACTED_POST)
            elif removal.fate is PostFate.DELETED:
                await platform.remove(entry)
        except Exception as error:
            how = log.info if isinstance(error, FootnoteError) else log.exception
            how("The post of %s stays for now: %s", entry.message_key, error)
            await self._store.removal_failed(entry.seq, REMOVE_AGAIN_SECONDS)
        else:
            await self._store.removed(entry.seq, removal.fate)

    def _ours_until(self) -> float:
        """Until when a lease that is asked for now holds for certain: half of it, as clocks and threads may stall."""
        return self._clock.monotonic() + self._store.lease_seconds / 2

    def _stop_run(self, seq: int, by: str) -> None:
        run = self._runs.get(seq)
        if run is not None:
            run.stop(by)

    async def _leave(self) -> None:
        """End all tasks, posts after a short grace period, and return unfinished entries."""
        tasks = {run.task: run for run in self._runs.values() if run.task is not None}
        left = [*self._runs]
        for task, run in tasks.items():
            if not run.is_posting:
                task.cancel()
        if tasks:
            _, pending = await asyncio.wait(tasks, timeout=GRACE_SECONDS)
            for task in pending:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        self._runs.clear()
        try:
            await self._store.release(left)
        except StorageError as error:
            log.warning("Unfinished work stays leased until its lease ends: %s", error)

    async def _work(self, run: Run) -> None:
        """One claim of one entry, to its end: posted, back in the queue, or left as it is for the next owner."""
        run.has_begun = True
        try:
            try:
                await self._attempt(run)
            except asyncio.CancelledError:
                if not run.is_stopped or self._stopping:
                    raise
                asyncio.current_task().uncancel()  # type: ignore[union-attr]  # this code runs in a task
                await self._end_stopped(run)
        except (LostLease, asyncio.CancelledError):
            log.info("Left: %s", run.entry.message_key)
        except Exception as error:
            await self._failed(run, error)
        finally:
            self._runs.pop(run.entry.seq, None)
            self.wake()

    async def _attempt(self, run: Run) -> None:
        entry = run.entry
        if entry.final_error is not None and not run.is_withdrawn:
            await self._post_error(run, entry.final_error)
        elif entry.cancelled_by is not None or run.is_stopped:
            run.is_stopped = True
            await self._end_stopped(run)
        elif entry.attempts > MOST_CRASHES + entry.failures:
            await self._give_up(run, poison_sentence(entry.attempts - 1))
        else:
            attempt = Attempt(
                number=entry.attempts,
                is_last=entry.failures + 1 >= self._tries,
                is_stopped=lambda: run.is_stopped and not run.is_withdrawn,
                is_withdrawn=lambda: run.is_withdrawn,
            )
            async with asyncio.timeout(self._timeout):
                progress = await self._posting.open(entry)
                answer = await self._answers.answer(entry.incoming, progress, attempt)
            if answer.status is not AnswerStatus.ANSWERED and await self._may_be_silent(entry):
                await self._leave_unanswered(entry)
            else:
                await self._post(run, answer)

    async def _may_be_silent(self, entry: InboxEntry) -> bool:
        """Return whether the bot was not asked, and no post of an earlier version has to follow an edit."""
        if not entry.incoming.circumstances.is_unasked:
            return False
        return all(version.post_ref is None for version in await self._store.list_versions(entry.message_key))

    async def _leave_unanswered(self, entry: InboxEntry) -> None:
        """Leave a message to people: the bot was not asked, and has no answer."""
        await self._answers.leave(entry.incoming)
        await self._change(lambda: self._store.leave(entry.seq, NO_ANSWER))

    async def _end_stopped(self, run: Run) -> None:
        """Show the failure in the post; if the message was deleted, only end its entry."""
        if run.is_withdrawn:
            await self._change(lambda: self._store.finish(run.entry.seq, InboxStatus.CANCELLED))
        else:
            await self._post(run, await self._answers.settle(run.entry.incoming, STOPPED))

    async def _post(self, run: Run, answer: Answer) -> None:
        entry = run.entry
        await self._begin_posting(run)
        ref = await self._posting.answer(entry, answer)
        status = InboxStatus.CANCELLED if answer.status is AnswerStatus.STOPPED else InboxStatus.DONE
        await self._change(lambda: self._store.finish(entry.seq, status, post_ref=ref))

    async def _post_error(self, run: Run, sentence: str) -> None:
        entry = run.entry
        await self._begin_posting(run)
        ref = await self._posting.error(entry, sentence)
        await self._change(lambda: self._store.finish(entry.seq, InboxStatus.FAILED, post_ref=ref, error=sentence))

    async def _begin_posting(self, run: Run) -> None:
        """Check the lease before a post: a worker that lost the entry posts nothing."""
        if self._clock.monotonic() > run.ours_until and not await self._store.renew([run.entry.seq]):
            raise LostLease
        run.is_posting = True

    async def _failed(self, run: Run, error: Exception) -> None:
        """Back into the queue after a pause, or given up with the one error post."""
        entry = run.entry
        trace = None if isinstance(error, FootnoteError) else error
        log.warning("Try %d of %s failed: %s", entry.failures + 1, entry.message_key, error, exc_info=trace)
        try:
            if entry.final_error is not None:
                await self._error_post_failed(entry, error)
                return
            age = self._clock.now() - entry.created_at
            decision = decide(error, failures=entry.failures, tries=self._tries, age=age)
            if isinstance(decision, GiveUp):
                await self._give_up(run, decision.sentence)
                return
            await self._retry(entry, decision.delay_seconds, to_sentence(error))
        except (LostLease, asyncio.CancelledError):
            log.info("Left: %s", entry.message_key)

    async def _give_up(self, run: Run, sentence: str) -> None:
        """Store that this sentence is due, so that no crash can lose it; the next claim posts it."""
        entry = run.entry
        if await self._may_be_silent(entry):
            log.warning("No auto-answer to %s: %s", entry.message_key, sentence)
            await self._leave_unanswered(entry)
            return
        try:
            await self._answers.settle(entry.incoming, Answer(status=AnswerStatus.ERROR, text=sentence))
        except FootnoteError as error:  # an unusable question can't be in the history; the post is still made
            log.info("No answer stored for %s: %s", entry.message_key, error)
        await self._retry(entry, 0, sentence, final_error=sentence)

    async def _error_post_failed(self, entry: InboxEntry, error: Exception) -> None:
        waits = is_waiting(error, self._clock.now() - entry.created_at)
        if waits or entry.failures + 1 < self._tries + POST_TRIES:
            await self._retry(entry, pause(entry.failures), to_sentence(error))
            return
        log.error("The error post for %s can't be made: %s", entry.message_key, entry.final_error)
        await self._change(lambda: self._store.finish(entry.seq, InboxStatus.FAILED, error=entry.final_error))

    async def _retry(self, entry: InboxEntry, delay: float, error: str, final_error: str | None = None) -> None:
        delay *= self._pause_scale
        await self._change(
            lambda: self._store.retry(entry.seq, delay_seconds=delay, error=error, final_error=final_error)
        )
        asyncio.get_running_loop().call_later(delay, self.wake)

    async def _change(self, write: Callable[[], Awaitable[bool]]) -> None:
        """Store an entry's outcome, even if cancelled; while the database fails, keep the entry in hand."""
        while True:
            try:
                if not await asyncio.shield(asyncio.ensure_future(write())):
                    raise LostLease
                return
            except StorageError as error:
                log.warning("Can't be stored yet: %s", error)
            if self._stopping:
                raise LostLease
            await asyncio.sleep(POLL_SECONDS)
