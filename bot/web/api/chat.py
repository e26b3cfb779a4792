"""The API's questions, answers and sessions."""

import asyncio
import re
import uuid
from contextlib import suppress
from dataclasses import dataclass, replace

from aiohttp import web

from bot.web.api.auth import API, ApiContext, caller_of, reading, require_documents, require_own, workspace_of
from bot.web.api.bodies import (
    ChatBody,
    ExportParameters,
    ListParameters,
    NoParameters,
    TitleBody,
    read_body,
    read_query,
)
from bot.web.api.platform import PLATFORM, api_address
from bot.web.api.problems import Problem
from bot.web.parts import PARTS
from bot.web.requests import file_response
from core.access.positions.reading import positions_for, split_position
from core.answering.answers.settled import to_answer
from core.answering.redaction import Histories, has_gaps
from core.domain.answer import Answer
from core.domain.conversation import Conversation, Message, Role
from core.domain.identity import TokenScope
from core.domain.incoming import IncomingMessage, event_key, message_key
from core.domain.limits import OVER_LIMIT_CODES
from core.domain.service import InboxEntry, Receipt
from core.errors import NotFound
from core.features.export import export_conversation
from core.ports.service import InboxStore
from core.serializers.conversations import conversation_json
from core.serializers.objects import Json, answer_json
from core.service.outcomes import Outcomes
from core.work.questions import check_question

VERSIONS_WITHIN = 50  # messages of a thread to search for the latest version


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An answer and its session ("" without one)."""

    session_id: str
    answer: Answer


def outcome_json(outcome: Outcome) -> Json:
    answer = outcome.answer
    message: Json = {"id": answer.message_id, "role": Role.ASSISTANT.value, "content": answer.text}
    return {"session_id": outcome.session_id or None, "message": {**message, **answer_json(answer)}}


async def find_outcome(request: web.Request, message_key: str) -> Outcome | None:
    """Return None while the answer is in progress. NotFound for a message that was never accepted or was deleted.

    Always as it is stored, so that no reply has removed texts.
    """
    parts = request.app[PARTS]
    if caller_of(request).scope is not TokenScope.ADMIN:
        await _asker(request, message_key)
    entry = await _newest(request.app[API].store, message_key)
    if entry is None:
        raise NotFound(f"Message {message_key.rpartition(':')[2]!r} not found. Older answers are in their sessions.")
    answer = await Outcomes(parts.conversations, parts.jobs).find(entry)
    if not answer.message_id and not entry.status.is_final:
        return None
    return await _as_readable(request, Outcome(session_id=answer.conversation_id, answer=answer))


async def _as_readable(request: web.Request, outcome: Outcome) -> Outcome:
    """Return the answer as the caller may read it now, who may be among fewer readers than when they asked."""
    if caller_of(request).reads_all or not outcome.session_id or not outcome.answer.message_id:
        return outcome
    parts, scope = await reading(request)
    histories = Histories(parts.conversations, parts.corpus)
    _, messages = await histories.show(outcome.session_id, parts.workspace, scope)
    stored = next((message for message in messages if message.id == outcome.answer.message_id), None)
    if stored is None or not has_gaps([stored]):
        return outcome
    return replace(outcome, answer=to_answer(stored, ()))


async def _asker(request: web.Request, message_key: str) -> str:
    """Return the author of a message. NotFound for an unknown one, or another person's."""
    entry = await _newest(request.app[API].store, message_key)
    if entry is None:
        raise NotFound(f"Message {message_key.rpartition(':')[2]!r} not found. Older answers are in their sessions.")
    require_own(request, entry.incoming.author, PLATFORM)
    return entry.incoming.author


async def _newest(store: InboxStore, message_key: str) -> InboxEntry | None:
    """Return the latest version of a message; each retry adds one."""
    first = await store.find(message_key)
    if first is None:
        return None
    versions = await store.recent(first.workspace, address=first.address, limit=VERSIONS_WITHIN)
    return next((entry for entry in versions if entry.message_key == message_key), first)


