"""The job tree of one question, written during its run: each step is a job under the step that opened it.

`Steps` belongs to one question and opens its root. An open `Step` is the handle for the work inside it: who does a part
of that work gets the step as `parent`, and opens its own steps with it. Below NO_STEPS nothing is recorded.

Retries reuse finished work of earlier attempts. A step leaves its call (`CALL`) and its result (`KEPT`, until the tree
has succeeded) in its output; a retry finds it with `finished_before` and reuses it with `adopt`.
"""

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Protocol, runtime_checkable

from core.domain.chat import ChatRequest
from core.domain.jobs import CALL as CALL
from core.domain.jobs import KEPT as KEPT
from core.domain.jobs import Job, JobKind, JobStatus
from core.domain.replies import ChatResponse, Usage
from core.domain.spending import MICRO, NO_ACCOUNT, Account, CallPurpose
from core.errors import FootnoteError
from core.ports import ChatProvider, Clock
from core.ports.service import JobRepository

# Changes that come this close together are one write: most steps begin and end within it.
GATHER_SECONDS = 0.02


class Steps:
    """Records one tree. `on_change` is called at the start and the end of a job; `attempt` counts attempts.

    `earlier` is the tree of earlier attempts; its finished jobs keep their rows unless they run again.

    Changes are written behind the running code, in order, and completely when the root has ended: a question doesn't
    wait for its own records.
    """

    def __init__(
        self,
        repository: JobRepository,
        clock: Clock,
        workspace: str,
        on_change: Callable[[Job], None] | None = None,
        attempt: int = 1,
        earlier: Sequence[Job] = (),
    ) -> None:
        self._repository = repository
        self._clock = clock
        self._workspace = workspace
        self._on_change = on_change
        self._attempt = attempt
        self._earlier = {job.id: job for job in earlier if job.status is JobStatus.DONE and CALL in job.output}
        self._jobs: dict[str, Job] = {}
        self._unsaved: dict[str, None] = {}  # job ids in the order they changed
        self._writer: asyncio.Task[None] | None = None
        self._is_waited_for = asyncio.Event()
        self._is_waited_for.set()  # people look for the beginning: it is written at once
        self._keys: Counter[tuple[str, str]] = Counter()

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The tree so far: the root first, then by creation, so a parent precedes its children."""
        return tuple(self._jobs.values())

    def step(
        self,
        kind: JobKind,
        name: str,
        *,
        input: Mapping[str, object] | None = None,
        key: str | None = None,
        account: Account = NO_ACCOUNT,
    ) -> "Step":
        """The root, to open with `async with`; `key` is its id, or a new UUID. `account` pays for its model calls."""
        return Step(self, None, kind, name, input or {}, key, account=account)

    def _plan(self, step: "Step", status: JobStatus = JobStatus.RUNNING) -> Job:
        job_id = self._to_id(step)
        now = self._clock.now()
        waiting = self._jobs.get(job_id)
        return Job(
            id=job_id,
            workspace=self._workspace,
            root_id=next(iter(self._jobs), job_id),
            parent_id=step.parent_id,
            kind=step.kind,
            name=step.name,
            status=status,
            created_at=waiting.created_at if waiting is not None and waiting.status is JobStatus.QUEUED else now,
            started_at=now if status is JobStatus.RUNNING else None,
            input=step.input,
            attempts=self._attempt,
        )

    async def _flush(self) -> None:
        if self._writer is not None:
            self._is_waited_for.set()
            await self._writer

    async def _end(self, job: Job, step: "Step", status: JobStatus, error: str | None) -> None:
        self._save(
            replace(
                job,
                kind=step.kind,
                name=step.name,
                status=status,
                output=step.full_output,
                error=error,
                completed_at=self._clock.now(),
            )
        )
        if job.parent_id is None:
            self._close(well=status is JobStatus.DONE)
            await self._flush()

    def _close(self, *, well: bool) -> None:
        """End jobs that never started, and delete results saved for retries."""
        for job in {**self._earlier, **self._jobs}.values():
            if job.status is JobStatus.QUEUED:
                self._save(replace(job, status=JobStatus.CANCELLED, completed_at=self._clock.now()))
            elif well and CALL in job.output:
                self._save(replace(job, output=job.public_output))

    def _to_id(self, step: "Step") -> str:
        parent = step.parent_id
        if parent is None:
            return step.key or uuid.uuid4().hex
        if step.key is not None:
            return f"{parent}/{step.key}"
        letter = step.kind.value[0]
        while True:
            number = self._keys[parent, letter]
            self._keys[parent, letter] += 1
            if (job_id := f"{parent}/{letter}{number}") not in self._earlier:
                return job_id

    def _save(self, job: Job) -> None:
        """Show a change and have it written; a job that changes again before its turn is written once."""
        self._unsaved[job.id] = None
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
            self._writer.add_done_callback(_hear)
        self._adopt(job)

    def _adopt(self, job: Job) -> None:
        self._jobs[job.id] = job
        if self._on_change is not None:
            self._on_change(job)

    async def _write(self) -> None:
        """Write all changes; unwritable ones are kept for the next change to retry."""
        while self._unsaved:
            with suppress(TimeoutError):
                async with asyncio.timeout(GATHER_SECONDS):
                    await self._is_waited_for.wait()
            self._is_waited_for.clear()
            changed = [self._jobs[job_id] for job_id in self._unsaved]
            await self._repository.save(*changed)
            for job in changed:
                if self._jobs[job.id] is job:
                    del self._unsaved[job.id]


@dataclass(eq=False)
class Step:
    """A running job, and the handle for what runs inside it.

    Set `output` before it ends; call `become` if only its end shows its kind. A body that raises is recorded as failed,
    or cancelled, and the exception propagates.
    """

    _tree: Steps | None
    parent_id: str | None
    kind: JobKind
    name: str
    input: Mapping[str, object] = field(default_factory=dict)
    key: str | None = None
    output: Mapping[str, object] = field(default_factory=dict)
    _job: Job | None = None
    account: Account = NO_ACCOUNT  # that pays for the model calls of the step and of the steps below it
    _replies: list[ChatResponse] = field(default_factory=list)

    def step(
        self, kind: JobKind, name: str, *, input: Mapping[str, object] | None = None, key: str | None = None
    ) -> "Step":
        """A step below this one, to open with `async with`.

        Its id is `{parent}/{key}`; without a key the kind's first letter and a count: `{root}/t0`. The same run
        therefore writes the same ids, and running a question again replaces its rows.
        """
        parent_id = self._job.id if self._job is not None else None
        return Step(self._tree, parent_id, kind, name, input or {}, key, account=self.account)

    def charged(self, account: Account) -> "Step":
        """The same open step with another account."""
        return replace(self, account=account)

    def charged_for(self, purpose: CallPurpose) -> "Step":
        """The same open step, whose calls have another purpose."""
        return self.charged(replace(self.account, purpose=purpose))

    def queue(self, kind: JobKind, name: str, *, input: Mapping[str, object], key: str) -> None:
        """Record a queued job below this one; a step with the same key, opened below it, takes it over.

        A job that an earlier attempt finished is unchanged. Queued jobs are cancelled when the root ends.
        """
        if self._tree is not None:
            job = self._tree._plan(self.step(kind, name, input=input, key=key), JobStatus.QUEUED)
            if job.id not in self._tree._earlier:
                self._tree._save(job)

    def finished_before(self, kind: JobKind, call: str) -> Job | None:
        """Return an earlier attempt's result for the same call (`CALL` in its output), or None."""
        earlier = self._tree._earlier.values() if self._tree is not None else ()
        return next((job for job in earlier if job.kind is kind and job.output[CALL] == call), None)

    def adopt(self, job: Job) -> None:
        """Adopt an earlier attempt's job unchanged."""
        if self._tree is not None:
            self._tree._adopt(job)

    async def flush(self) -> None:
        """Wait until all changes of the tree are written, so that a kill loses none of them.

        Raises the repository's errors; so does the end of the root.
        """
        if self._tree is not None:
            await self._tree._flush()

    def count(self, reply: ChatResponse) -> None:
        """Add a model's reply to the tally of the account; its tokens and price to the output, as it is at the end."""
        if self.account.tally is not None:
            self.account.tally.add(self.account.purpose, reply.usage)
        if self._tree is not None:
            self._replies.append(reply)

    @property
    def full_output(self) -> Mapping[str, object]:
        """The output, with the tokens and the price of the replies inside the step."""
        if not self._replies:
            return self.output
        usage = sum((reply.usage for reply in self._replies), Usage())
        costs = [reply.cost_micros for reply in self._replies]
        known = [cost for cost in costs if cost is not None]
        return {
            **self.output,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_read_tokens": usage.cache_read_tokens,
            **({"cost_dollars": sum(known) / MICRO} if len(known) == len(costs) else {}),
        }

    def become(self, kind: JobKind, name: str) -> None:
        """Show it as this from its end on; the id stays."""
        self.kind = kind
        self.name = name

    def note(self, output: Mapping[str, object]) -> None:
        """Show progress; the final `output` replaces it."""
        if self._tree is not None and self._job is not None:
            self._job = replace(self._job, output=output)
            self._tree._save(self._job)

    async def __aenter__(self) -> "Step":
        if self._tree is not None:
            self._job = self._tree._plan(self)
            self._tree._save(self._job)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._tree is not None and self._job is not None:
            # Shielded: the end of a cancelled step must reach the database, or it would look running for ever.
            await asyncio.shield(self._tree._end(self._job, self, *_outcome(error)))


