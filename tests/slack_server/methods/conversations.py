"""conversations.*: channels, their members and what was said in them."""

from typing import Any

from tests.slack_server.methods.asked import Asked, Method, page
from tests.slack_server.refusals import Refusal
from tests.slack_server.shown import channel_json
from tests.slack_server.state import Channel, Kind

JSON = dict[str, Any]

_TYPES = {
    "public_channel": Kind.PUBLIC,
    "private_channel": Kind.PRIVATE,
    "im": Kind.DIRECT,
    "mpim": Kind.GROUP,
}


def list_all(asked: Asked) -> JSON:
    """Private ones only where the bot is a member."""
    wanted = {_TYPES.get(one.strip()) for one in (asked.params.maybe("types") or "public_channel").split(",")}
    hide_archived = asked.params.flag("exclude_archived")
    found = [
        channel_json(one, asked.bot.id)
        for one in asked.team.channels.values()
        if one.kind in wanted
        and (one.kind is Kind.PUBLIC or asked.bot.id in one.members)
        and not (hide_archived and one.archived)
    ]
    shown, after = page(asked, found, 100)
    return {"channels": shown, **after}


def list_joined(asked: Asked) -> JSON:
    """Those of the bot alone."""
    wanted = {_TYPES.get(one.strip()) for one in (asked.params.maybe("types") or "public_channel").split(",")}
    hide_archived = asked.params.flag("exclude_archived")
    found = [
        channel_json(one, asked.bot.id)
        for one in asked.team.channels.values()
        if one.kind in wanted and asked.bot.id in one.members and not (hide_archived and one.archived)
    ]
    shown, after = page(asked, found, 100)
    return {"channels": shown, **after}


def info(asked: Asked) -> JSON:
    channel = asked.channel(join=False)
    _check_scope(asked, channel, "read")
    return {"channel": channel_json(channel, asked.bot.id)}


def history(asked: Asked) -> JSON:
    """Newest first; replies only where they were broadcast."""
    channel = asked.channel()
    _check_scope(asked, channel, "history")
    found = [one for one in channel.seen_by() if not one.in_thread or one.subtype == "thread_broadcast"]
    messages = [asked.world.json(one) for one in reversed(found) if _within(asked, one.ts)]
    shown, after = page(asked, messages, 100, asked.world.app.most_read)
    return {"messages": shown, "pin_count": 0, **after}


def replies(asked: Asked) -> JSON:
    """The parent and its replies, oldest first."""
    channel = asked.channel()
    _check_scope(asked, channel, "history")
    message = channel.messages.get(asked.params.text("ts"))
    if message is None or message.only_to is not None:
        raise Refusal("thread_not_found")
    found = [one for one in channel.thread(message.root) if one.ts == message.root or _within(asked, one.ts)]
    shown, after = page(asked, [asked.world.json(one) for one in found], 1000, asked.world.app.most_read)
    return {"messages": shown, **after}


def open_direct(asked: Asked) -> JSON:
    if asked.params.maybe("channel"):
        channel = asked.channel()
    else:
        users = asked.params.text("users").split(",")
        if any(one not in asked.team.users for one in users):
            raise Refusal("user_not_found")
        if len(users) > 1:
            channel = asked.world.create_channel(asked.team, "", Kind.GROUP, [asked.bot.id, *users])
        else:
            channel = asked.world.direct(asked.team, asked.bot.id, users[0])
    whole = asked.params.flag("return_im")
    return {"channel": channel_json(channel, asked.bot.id) if whole else {"id": channel.id}}


def members(asked: Asked) -> JSON:
    channel = asked.channel(join=False)
    _check_scope(asked, channel, "read")
    shown, after = page(asked, channel.members, 100)
    return {"members": shown, **after}


def join(asked: Asked) -> JSON:
    channel = asked.channel(join=False)
    if channel.kind is not Kind.PUBLIC:
        raise Refusal("method_not_supported_for_channel_type")
    if channel.archived:
        raise Refusal("is_archived")
    asked.world.join(channel, asked.bot.id)
    return {"channel": channel_json(channel, asked.bot.id)}


def _within(asked: Asked, ts: str) -> bool:
    oldest, latest = asked.params.maybe("oldest"), asked.params.maybe("latest")
    if asked.params.flag("inclusive"):
        return (oldest is None or ts >= oldest) and (latest is None or ts <= latest)
    return (oldest is None or ts > oldest) and (latest is None or ts < latest)


def _check_scope(asked: Asked, channel: Channel, what: str) -> None:
    kinds = {Kind.PUBLIC: "channels", Kind.PRIVATE: "groups", Kind.DIRECT: "im", Kind.GROUP: "mpim"}
    needed = f"{kinds[channel.kind]}:{what}"
    if needed not in asked.install.scopes:
        raise Refusal("missing_scope", needed=needed, provided=",".join(sorted(asked.install.scopes)))


_READ = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")
METHODS = {
    "conversations.list": Method(run=list_all, scopes=_READ, tier=20),
    "users.conversations": Method(run=list_joined, scopes=_READ, tier=50),
    "conversations.info": Method(run=info, scopes=_READ, tier=50),
    "conversations.history": Method(run=history, scopes=_HISTORY, tier=50),
    "conversations.replies": Method(run=replies, scopes=_HISTORY, tier=50),
    "conversations.open": Method(run=open_direct, scopes=("im:write", "mpim:write"), tier=50),
    "conversations.members": Method(run=members, scopes=_READ, tier=100),
    "conversations.join": Method(run=join, scopes=("channels:join",), tier=50),
}