KEY_HEADER = "Idempotency-Key"
LIMIT_SECONDS = 60  # before the next question beyond a limit; the sentence names the end of the window
POLL_SECONDS = 1.0  # between looks into the inbox, for answers that another process posts
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")  # part of an address: neither ".." nor with a colon


async def post_chat(request: web.Request) -> web.Response:
    """Return 200 with the answer, or 202 with its address if it takes too long."""
    workspace_of(request)
    read_query(request, NoParameters)
    body = await read_body(request, ChatBody)
    incoming = await _to_incoming(request, body)
    api = request.app[API]
    receipt = await api.inbox.receive(incoming)
    await _check(receipt, incoming, api)
    outcome = await _wait(request, incoming)
    return _to_response(request, outcome, incoming.message_key.rpartition(":")[2], receipt.conversation_id)


async def get_message(request: web.Request) -> web.Response:
    """Return 200 with the answer to a message, or 202 while it is in progress. NotFound for an unknown ID."""
    read_query(request, NoParameters)
    message_id = request.match_info["message_id"]
    outcome = await find_outcome(request, _key(request, message_id))
    return _to_response(request, outcome, message_id)


async def stop_message(request: web.Request) -> web.Response:
    """Stop the answer to a message. Returns 202, because it stops a moment later. InvalidState if it has ended."""
    read_query(request, NoParameters)
    message_id = request.match_info["message_id"]
    key = _key(request, message_id)
    await find_outcome(request, key)  # raises NotFound for an unknown ID
    await request.app[PARTS].worker.cancel(key, await _asker(request, key))
    return _to_response(request, None, message_id)


def _key(request: web.Request, message_id: str) -> str:
    return message_key(api_address(workspace_of(request), thread=""), message_id)


async def _to_incoming(request: web.Request, body: ChatBody) -> IncomingMessage:
    """Return the checked question. Raises errors that would otherwise become an answer of status error."""
    parts, workspace = request.app[PARTS], workspace_of(request)
    message_id = _message_id(request)
    check_question(body.message)
    if body.message.lstrip().startswith("/"):
        raise Problem(422, "bad_input", "A message that begins with / is a chat command. Ask a question here.")
    await require_documents(request)
    address = api_address(workspace, message_id)
    if body.session_id is not None:
        conversation, _ = await parts.conversations.show(body.session_id, workspace)
        require_own(request, conversation.owner, conversation.address.platform)
        inside = conversation.address.platform == PLATFORM
        address = conversation.address if inside else api_address(workspace, conversation.id)
    await _check_names(request, body)
    key = event_key(address, message_id)
    incoming = IncomingMessage(
        address=address,
        author=caller_of(request).person,
        text=body.message,
        event_key=key,
        message_key=key,
        conversation_id=body.session_id,
        document=body.document,
        position=body.position,
        strategy=body.strategy,
        model=body.model,
    )
    if parts.check_options is not None:
        await parts.check_options(incoming)
    return incoming


def _message_id(request: web.Request) -> str:
    given = request.headers.get(KEY_HEADER)
    if given is not None and not _KEY.fullmatch(given):
        raise Problem(
            422,
            "bad_input",
            f"{KEY_HEADER} must have 1 to 100 letters, digits, '_', '.' or '-', a letter or digit first.",
        )
    return given or uuid.uuid4().hex


async def _check_names(request: web.Request, body: ChatBody) -> None:
    """Raise NotFound or BadInput for an unknown document or position."""
    parts, scope = await reading(request)
    document = await parts.library.find_document(body.document, scope) if body.document else None
    if body.position:
        name, place = split_position(body.position)
        bounded = await parts.library.find_document(name, scope) if name else document
        await positions_for(place, bounded, parts.corpus, replace(scope, positions={}), scope)


async def _check(receipt: Receipt, incoming: IncomingMessage, api: ApiContext) -> None:
    if receipt.repeated:
        first = await api.store.find(incoming.event_key)
        used = (first.incoming.text, first.incoming.author) if first else None
        if used and receipt.accepted and used != (incoming.text, incoming.author):
            raise Problem(409, "key_reused", f"This {KEY_HEADER} was used for another message. Use a new one.")
    if not receipt.accepted:
        status = 429 if receipt.decision.code in OVER_LIMIT_CODES else 422
        headers = {"Retry-After": str(LIMIT_SECONDS)} if status == 429 else {}
        raise Problem(status, receipt.decision.code, receipt.decision.sentence, headers)


