"""Which events reach the bot: only of channels it is a member of, only with the scope that the event needs."""

from typing import Any

from tests.slack_server.state import Channel, Kind, Team

# Of a token that is no longer good; these events say so.
LAST_WORDS = {"app_uninstalled", "tokens_revoked"}
_SCOPES = {
    "app_mention": "app_mentions:read",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    "file_shared": "files:read",
    "subteam_members_changed": "usergroups:read",
    "user_change": "users:read",
    "assistant_thread_started": "assistant:write",
    "assistant_thread_context_changed": "assistant:write",
}
_HISTORY = {
    Kind.PUBLIC: "channels:history",
    Kind.PRIVATE: "groups:history",
    Kind.DIRECT: "im:history",
    Kind.GROUP: "mpim:history",
}


def hears(team: Team, event: dict[str, Any], channel: Channel | None) -> bool:
    install, kind = team.install, event["type"]
    if install is None or (install.refusal is not None and kind not in LAST_WORDS):
        return False
    if channel is not None and install.bot.id not in channel.members:
        return False
    return _scope(kind, channel) in install.scopes | {None}


def _scope(kind: str, channel: Channel | None) -> str | None:
    if kind == "message" and channel is not None:
        return _HISTORY[channel.kind]
    if channel is not None and kind.startswith(("channel_", "group_", "member_")):
        return "channels:read" if channel.kind is Kind.PUBLIC else "groups:read"
    return _SCOPES.get(kind)
