"""The events that a bot receives, by its permissions, intents and shard."""

import copy
from collections.abc import Mapping
from typing import Any

import discord
from simcord import intents as intent_rules
from simcord.backend import Backend, serializers
from simcord.backend.access import channel_accessible


def seen_by_bot(backend: Backend, event: str, payload: Mapping[str, Any]) -> bool:
    """Return whether the bot can see the channel of an event."""
    channel_id = payload.get("channel_id")
    if channel_id is None or event == "INTERACTION_CREATE" or int(channel_id) not in backend.channels:
        return True
    return channel_accessible(backend, int(channel_id), backend.bot_user.id)


def to_shown(
    backend: Backend, intents: discord.Intents, event: str, payload: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the event as Discord sends it to a bot with these intents; None if it doesn't."""
    needed = intent_rules.required_intent(event, payload)
    if needed is not None and not getattr(intents, needed):
        return None
    shown = copy.deepcopy(dict(payload))
    if event == "GUILD_CREATE":
        intent_rules.prune_guild_create(shown, intents, backend.bot_user.id)
        shown["threads"] = [one for one in shown["threads"] if not one["thread_metadata"]["archived"]]
    if event == "MESSAGE_UPDATE":
        _add_member(backend, shown)
    if not intents.message_content and event in ("MESSAGE_CREATE", "MESSAGE_UPDATE"):
        intent_rules.censor_message(shown, backend.bot_user.id, backend=backend)
    return shown


def shard_for(event: str, payload: Mapping[str, Any], shards: int) -> int:
    """Guild events go to the guild's shard, everything else to the first."""
    guild_id = payload.get("guild_id")
    if guild_id is None and event.startswith("GUILD_"):
        guild_id = payload.get("id")
    return 0 if guild_id is None else shard_of(int(guild_id), shards)


def shard_of(guild_id: int, shards: int) -> int:
    return (guild_id >> 22) % shards


def _add_member(backend: Backend, message: dict[str, Any]) -> None:
    """An update says who in the guild its author is, as a new message does."""
    guild = backend.guilds.get(int(message.get("guild_id") or 0))
    member = guild.members.get(int(message["author"]["id"])) if guild is not None else None
    if guild is not None and member is not None:
        message["member"] = serializers.member_payload(backend, guild, member, with_user=False)
