"""What became of a message: the answer in hand, else the one its conversation holds."""

from dataclasses import dataclass

from aiohttp import web

from bot.webchat.api.door import DOOR
from bot.webchat.api.platform import of_ref
from bot.webchat.parts import PARTS, WebParts
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import Message, Role
from core.domain.inbox import InboxEntry, InboxStatus
from core.errors import NotFound
from core.jsonable import Json, answer_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An answer, and the session it is in ("" when it is in none)."""

    session_id: str
    answer: Answer


def outcome_json(outcome: Outcome) -> Json:
    answer = outcome.answer
    message: Json = {"id": answer.message_id, "role": Role.ASSISTANT.value, "content": answer.text}
    return {"session_id": outcome.session_id or None, "message": {**message, **answer_json(answer)}}


async def find_outcome(request: web.Request, message_key: str) -> Outcome | None:
    """None while the answer is being made. NotFound for a message that was never accepted, or is long forgotten."""
    door = request.app[DOOR]
    answer = await door.platform.wait(message_key, 0)
    if answer is not None and answer.conversation_id:
        return Outcome(session_id=answer.conversation_id, answer=answer)
    entry = await door.store.find(message_key)
    if entry is None:
        raise NotFound(f"There is no message {message_key.rpartition(':')[2]!r} here: sessions hold older answers.")
    if answer is not None:
        return Outcome(session_id=entry.incoming.conversation_id or "", answer=answer)
    return await _of_entry(entry, request.app[PARTS]) if entry.status.is_final else None


async def _of_entry(entry: InboxEntry, parts: WebParts) -> Outcome:
    """An answer that this process did not post."""
    conversation_id, message_id = of_ref(entry.post_ref or "")
    if conversation_id:
        _, messages = await parts.conversations.show(conversation_id, entry.workspace)
        found = next((message for message in messages if message.id == message_id), None)
        if found is not None:
            return Outcome(session_id=conversation_id, answer=_of_message(found))
    stopped = entry.status is InboxStatus.CANCELLED
    status = AnswerStatus.STOPPED if stopped else AnswerStatus.ERROR
    sentence = "Stopped." if stopped else entry.error or entry.final_error or entry.decision.sentence
    return Outcome(session_id=entry.incoming.conversation_id or "", answer=Answer(status=status, text=sentence))


def _of_message(message: Message) -> Answer:
    return Answer(
        status=AnswerStatus(message.status or AnswerStatus.ANSWERED),
        text=message.content,
        citations=message.citations,
        references=message.references,
        grounded=bool(message.citations),
        conversation_id=message.conversation_id,
        message_id=message.id,
    )
