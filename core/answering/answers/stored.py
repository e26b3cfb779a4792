"""Answers in the history: found by their question's event, and shown again as they were.

Ids follow from the event: after a crash, the next process finds the stored parts, and can't store any twice.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.domain.answer import Answer, AnswerStatus, Draft
from core.domain.chat import ChatMessage, ChatRole, ToolResult
from core.domain.conversation import Message, Outcome, Role, ToolCallRecord
from core.domain.incoming import IncomingMessage, Talk
from core.domain.jobs import Job, JobKind, JobStatus
from core.text.words import shorten

BOT_NAME = "footnote"
# Any UUID that means this one thing: "footnote answer" in ASCII, padded.
_NAMESPACE = uuid.UUID("666f6f74-6e6f-5465-8061-6e7377657200")
# How the request of an answer ended that no run gave; with any other, it failed.
_SETTLED = {AnswerStatus.STOPPED: JobStatus.CANCELLED, AnswerStatus.ANSWERED: JobStatus.DONE}


@dataclass(frozen=True, slots=True)
class StoredIds:
    """The ids of one event's question, answer and request job."""

    question: str
    answer: str
    request: str


def stored_ids(message: IncomingMessage) -> StoredIds:
    """The same for every repeat of an event; another for each edit of a message."""
    event = f"{message.address.workspace}:{message.event_key}".encode("utf-8", "replace").decode()
    return StoredIds(*(uuid.uuid5(_NAMESPACE, f"{part}:{event}").hex for part in ("question", "answer", "request")))


def request_input(message: IncomingMessage, conversation_id: str | None) -> dict[str, object]:
    """Return the request job's input, for display and for a repeat of the question (trees.py)."""
    options = {
        "document": message.document,
        "journal": message.journal,
        "position": message.position,
        "model": message.model,
        "strategy": message.strategy,
    }
    return {
        "question": shorten(message.text, 200),
        "conversation_id": conversation_id,
        "message_id": stored_ids(message).question,
        "message_key": message.message_key or message.event_key,
        "query_type": message.query_type.value,
        **{name: value for name, value in options.items() if value},
    }


def settled_request(message: IncomingMessage, conversation_id: str, answer: Answer, now: datetime) -> Job:
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


def question_message(message: IncomingMessage, conversation_id: str, now: datetime) -> Message:
    return Message(
        id=stored_ids(message).question,
        conversation_id=conversation_id,
        role=Role.USER,
        author=message.author_name or message.author,
        content=message.text,
        created_at=now,
    )


def talk_message(talk: Talk, conversation_id: str) -> Message:
    """Return a platform message for the history: once in a conversation, for any number of reads."""
    said = f"talk:{conversation_id}:{talk.message_id}".encode("utf-8", "replace").decode()
    return Message(
        id=uuid.uuid5(_NAMESPACE, said).hex,
        conversation_id=conversation_id,
        role=Role.USER,
        author=talk.author,
        content=talk.text,
        created_at=talk.said_at,
    )


def turn_of(messages: Sequence[Message], ids: StoredIds) -> list[str]:
    """Return the existing ids of a stored question, its steps, and its answer."""
    place = next((place for place, item in enumerate(messages) if item.id == ids.question), None)
    if place is None:
        return [item.id for item in messages if item.id == ids.answer]
    after = messages[place + 1 :]
    answer = next((place for place, item in enumerate(after) if item.id == ids.answer), None)
    work = after[: answer + 1] if answer is not None else []
    return [ids.question, *(item.id for item in work if item.role is not Role.USER)]


def answer_message(
    answer: Answer, message: IncomingMessage, conversation_id: str, job_id: str | None, now: datetime
) -> Message:
    return Message(
        id=stored_ids(message).answer,
        conversation_id=conversation_id,
        role=Role.ASSISTANT,
        author=BOT_NAME,
        content=answer.text,
        created_at=now,
        references=answer.references,
        citations=answer.citations,
        job_id=job_id,
        status=answer.status.value,
        outcome=Outcome(
            partial=answer.partial,
            grounded=answer.grounded,
            unsupported=answer.unsupported,
            choices=answer.choices,
            suggestions=answer.suggestions,
            usage=answer.usage,
            model=answer.model,
            response_type=answer.response_type,
            data=answer.data,
            data_sources=answer.data_sources,
            data_gaps=answer.data_gaps,
            read_to=dict(answer.read_to),
        ),
    )


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
    )


def timings(jobs: Sequence[Job]) -> Mapping[str, float]:
    """Milliseconds spent in tools and in the model."""

    def spent(*kinds: JobKind) -> float:
        return round(sum(job.duration_ms or 0 for job in jobs if job.kind in kinds), 1)

    return {"retrieval": spent(JobKind.TOOL), "model": spent(JobKind.PLANNING, JobKind.SYNTHESIS)}


# Characters of a tool's own text (counts, titles, hints); a repeated call gives the rest.
MAX_RESULT_CHARACTERS = 2_000


def messages_of_draft(draft: Draft, conversation_id: str, now: datetime) -> list[Message]:
    """One stored message for each round of tool calls of the run, in order."""
    results = {
        result.invocation_id: result
        for turn in draft.new_messages
        if turn.role is ChatRole.TOOL_RESULT
        for result in turn.tool_results
    }
    rounds = [turn for turn in draft.new_messages if turn.tool_invocations]
    return [_message(turn, results, conversation_id, now) for turn in rounds]


def _message(turn: ChatMessage, results: dict[str, ToolResult], conversation_id: str, now: datetime) -> Message:
    calls = [_record(turn, index, results) for index in range(len(turn.tool_invocations))]
    return Message(
        id=uuid.uuid4().hex,
        conversation_id=conversation_id,
        role=Role.TOOL_RESULT,
        author="tools",
        content=_summary(calls),
        created_at=now,
        tool_calls=tuple(calls),
    )


def _record(turn: ChatMessage, index: int, results: dict[str, ToolResult]) -> ToolCallRecord:
    invocation = turn.tool_invocations[index]
    result = results[invocation.id]
    return ToolCallRecord(
        invocation=invocation,
        text=result.text[:MAX_RESULT_CHARACTERS],
        passage_ids=tuple(item.source.passage.id for item in result.passages),
        is_error=result.is_error,
    )


def _summary(calls: Sequence[ToolCallRecord]) -> str:
    return "; ".join(f"{call.invocation.name}: {len(call.passage_ids)} passages" for call in calls)
