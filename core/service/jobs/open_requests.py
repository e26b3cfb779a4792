"""Accepted questions that have not ended, as jobs: read from the inbox, which alone knows what waits, and for what."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.answering.answers.stored import request_input, stored_ids
from core.domain.jobs import Job, JobKind, JobStatus
from core.domain.service import InboxEntry, InboxStatus


def request_id(entry: InboxEntry) -> str:
    """The id of the entry's request, also before any work on it is recorded."""
    return stored_ids(entry.incoming).request


def to_request(entry: InboxEntry) -> Job:
    """The request of a question of which nothing is recorded yet."""
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
    """The recorded tree of a question that has not ended: its request has not either, whatever a try at it came to.

    What the entry waits for is the request's; steps that a shutdown or a kill cut off wait with it.
    """
    root, *steps = tree
    if entry.status is not InboxStatus.RUNNING:
        steps = [step if step.status.is_final else replace(step, status=JobStatus.QUEUED) for step in steps]
    return [_as_it_stands(root, entry), *steps]


def _as_it_stands(request: Job, entry: InboxEntry) -> Job:
    status = _status(entry)
    error = None if status is JobStatus.RUNNING else entry.error
    output = {**request.output, **_next_try(entry)}
    return replace(request, status=status, error=error, output=output, completed_at=None)


def _status(entry: InboxEntry) -> JobStatus:
    if entry.status is InboxStatus.RUNNING:
        return JobStatus.RUNNING
    if entry.cancelled_by is not None:
        return JobStatus.CANCELLED  # its post has still to say so
    return JobStatus.QUEUED if entry.error is None else JobStatus.WAITING


def _next_try(entry: InboxEntry) -> Mapping[str, object]:
    return {"next_try_at": entry.waits_until.isoformat()} if entry.waits_until is not None else {}
