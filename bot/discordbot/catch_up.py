"""What was said while nobody listened: Discord sends it to no new session, so it is read from the channels.

Reading too much does no harm: the inbox knows what it has seen.
"""

import logging
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import TypeAlias

import discord

from bot.discordbot.errors import READ, understood
from bot.discordbot.parts import DiscordParts
from bot.discordbot.translate import DIRECT_THREAD, PLATFORM, time_of
from bot.discordbot.workspaces import Workspaces
from core.errors import FootnoteError

OVERLAP = timedelta(minutes=10)  # a message may have been stored while an older one, of another channel, was not
MOST_MESSAGES = 200  # of one channel; what is further back, nobody waits for any more
LOOKED_AT = 200  # newest entries of a workspace among which the last one of Discord is looked for

# Channels of a server that hold talk.
GuildChannel: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.Thread
_log = logging.getLogger(__name__)


async def missed_messages(
    client: discord.Client, parts: DiscordParts, workspaces: Workspaces, heard_until: datetime
) -> AsyncIterator[discord.Message]:
    """Messages since the last one in the inbox, each channel's oldest first. A channel that can't be read is left out.

    `heard_until` is when the connection was lost: what came since is no sign of what was heard before. Of a server
    nothing was ever heard from, nothing is read: a bot that is new somewhere answers no old talk.
    """
    oldest = parts.clock.now() - timedelta(hours=parts.catch_up_hours)
    since = {name: await _last_heard(parts, name, heard_until) for name in workspaces.names()}
    for guild in client.guilds:
        last = since[parts.workspace_of(guild.id)]
        if last is None:
            continue
        after = max(last - OVERLAP, oldest)
        channels: list[GuildChannel] = [*guild.text_channels, *guild.voice_channels, *guild.threads]
        for channel in channels:
            if _may_hold_more(channel, guild, after):
                async for message in _after(channel, after):
                    yield message
    for name, last in since.items():
        async for message in _direct(client, parts, name, last, oldest):
            yield message


async def _last_heard(parts: DiscordParts, workspace: str, until: datetime) -> datetime | None:
    """When the newest message of Discord that was in the inbox by then was written."""
    for entry in await parts.entries.recent(workspace, limit=LOOKED_AT):
        message_id = entry.message_key.rpartition(":")[2]
        if entry.address.platform == PLATFORM and message_id.isdigit() and entry.created_at <= until:
            return time_of(message_id)
    return None


def _may_hold_more(channel: GuildChannel, guild: discord.Guild, after: datetime) -> bool:
    if channel.last_message_id is None or discord.utils.snowflake_time(channel.last_message_id) < after:
        return False
    allowed = channel.permissions_for(guild.me)
    return allowed.view_channel and allowed.read_message_history


async def _direct(
    client: discord.Client, parts: DiscordParts, workspace: str, last: datetime | None, oldest: datetime
) -> AsyncIterator[discord.Message]:
    """Of direct channels only those are known that a conversation was held in."""
    if last is None:
        return
    for conversation in await parts.conversations.list_conversations(workspace):
        address = conversation.address
        if address.platform != PLATFORM or address.thread != DIRECT_THREAD:
            continue
        try:
            with understood(READ):
                channel = await client.fetch_channel(int(address.channel))
        except FootnoteError as error:
            _log.info("Not caught up with a direct channel: %s", error)
            continue
        if isinstance(channel, discord.DMChannel):
            async for message in _after(channel, max(last - OVERLAP, oldest)):
                yield message


async def _after(channel: GuildChannel | discord.DMChannel, after: datetime) -> AsyncIterator[discord.Message]:
    try:
        with understood(READ):
            found = [item async for item in channel.history(limit=MOST_MESSAGES, after=after, oldest_first=True)]
    except FootnoteError as error:
        _log.info("Not caught up with %s: %s", channel, error)
        return
    for message in found:
        yield message
