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
    since = {name: await _heard_before(parts, name, oldest, heard_until) for name in workspaces.names()}
    for guild in client.guilds:
        after = since[parts.workspace_of(guild.id)]
        if after is None:
            continue
        channels: list[GuildChannel] = [*guild.text_channels, *guild.voice_channels, *guild.threads]
        for channel in channels:
            if _may_hold_more(channel, guild, after):
                async for message in _after(channel, after):
                    yield message
    for name, after in since.items():
        if after is not None:
            async for message in _direct(client, parts, name, after):
                yield message


async def _heard_before(parts: DiscordParts, workspace: str, oldest: datetime, until: datetime) -> int | None:
    """The id of Discord's to read on from: some time before the newest message that was in the inbox by then.

    Not before the first one in the inbox, as what was said before the bot came is not for it. None: it holds none.
    """
    entries = await parts.entries.recent(workspace, limit=LOOKED_AT)
    known = [entry for entry in entries if entry.address.platform == PLATFORM and entry.created_at <= until]
    ids = [entry.message_key.rpartition(":")[2] for entry in known]
    heard = [int(message_id) for message_id in ids if message_id.isdigit()]
    if not heard:
        return None
    begin = max(time_of(str(heard[0])) - OVERLAP, oldest)
    since = discord.utils.time_snowflake(begin)
    return since if len(entries) == LOOKED_AT else max(since, min(heard))


def _may_hold_more(channel: GuildChannel, guild: discord.Guild, after: int) -> bool:
    if channel.last_message_id is None or channel.last_message_id <= after:
        return False
    allowed = channel.permissions_for(guild.me)
    return allowed.view_channel and allowed.read_message_history


async def _direct(
    client: discord.Client, parts: DiscordParts, workspace: str, after: int
) -> AsyncIterator[discord.Message]:
    """Of direct channels only those are known that a conversation was held in."""
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
            async for message in _after(channel, after):
                yield message


async def _after(channel: GuildChannel | discord.DMChannel, after: int) -> AsyncIterator[discord.Message]:
    try:
        with understood(READ):
            found = [
                item
                async for item in channel.history(limit=MOST_MESSAGES, after=discord.Object(after), oldest_first=True)
            ]
    except FootnoteError as error:
        _log.info("Not caught up with %s: %s", channel, error)
        return
    for message in found:
        yield message
