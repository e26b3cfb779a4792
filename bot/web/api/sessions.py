"""chat/sessions: the workspace's conversations, from whatever platform, and one of them as a file."""

from aiohttp import web

from bot.web.api.auth import DOOR
from bot.web.api.bodies import ExportParameters, ListParameters, NoParameters, TitleBody, read_body, read_query
from bot.web.api.platform import api_address
from bot.web.api.problems import Problem
from bot.web.api.workspaces import scope_of, workspace_of
from bot.web.files import file_response
from bot.web.parts import PARTS
from core.answering.redaction import Histories
from core.domain.conversation import Conversation, Message
from core.features.export import export_conversation
from core.serializers.objects import Json, conversation_json


async def list_sessions(request: web.Request) -> web.Response:
    """Most recently used first."""
    parameters = read_query(request, ListParameters)
    found = await request.app[PARTS].conversations.list_conversations(workspace_of(request))
    return web.json_response({"sessions": [_session_json(item) for item in found[: parameters.limit]]})


async def get_session(request: web.Request) -> web.Response:
    """With its messages, oldest first."""
    read_query(request, NoParameters)
    conversation, messages = await _show(request)
    return web.json_response(_session_json(conversation, messages))


async def rename_session(request: web.Request) -> web.Response:
    read_query(request, NoParameters)
    workspace = workspace_of(request)
    body = await read_body(request, TitleBody)
    session_id = request.match_info["session_id"]
    renamed = await request.app[PARTS].conversations.rename(session_id, workspace, body.title)
    return web.json_response(_session_json(renamed))


async def delete_session(request: web.Request) -> web.Response:
    """With its messages. Problem 409 while an answer is being written in it."""
    read_query(request, NoParameters)
    conversation, _ = await _show(request)
    workspace = conversation.address.workspace
    for address in (conversation.address, api_address(workspace, conversation.id)):
        entries = await request.app[DOOR].store.recent(workspace, address=address)
        if any(not entry.status.is_final for entry in entries):
            raise Problem(409, "busy", "An answer is being written in this session: wait for it, or stop it.")
    await request.app[PARTS].conversations.delete(conversation.id, workspace)
    return web.Response(status=204)


async def export_session(request: web.Request) -> web.Response:
    """As a file to save."""
    wanted = read_query(request, ExportParameters).format
    conversation, messages = await _show(request)
    return file_response(await export_conversation(conversation, messages, wanted))


async def _show(request: web.Request) -> tuple[Conversation, list[Message]]:
    """As far as whoever uses the API has read."""
    parts, workspace = request.app[PARTS], workspace_of(request)
    histories = Histories(parts.conversations, parts.corpus)
    return await histories.show(request.match_info["session_id"], workspace, await scope_of(parts, workspace))


def _session_json(conversation: Conversation, messages: list[Message] | None = None) -> Json:
    return {"session_id": conversation.id, **conversation_json(conversation, messages)}
