"""Messages that arrived while the bot was offline. Discord doesn't send them to a new session, so channels are read.

Reading too much is harmless: the inbox recognises messages that it has.
"""

import logging
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import TypeAlias

import discord

from bot.discordbot.delivery.errors import READ, translated_errors
from bot.discordbot.events.translate import DIRECT_THREAD, PLATFORM, time_of
from bot.discordbot.events.workspaces import Workspaces
from bot.presentation.platform_parts import PlatformParts
from core.errors import FootnoteError

OVERLAP = timedelta(minutes=10)  # a message may have been stored while an older one, of another channel, was not
MAX_MESSAGES = 200  # of one channel; older questions are no longer worth an answer
SEARCHED_ENTRIES = 200  # newest entries of a workspace among which Discord's newest is searched for

# Channels of a server that can hold messages.
GuildChannel: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread
_log = logging.getLogger(__name__)


async def missed_messages(
    client: discord.Client, parts: PlatformParts, workspaces: Workspaces, *, online_until: datetime, hours: float
) -> AsyncIterator[discord.Message]:
    """Yield messages since the newest one in the inbox, each channel's oldest first; skip channels it can't read.

    Reads at most `hours` back. `online_until` is when the connection was lost: later entries don't show earlier
    messages. Servers without any entry are skipped, so a bot that is new there doesn't answer old messages.
    Messages from before a server was bound to its workspace are skipped, too: the workspace's inbox doesn't know them.
    """
    oldest = parts.clock.now() - timedelta(hours=hours)
    since = {name: await _find_start(parts, name, oldest, online_until) for name in workspaces.names()}
    for guild in client.guilds:
        after = since[workspaces.of_guild(guild.id)]
        if after is None:
            continue
        if (changed_at := workspaces.changed_at(guild.id)) is not None:
            after = max(after, discord.utils.time_snowflake(changed_at))
        channels: list[GuildChannel] = [
            *guild.text_channels,
            *guild.voice_channels,
            *guild.stage_channels,
            *guild.threads,
        ]
        for channel in channels:
            if _may_have_more(channel, guild, after):
                async for message in _after(channel, after):
                    yield message
    for name, after in since.items():
        if after is not None:
            async for message in _direct(client, parts, name, after):
                yield message


async def _find_start(parts: PlatformParts, workspace: str, oldest: datetime, until: datetime) -> int | None:
    """Return the id to read from: some time before the newest message that was in the inbox by then.

    Never earlier than the inbox's first message, as older ones are not for the bot. None if it has no message.
    """
    entries = await parts.entries.recent(workspace, limit=SEARCHED_ENTRIES)
    known = [entry for entry in entries if entry.address.platform == PLATFORM and entry.created_at <= until]
    ids = [entry.message_key.rpartition(":")[2] for entry in known]
    seen = [int(message_id) for message_id in ids if message_id.isdigit()]
    if not seen:
        return None
    begin = max(time_of(str(seen[0])) - OVERLAP, oldest)
    since = discord.utils.time_snowflake(begin)
    return since if len(entries) == SEARCHED_ENTRIES else max(since, min(seen))


def _may_have_more(channel: GuildChannel, guild: discord.Guild, after: int) -> bool:
    if channel.last_message_id is None or channel.last_message_id <= after:
        return False
    allowed = channel.permissions_for(guild.me)
    return allowed.view_channel and allowed.read_message_history


async def _direct(
    client: discord.Client, parts: PlatformParts, workspace: str, after: int
) -> AsyncIterator[discord.Message]:
    """Yield messages of the direct channels that have a conversation: Discord lists no others."""
    for conversation in await parts.conversations.list_conversations(workspace):
        address = conversation.address
        if address.platform != PLATFORM or address.thread != DIRECT_THREAD:
            continue
        try:
            with translated_errors(READ):
                channel = await client.fetch_channel(int(address.channel))
        except FootnoteError as error:
            _log.info("Not caught up with a direct channel: %s", error)
            continue
        if isinstance(channel, discord.DMChannel):
            async for message in _after(channel, after):
                yield message


async def _after(channel: GuildChannel | discord.DMChannel, after: int) -> AsyncIterator[discord.Message]:
    try:
        with translated_errors(READ):
            found = [
                item
                async for item in channel.history(limit=MAX_MESSAGES, after=discord.Object(after), oldest_first=True)
            ]
    except FootnoteError as error:
        _log.info("Not caught up with %s: %s", channel, error)
        return
    for message in found:
        yield message
