"""What became of a message: the answer in hand, else the one its conversation holds."""

from dataclasses import dataclass

from aiohttp import web

from bot.web.api.auth import DOOR
from bot.web.parts import PARTS
from core.domain.answer import Answer
from core.domain.conversation import Role
from core.domain.service import InboxEntry
from core.errors import NotFound
from core.ports.service import InboxStore
from core.serializers.objects import Json, answer_json
from core.service.outcomes import Outcomes

VERSIONS_WITHIN = 50  # messages of a thread; who asks again does so soon


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
    entry = await _newest(door.store, message_key)
    if entry is None:
        raise NotFound(f"There is no message {message_key.rpartition(':')[2]!r} here: sessions hold older answers.")
    if answer is not None:
        return Outcome(session_id=entry.incoming.conversation_id or "", answer=answer)
    if not entry.status.is_final:
        return None
    parts = request.app[PARTS]
    stored = await Outcomes(parts.conversations, parts.jobs).find(entry)  # another process posted it
    return Outcome(session_id=stored.conversation_id, answer=stored)


async def _newest(store: InboxStore, message_key: str) -> InboxEntry | None:
    """The last version of a message: one that was asked again has several."""
    first = await store.find(message_key)
    if first is None:
        return None
    versions = await store.recent(first.workspace, address=first.address, limit=VERSIONS_WITHIN)
    return next((entry for entry in versions if entry.message_key == message_key), first)