async def _wait(request: web.Request, incoming: IncomingMessage) -> Outcome | None:
    api, loop = request.app[API], asyncio.get_running_loop()
    until = loop.time() + api.wait_seconds
    with api.platform.watch(incoming.message_key) as posted:
        while True:
            posted.clear()
            if (outcome := await find_outcome(request, incoming.message_key)) is not None:
                return outcome
            if (left := until - loop.time()) <= 0:
                return None
            with suppress(TimeoutError):
                await asyncio.wait_for(posted.wait(), min(left, POLL_SECONDS))


def _to_response(
    request: web.Request, outcome: Outcome | None, message_id: str, session_id: str | None = None
) -> web.Response:
    if outcome is not None:
        return web.json_response(outcome_json(outcome))
    look = f"/api/v1/workspaces/{workspace_of(request)}/chat/messages/{message_id}"
    pending = {"session_id": session_id, "message": None, "message_id": message_id, "look": look}
    return web.json_response(pending, status=202, headers={"Location": look, "Retry-After": "2"})


async def list_sessions(request: web.Request) -> web.Response:
    """List sessions, most recently used first."""
    parameters = read_query(request, ListParameters)
    caller, workspace = caller_of(request), workspace_of(request)
    parts, scope = await reading(request)
    sees_all = caller.scope is TokenScope.ADMIN
    found = await request.app[PARTS].conversations.list_conversations(
        workspace, owner=None if sees_all else caller.person
    )
    if not sees_all:
        found = [item for item in found if item.address.platform == PLATFORM]
    histories = Histories(parts.conversations, parts.corpus)
    shown = await histories.without_closed_focus(found[: parameters.limit], scope)
    return web.json_response({"sessions": [_session_json(item) for item in shown]})


async def get_session(request: web.Request) -> web.Response:
    """Return a session with its messages, oldest first."""
    read_query(request, NoParameters)
    conversation, messages = await _show(request)
    return web.json_response(_session_json(conversation, messages))


async def rename_session(request: web.Request) -> web.Response:
    read_query(request, NoParameters)
    workspace = workspace_of(request)
    body = await read_body(request, TitleBody)
    session_id = request.match_info["session_id"]
    await _show(request)  # raises NotFound for another person's
    renamed = await request.app[PARTS].conversations.rename(session_id, workspace, body.title)
    return web.json_response(_session_json(renamed))


async def delete_session(request: web.Request) -> web.Response:
    """Delete a session with its messages. Problem 409 while an answer in it is in progress."""
    read_query(request, NoParameters)
    conversation, _ = await _show(request)
    workspace = conversation.address.workspace
    for address in (conversation.address, api_address(workspace, conversation.id)):
        entries = await request.app[API].store.recent(workspace, address=address)
        if any(not entry.status.is_final for entry in entries):
            raise Problem(409, "busy", "An answer in this session is in progress. Wait for it, or stop it.")
    by = caller_of(request).person
    await request.app[PARTS].conversations.delete(conversation.id, workspace, by=by)
    return web.Response(status=204)


async def export_session(request: web.Request) -> web.Response:
    """Export a session as a file."""
    wanted = read_query(request, ExportParameters).format
    conversation, messages = await _show(request)
    return file_response(await export_conversation(conversation, messages, wanted))


async def _show(request: web.Request) -> tuple[Conversation, list[Message]]:
    """Return a session, redacted beyond the API's reading positions."""
    parts, scope = await reading(request)
    histories = Histories(parts.conversations, parts.corpus)
    found, messages = await histories.show(request.match_info["session_id"], parts.workspace, scope)
    require_own(request, found.owner, found.address.platform)
    return found, messages


def _session_json(conversation: Conversation, messages: list[Message] | None = None) -> Json:
    return {"session_id": conversation.id, **conversation_json(conversation, messages)}
