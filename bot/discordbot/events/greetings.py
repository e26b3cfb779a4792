"""The first post on a server that the bot was invited to, made once."""

import asyncio
import logging

import discord

from bot.discordbot.delivery.errors import CLOSED
from bot.discordbot.delivery.platform import DiscordPlatform, nonce
from bot.discordbot.events.translate import DIRECT_THREAD, PLATFORM, thread_address
from bot.discordbot.events.workspaces import Workspaces
from bot.discordbot.rendering.answers import PLAIN
from bot.discordbot.rendering.components import PartView, Row, Text, mark_parts
from bot.presentation.action_names import Verb, post_id
from bot.presentation.answer_buttons import ActionButton, action_name
from bot.presentation.greeting import GREETING, greeting_lines
from bot.presentation.platform_parts import PlatformParts
from core.domain.incoming import IncomingMessage
from core.errors import FootnoteError

HOW_TO_ADD = "Add documents with /library add. If you aren't an admin, an admin confirms them first."
_log = logging.getLogger(__name__)


class Greetings:
    """Greets each server once: when it is joined, at the next start, or as soon as the bot may write there."""

    def __init__(
        self, client: discord.Client, parts: PlatformParts, platform: DiscordPlatform, workspaces: Workspaces
    ) -> None:
        self._client = client
        self._parts = parts
        self._platform = platform
        self._workspaces = workspaces
        self._one_at_a_time = asyncio.Lock()
        self._owed: set[str] | None = None  # None: not read yet

    async def greet(self, guild: discord.Guild) -> None:
        """Greet a server that the bot has joined, unless it was greeted before."""
        try:
            is_owed = await self._parts.teams.owe_greeting(PLATFORM, str(guild.id))
        except FootnoteError as error:
            _log.warning("The server %d was not greeted: %s", guild.id, error)
            return
        if is_owed:
            self._owed = (self._owed or set()) | {str(guild.id)}
            await self.catch_up()

    async def forget(self, guild: discord.Guild) -> None:
        """Forget a server that removed the bot: invited again, it is greeted again."""
        try:
            await self._parts.teams.forget_greetings(PLATFORM, str(guild.id))
            names = {str(other.id): other.name for other in self._client.guilds if other.id != guild.id}
            await self._parts.teams.record_connected(PLATFORM, names, self._parts.clock.now())
            self._owed = None
        except FootnoteError as error:
            _log.warning("The removal from server %d was not stored: %s", guild.id, error)

    async def greet_new(self) -> None:
        """Greet the servers that were joined while no process was connected."""
        try:
            names = {str(guild.id): guild.name for guild in self._client.guilds}
            await self._parts.teams.record_connected(PLATFORM, names, self._parts.clock.now())
            self._owed = None
        except FootnoteError as error:
            _log.warning("New servers were not greeted: %s", error)
        await self.catch_up()

    async def catch_up(self) -> None:
        """Greet the servers that could not be greeted so far; failures are tried again with the next event."""
        async with self._one_at_a_time:
            try:
                if self._owed is None:
                    self._owed = set(await self._parts.teams.owed_greetings(PLATFORM))
                for place in sorted(self._owed):
                    guild = self._client.get_guild(int(place))
                    if guild is not None and await self._post(guild):
                        await self._parts.teams.greeted(PLATFORM, place)
                        self._owed.discard(place)
            except FootnoteError as error:
                _log.warning("A server was not greeted: %s", error)

    async def _post(self, guild: discord.Guild) -> bool:
        """Post in the system channel, or the first channel that takes it; return whether one did."""
        for channel in _writable(guild):
            address = thread_address(self._workspaces.of_guild(guild.id), channel.id, DIRECT_THREAD)
            mention = guild.me.mention
            lines, rests_on = await greeting_lines(
                self._parts, address, plain=PLAIN.plain, mention=mention, how_to_add=HOW_TO_ADD
            )
            key = post_id(f"{GREETING}:{guild.id}")
            row = Row(items=(ActionButton(label="Show commands", name=action_name(Verb.HELP, GREETING)),))
            part = mark_parts([PartView(blocks=(Text(content="\n".join(lines)), row))], key)[0]
            try:
                destination = await self._platform.destinations.thread(channel.id)
                joined = discord.utils.time_snowflake(guild.me.joined_at) if guild.me.joined_at else 0
                if not await destination.find_parts(key, joined):
                    id = await destination.send(part, nonce(key, 1), is_first=True)
                    shown = IncomingMessage(address=address, author="", text="", event_key=f"{GREETING}:{guild.id}")
                    await self._parts.entries.note_shown(shown, f"{channel.id}/{id}", rests_on)
            except CLOSED as error:
                _log.info("Channel %d is no place for a greeting: %s", channel.id, error)
            else:
                return True
        return False


def _writable(guild: discord.Guild) -> list[discord.TextChannel]:
    """Return the channels that the bot may write to, the system channel first."""
    channels = [guild.system_channel] if guild.system_channel else []
    channels += [channel for channel in guild.text_channels if channel != guild.system_channel]
    wanted = discord.Permissions(view_channel=True, send_messages=True, read_message_history=True)
    return [channel for channel in channels if channel.permissions_for(guild.me) >= wanted]
