"""Messages of live channels from Discord's events and history: the ones to keep, and the history itself."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import TypeAlias

import discord

from bot.discordbot.delivery.errors import READ, translated_errors
from bot.discordbot.events.translate import PLATFORM, WRITTEN, is_to_bot, jump_link, time_of, to_text
from core.domain.channels import ChannelMessage
from core.domain.incoming import ChannelAddress
from core.errors import AccessDenied, BadInput, NotFound, PlatformError

_NO_SOURCE = "Only a channel or a forum of a server can be a source."
_NO_HISTORY = "I can't read this channel's history. Allow me “View Channel” and “Read Message History” there."
# Channels of a server with threads, and the ones without.
LiveChannel: TypeAlias = discord.TextChannel | discord.ForumChannel | discord.VoiceChannel | discord.StageChannel


def to_said(message: discord.Message, me: int) -> ChannelMessage | None:
    """Return a message as it is kept; None for bots, questions to us, and private threads, which have other readers.

    Nor is anything kept of threads that we opened, as they are talk with us. Files aren't kept, only text that was
    written with them.
    """
    channel, guild = message.channel, message.guild
    is_bot = message.author.bot or message.webhook_id is not None or message.flags.ephemeral
    if guild is None or is_bot or message.type not in WRITTEN or is_to_bot(message, me):
        return None
    in_thread = isinstance(channel, discord.Thread)
    if isinstance(channel, discord.Thread) and (channel.is_private() or channel.owner_id == me):
        return None
    text, id = to_text(message, me), str(message.id)
    if not text:
        return None
    reference = (
        message.reference.message_id if message.type is discord.MessageType.reply and message.reference else None
    )
    root = str(channel.id) if in_thread else str(reference or message.id)
    return ChannelMessage(
        id=id,
        root=root,
        author=str(message.author.id),
        author_name=message.author.display_name,
        said_at=message.created_at,
        begun_at=time_of(root),
        text=text,
        link=jump_link(guild.id, str(channel.id), id),
    )


def place_of(message: discord.Message, workspace: str) -> ChannelAddress:
    """Return the channel that a message is in, or that its thread is in."""
    channel = message.channel
    parent = channel.parent_id if isinstance(channel, discord.Thread) else channel.id
    return ChannelAddress(platform=PLATFORM, workspace=workspace, channel=str(parent))


class DiscordHistories:
    """Channels as Discord has them (implements ChannelHistory); `client` is connected."""

    def __init__(self, client: discord.Client, me: int) -> None:
        self._client = client
        self._me = me

    async def name(self, channel: ChannelAddress) -> str:
        """Return `#name`. BadInput for direct messages, and where the bot can't read the history."""
        return f"#{self._find(channel).name}"

    async def read(self, channel: ChannelAddress, since: datetime) -> Sequence[ChannelMessage]:
        """Read the channel, then its public threads that began since then."""
        found, said = self._find(channel), dict[str, ChannelMessage]()
        with translated_errors(READ):
            places = [found] if not isinstance(found, discord.ForumChannel) else []
            threads = [thread async for thread in _threads(found, since)]
            for place in (*places, *threads):
                async for message in place.history(limit=None, after=since, oldest_first=True):
                    one = to_said(message, self._me)
                    if one is not None and one.begun_at >= since:
                        said[one.id] = one
        return list(said.values())

    def _find(self, channel: ChannelAddress) -> LiveChannel:
        found = self._client.get_channel(int(channel.channel)) if channel.channel.isdigit() else None
        if found is None and any(guild.unavailable for guild in self._client.guilds):
            raise PlatformError("Discord has an outage.")
        if found is None:
            raise NotFound("I can't see this channel any more.")
        if not isinstance(found, LiveChannel):
            raise BadInput(_NO_SOURCE)
        allowed = found.permissions_for(found.guild.me)
        if not (allowed.view_channel and allowed.read_message_history):
            raise AccessDenied(_NO_HISTORY)
        return found


async def _threads(channel: LiveChannel, since: datetime) -> AsyncIterator[discord.Thread]:
    """Yield the public threads that began since then, archived ones too."""
    if not isinstance(channel, discord.TextChannel | discord.ForumChannel):
        return
    for thread in channel.threads:
        if not thread.is_private() and time_of(str(thread.id)) >= since:
            yield thread
    async for thread in channel.archived_threads(limit=None):
        if thread.archive_timestamp < since:  # they come by this time, newest first
            return
        if time_of(str(thread.id)) >= since:
            yield thread