NO_STEPS = Step(None, None, JobKind.REQUEST, "")


@runtime_checkable
class RecordedProvider(Protocol):
    """A ChatProvider whose turns have jobs of their own, or an account."""

    async def complete_below(
        self, parent: Step, request: ChatRequest, on_text: Callable[[str], None] | None = None
    ) -> ChatResponse:
        """Run one turn as ChatProvider does, with its jobs below `parent`, charged to the account of `parent`."""


async def complete(
    provider: ChatProvider, request: ChatRequest, parent: Step, on_text: Callable[[str], None] | None = None
) -> ChatResponse:
    """Run one turn of any provider, charged to `parent`, whose output gets its tokens and its price.

    Its own jobs go below `parent`. Raises as ChatProvider does.
    """
    reply = await pass_on(provider, request, parent, on_text)
    parent.count(reply)
    return reply


async def pass_on(
    provider: ChatProvider, request: ChatRequest, parent: Step, on_text: Callable[[str], None] | None = None
) -> ChatResponse:
    """Run one turn as `complete` does, for a provider around another one: the reply is counted once, outside."""
    if isinstance(provider, RecordedProvider):
        return await provider.complete_below(parent, request, on_text)
    return await provider.complete(request, on_text)


async def forget_kept(jobs: Sequence[Job], repository: JobRepository) -> None:
    """Delete the results that jobs saved for retries."""
    changed = [replace(job, output=job.public_output) for job in jobs if len(job.public_output) < len(job.output)]
    if changed:
        await repository.save(*changed)


def _outcome(error: BaseException | None) -> tuple[JobStatus, str | None]:
    if error is None:
        return JobStatus.DONE, None
    if isinstance(error, asyncio.CancelledError):
        return JobStatus.CANCELLED, None
    return JobStatus.FAILED, str(error) if isinstance(error, FootnoteError) else f"{type(error).__name__}: {error}"


def _hear(writer: asyncio.Task[None]) -> None:
    """Mark the error as retrieved: `flush` raises it if anyone waits."""
    if not writer.cancelled():
        writer.exception()
