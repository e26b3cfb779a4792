"""Objects as Slack's JSON shows them, in replies and in events."""

import re
from typing import Any
from urllib.parse import quote

from tests.slack_server.state import App, Channel, File, Kind, Message, Team, User

JSON = dict[str, Any]

_TOKENS = re.compile(r"<[@#!][^<>]*>|https?://[^\s<>]+")


def typed(text: str) -> str:
    """What a person types, as Slack stores it: & < > escaped, addresses in brackets; <@U1> and the like stay."""
    shown, end = "", 0
    for found in _TOKENS.finditer(text):
        token = found[0] if found[0].startswith("<") else f"<{found[0].replace('&', '&amp;')}>"
        shown, end = shown + _escaped(text[end : found.start()]) + token, found.end()
    return shown + _escaped(text[end:])


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def rich_text(text: str) -> list[JSON]:
    """The block that Slack itself makes of what a person types."""
    parts: list[JSON] = []
    for part in re.split(r"(<@\w+>|<https?://[^<>]+>)", text):
        if part.startswith("<@"):
            parts.append({"type": "user", "user_id": part[2:-1]})
        elif part.startswith("<http"):
            parts.append({"type": "link", "url": part[1:-1].replace("&amp;", "&")})
        elif part:
            plain = part.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
            parts.append({"type": "text", "text": plain})
    return [{"type": "rich_text", "block_id": "rich", "elements": [{"type": "rich_text_section", "elements": parts}]}]


def message_json(message: Message, app: App, address: str) -> JSON:
    """As in histories and in `message` events, without what only an event says."""
    team = message.channel.team
    shown: JSON = {"type": "message", "user": message.user, "ts": message.ts, "text": message.text, "team": team.id}
    if message.blocks:
        shown["blocks"] = message.blocks
    if message.subtype:
        shown["subtype"] = message.subtype
    if message.bot_id:
        shown |= {"bot_id": message.bot_id, "bot_profile": _bot_profile(message, app)}
        shown["app_id"] = shown["bot_profile"]["app_id"]
    if message.files:
        shown |= {"files": [_shared_json(one, address) for one in message.files], "upload": False}
    if message.metadata:
        shown["metadata"] = message.metadata
    if message.edited:
        shown["edited"] = message.edited
    if message.reactions:
        shown["reactions"] = [
            {"name": name, "users": users, "count": len(users)} for name, users in message.reactions.items()
        ]
    return shown | _thread_json(message)


def _bot_profile(message: Message, app: App) -> JSON:
    team = message.channel.team
    ours = team.install is not None and message.bot_id == team.install.bot.bot_id
    name = team.users[message.user].name
    return {"id": message.bot_id, "app_id": app.id if ours else "A0OTHER", "name": name, "team_id": team.id}


def _thread_json(message: Message) -> JSON:
    if message.thread_ts is None:
        return {}
    thread = message.channel.thread(message.thread_ts)
    parent, replies = message.channel.messages.get(message.thread_ts), [one for one in thread if one.in_thread]
    if message.in_thread:
        return {"thread_ts": message.thread_ts, "parent_user_id": parent.user if parent else None}
    people = list(dict.fromkeys(one.user for one in replies))
    return {
        "thread_ts": message.thread_ts,
        "reply_count": len(replies),
        "reply_users": people,
        "reply_users_count": len(people),
        "latest_reply": replies[-1].ts if replies else message.ts,
    }


def _shared_json(file: File, address: str) -> JSON:
    """A file of a message; of a file of another company it says no more than where to ask."""
    if not file.is_stub:
        return file_json(file, address)
    return {
        "id": file.id,
        "mode": "file_access",
        "file_access": "check_file_info",
        "created": 0,
        "timestamp": 0,
        "user": "",
    }


def file_json(file: File, address: str) -> JSON:
    """A canvas is a file without an ending whose size is not that of the HTML it is downloaded as."""
    path, name = f"{address}/files-pri/{file.id}", quote(file.name)
    kind = file.name.rpartition(".")[2].lower() if "." in file.name else "text"
    if file.is_canvas:
        shown = {"filetype": "quip", "mode": "quip", "pretty_type": "Canvas", "size": 0}
    else:
        shown = {"filetype": kind, "mode": "hosted", "size": len(file.data)}
    return {
        "id": file.id,
        "name": file.name,
        "title": file.title or file.name,
        "mimetype": file.mimetype,
        **shown,
        "user": file.user,
        "is_external": False,
        "channels": file.shared_in,
        "url_private": f"{path}/{name}",
        "url_private_download": f"{path}/download/{name}",
        "file_access": "visible",
    }


def channel_json(channel: Channel, user: str) -> JSON:
    """As this user sees it."""
    if channel.kind is Kind.DIRECT:
        other = next((one for one in channel.members if one != user), user)
        return {"id": channel.id, "is_im": True, "is_channel": False, "user": other, "is_archived": channel.archived}
    return {
        "id": channel.id,
        "name": channel.name,
        "is_channel": channel.kind is Kind.PUBLIC,
        "is_group": channel.kind is Kind.PRIVATE,
        "is_im": False,
        "is_mpim": channel.kind is Kind.GROUP,
        "is_private": channel.kind is not Kind.PUBLIC,
        "is_archived": channel.archived,
        "is_ext_shared": channel.is_external,
        "is_org_shared": False,
        "is_pending_ext_shared": channel.is_pending,
        "shared_team_ids": [channel.team.id],
        "is_member": user in channel.members,
        "num_members": len(channel.members),
        "context_team_id": channel.team.id,
        "topic": {"value": "", "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
    }


def user_json(user: User, team: Team) -> JSON:
    return {
        "id": user.id,
        "team_id": user.team_id or team.id,
        "name": user.name,
        "real_name": user.name.title(),
        "deleted": user.deleted,
        "is_admin": user.is_admin,
        "is_restricted": user.is_restricted or user.is_ultra_restricted,
        "is_ultra_restricted": user.is_ultra_restricted,
        **({"is_stranger": True} if user.team_id else {}),
        "is_owner": False,
        "is_bot": user.bot_id is not None,
        "is_app_user": False,
        "tz": "Europe/Amsterdam",
        "profile": {"real_name": user.name.title(), "display_name": user.name, "bot_id": user.bot_id},
    }


def team_json(team: Team) -> JSON:
    return {"id": team.id, "name": team.name, "domain": team.name, "enterprise_id": None}
