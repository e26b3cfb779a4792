"""POST chat: a question through the same inbox as everybody's, and its answer, now or later.

The message's id is the client's `Idempotency-Key`, or made here. A client that lost the connection, or was told to come
back (202), finds the answer under that id; sending again with the same key asks nothing twice.
"""

import asyncio
import re
import uuid
from dataclasses import replace

from aiohttp import web

from bot.web.api.auth import DOOR, ApiDoor
from bot.web.api.bodies import ChatBody, NoParameters, read_body, read_query
from bot.web.api.outcome import Outcome, find_outcome, outcome_json
from bot.web.api.platform import PLATFORM, api_address
from bot.web.api.problems import Problem
from bot.web.api.workspaces import AUTHOR, require_documents, scope_of, workspace_of
from bot.web.parts import PARTS, WebParts
from core.access.positions.reading import positions_for, split_position
from core.domain.conversation import IncomingMessage, event_key, message_key
from core.domain.service import Receipt
from core.work.questions import check_question

KEY_HEADER = "Idempotency-Key"
POLL_SECONDS = 1.0  # between looks into the inbox, for answers that another process posts
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")  # a part of an address: never "..", never with a colon


async def post_chat(request: web.Request) -> web.Response:
    """200 with the answer; 202 with where to look, when it takes longer than a request should."""
    workspace_of(request)
    read_query(request, NoParameters)
    body = await read_body(request, ChatBody)
    incoming = await _to_incoming(request, body)
    door = request.app[DOOR]
    receipt = await door.inbox.receive(incoming)
    await _check(receipt, incoming, door)
    outcome = await _wait(request, incoming)
    return _to_response(request, outcome, incoming.message_key.rpartition(":")[2], receipt.conversation_id)


async def get_message(request: web.Request) -> web.Response:
    """The answer to a message: 200, or 202 while it is being made. NotFound for an unknown id."""
    read_query(request, NoParameters)
    message_id = request.match_info["message_id"]
    outcome = await find_outcome(request, _key(request, message_id))
    return _to_response(request, outcome, message_id)


async def stop_message(request: web.Request) -> web.Response:
    """Stop the answer to a message; 202, as it stops a moment later. InvalidState when it has ended."""
    read_query(request, NoParameters)
    message_id = request.match_info["message_id"]
    key = _key(request, message_id)
    worker = request.app[PARTS].worker
    await find_outcome(request, key)  # NotFound for an unknown id
    if worker is None:
        raise Problem(503, "no_worker", "No worker runs in this process: stop the answer where it is being made.")
    await worker.cancel(key, AUTHOR)
    return _to_response(request, None, message_id)


def _key(request: web.Request, message_id: str) -> str:
    return message_key(api_address(workspace_of(request), thread=""), message_id)


async def _to_incoming(request: web.Request, body: ChatBody) -> IncomingMessage:
    """The question, with everything in it checked that would only end in an answer of status error."""
    parts, workspace = request.app[PARTS], workspace_of(request)
    message_id = _message_id(request)
    check_question(body.message)
    if body.message.lstrip().startswith("/"):
        raise Problem(422, "bad_input", "A message that begins with / is a command of the chat: ask a question here.")
    await require_documents(request)
    address = api_address(workspace, message_id)
    if body.session_id is not None:
        conversation, _ = await parts.conversations.show(body.session_id, workspace)
        inside = conversation.address.platform == PLATFORM
        address = conversation.address if inside else api_address(workspace, conversation.id)
    await _check_names(body, parts, workspace)
    key = event_key(address, message_id)
    return IncomingMessage(
        address=address,
        author=AUTHOR,
        text=body.message,
        event_key=key,
        message_key=key,
        conversation_id=body.session_id,
        document=body.document,
        position=body.position,
        strategy=body.strategy,
        model=body.model,
    )


def _message_id(request: web.Request) -> str:
    given = request.headers.get(KEY_HEADER)
    if given is not None and not _KEY.fullmatch(given):
        raise Problem(
            422,
            "bad_input",
            f"{KEY_HEADER} has to be 1 to 100 letters, digits, '_', '.' or '-'; a letter or digit first.",
        )
    return given or uuid.uuid4().hex


async def _check_names(body: ChatBody, parts: WebParts, workspace: str) -> None:
    """NotFound and BadInput for a document or a position that is none."""
    scope = await scope_of(parts, workspace)
    document = await parts.library.find_document(body.document, scope) if body.document else None
    if body.position:
        name, place = split_position(body.position)
        bounded = await parts.library.find_document(name, scope) if name else document
        await positions_for(place, bounded, parts.corpus, replace(scope, positions={}), scope)


async def _check(receipt: Receipt, incoming: IncomingMessage, door: ApiDoor) -> None:
    if receipt.repeated:
        first = await door.store.find(incoming.event_key)
        if first is not None and receipt.accepted and first.incoming.text != incoming.text:
            raise Problem(409, "key_reused", f"This {KEY_HEADER} was used for another message: take a new one.")
    if not receipt.accepted:
        status = 429 if receipt.decision.code == "over_limit" else 422
        headers = {"Retry-After": "1"} if status == 429 else {}
        raise Problem(status, receipt.decision.code, receipt.decision.sentence, headers)


async def _wait(request: web.Request, incoming: IncomingMessage) -> Outcome | None:
    door, loop = request.app[DOOR], asyncio.get_running_loop()
    until = loop.time() + door.wait_seconds
    while (left := until - loop.time()) > 0:
        await door.platform.wait(incoming.message_key, min(left, POLL_SECONDS))
        if (outcome := await find_outcome(request, incoming.message_key)) is not None:
            return outcome
    return None


def _to_response(
    request: web.Request, outcome: Outcome | None, message_id: str, session_id: str | None = None
) -> web.Response:
    if outcome is not None:
        return web.json_response(outcome_json(outcome))
    look = f"/api/v1/workspaces/{workspace_of(request)}/chat/messages/{message_id}"
    pending = {"session_id": session_id, "message": None, "message_id": message_id, "look": look}
    return web.json_response(pending, status=202, headers={"Location": look, "Retry-After": "2"})
