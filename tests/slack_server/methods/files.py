"""files.*: uploading in three steps, and looking a file up."""

import mimetypes
from typing import Any

from tests.slack_server.methods.asked import Asked, Method
from tests.slack_server.refusals import Refusal
from tests.slack_server.state import File, Team

JSON = dict[str, Any]


def upload_url(asked: Asked) -> JSON:
    name = asked.params.text("filename")
    length = asked.params.number("length", 0)
    if length <= 0:
        raise Refusal("invalid_arguments", messages=["[ERROR] must be more than 0: length"])
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    file = asked.world.store_file(asked.team, asked.bot.id, name, b"", kind, complete=False)
    return {"upload_url": f"{asked.world.address}/upload/{asked.team.id}/{file.id}?length={length}", "file_id": file.id}


def complete_upload(asked: Asked) -> JSON:
    told = asked.params.listed("files") or []
    files = [_uploaded(asked, one) for one in told]
    if not files:
        raise Refusal("invalid_arguments", messages=["[ERROR] missing required field: files"])
    channel_id = asked.params.maybe("channel_id") or asked.params.maybe("channels")
    if channel_id is not None:
        asked.params["channel"] = channel_id
        channel = asked.channel(write=True)
        text = asked.params.maybe("initial_comment") or ""
        asked.world.share(channel, asked.bot, files, text, asked.thread(channel))
    for file in files:
        file.complete = True
    return {"files": [asked.world.file_json(one) for one in files]}


def info(asked: Asked) -> JSON:
    return {"file": asked.world.file_json(_visible(asked, asked.params.text("file")))}


def delete(asked: Asked) -> JSON:
    file = _visible(asked, asked.params.text("file"))
    if file.user != asked.bot.id:
        raise Refusal("cant_delete_file")
    file.deleted = True
    return {}


def readable(team: Team, file: File) -> bool:
    """Whether the bot may have it: its own, chosen in a modal of the app, or shared where it is a member."""
    shared = [team.channels[one] for one in file.shared_in if one in team.channels]
    return file.user == team.bot.id or file.for_app or any(team.bot.id in one.members for one in shared)


def _uploaded(asked: Asked, told: JSON) -> File:
    file = asked.team.files.get(str(told.get("id")))
    if file is None or file.user != asked.bot.id or not file.data:
        raise Refusal("file_not_found")
    file.title = told.get("title") or file.title
    return file


def _visible(asked: Asked, wanted: str) -> File:
    file = asked.team.files.get(wanted)
    if file is None or not readable(asked.team, file):
        raise Refusal("file_not_found")
    if file.deleted:
        raise Refusal("file_deleted")
    return file


METHODS = {
    "files.getUploadURLExternal": Method(run=upload_url, scopes=("files:write",), tier=100),
    "files.completeUploadExternal": Method(run=complete_upload, scopes=("files:write",), tier=100),
    "files.info": Method(run=info, scopes=("files:read",), tier=100),
    "files.delete": Method(run=delete, scopes=("files:write",), tier=50),
}
