"""Questions and answers as the history stores them, under ids of their question's event.

Ids follow from the event: after a crash, the next process finds the stored parts, and can't store any twice.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.domain.answer import Answer, Draft
from core.domain.chat import ChatMessage, ChatRole, ToolResult
from core.domain.conversation import Message, Outcome, Role, ToolCallRecord
from core.domain.incoming import IncomingMessage
from core.domain.jobs import Job, JobKind
from core.text.words import shorten

BOT_NAME = "footnote"
# Any UUID that means this one thing: "footnote answer" in ASCII, padded.
NAMESPACE = uuid.UUID("666f6f74-6e6f-5465-8061-6e7377657200")


@dataclass(frozen=True, slots=True)
class StoredIds:
    """The ids of one event's question, answer and request job."""

    question: str
    answer: str
    request: str


def stored_ids(message: IncomingMessage) -> StoredIds:
    """The same for every repeat of an event; another for each edit of a message."""
    event = f"{message.address.workspace}:{message.event_key}".encode("utf-8", "replace").decode()
    return StoredIds(*(uuid.uuid5(NAMESPACE, f"{part}:{event}").hex for part in ("question", "answer", "request")))


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


def question_message(message: IncomingMessage, conversation_id: str, now: datetime) -> Message:
    return Message(
        id=stored_ids(message).question,
        conversation_id=conversation_id,
        role=Role.USER,
        author=message.author_name or message.author,
        content=message.text,
        created_at=now,
    )


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
            rests_on=answer.rests_on,
            searched=answer.searched,
        ),
    )


def timings(jobs: Sequence[Job]) -> Mapping[str, float]:
    """Milliseconds spent in tools and in the model."""

    def spent(*kinds: JobKind) -> float:
        return round(sum(job.duration_ms or 0 for job in jobs if job.kind in kinds), 1)

    return {"retrieval": spent(JobKind.TOOL), "model": spent(JobKind.PLANNING, JobKind.SYNTHESIS)}


# Characters of a tool's own text (counts, titles, hints); a repeated call gives the rest.
MAX_RESULT_CHARACTERS = 6_000


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
        said="" if index else turn.text,
    )


def _summary(calls: Sequence[ToolCallRecord]) -> str:
    return "; ".join(f"{call.invocation.name}: {len(call.passage_ids)} passages" for call in calls)
