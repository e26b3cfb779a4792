"""The client: receives Discord's events, translates them, and passes them to the inbox.

Every handler is short: translate, pass on, acknowledge. Answers come back through `delivery.platform`.
"""

import asyncio
import logging
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands

from bot.discordbot.actions import additions, buttons, commands, menus
from bot.discordbot.actions.handler import InteractionHandler, LibraryRules
from bot.discordbot.delivery.additions import DiscordAdditionPosts, OpenUrl, stream_url
from bot.discordbot.delivery.errors import CLOSED, POST, translated_errors
from bot.discordbot.delivery.platform import DiscordPlatform
from bot.discordbot.events.catch_up import missed_messages
from bot.discordbot.events.greetings import Greetings
from bot.discordbot.events.live import DiscordHistories, place_of, to_said
from bot.discordbot.events.translate import (
    PLATFORM,
    answered_question,
    continue_inline,
    thread_address,
    to_address,
    to_incoming,
)
from bot.discordbot.events.workspaces import Workspaces
from bot.discordbot.rendering.components import to_view
from bot.discordbot.rendering.texts import notice_view
from bot.presentation.additions import AdditionFlow
from bot.presentation.direct_threads import private_key
from bot.presentation.platform_parts import PlatformParts
from bot.presentation.platform_text import NOT_SAVED
from bot.presentation.refusals import PRIVATE_REFUSALS, SEEN, ToldRefusals, is_reaction, is_silent
from core.access.bindings import Bindings
from core.domain.incoming import ChannelAddress, message_key
from core.domain.service import Decision, Receipt
from core.errors import BadInput, FootnoteError, StorageError

# A command's answer is often for one person, which a reply to a message can't be.
TYPED_COMMAND = "Commands can't be typed into messages. Write / and choose /{name} from the list."
CATCH_UP_HOURS = 24.0

_log = logging.getLogger(__name__)

# Installed by a person instead of a server, it would offer commands on servers where nobody chose readers.
_CONTEXTS = app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False)
_INSTALLS = app_commands.AppInstallationType(guild=True, user=False)
REFUSED = "\N{LOCK}"  # a reaction

if TYPE_CHECKING:
    _Base = discord.Client
else:
    _Base = object  # the clients below add theirs


def intents() -> discord.Intents:
    """Return the events that the bot needs. Message content is privileged: an admin turns it on in the portal."""
    wanted = discord.Intents.none()
    wanted.guilds = True
    wanted.guild_messages = True
    wanted.dm_messages = True
    wanted.message_content = True
    return wanted


class Events(_Base):
    """Handlers of Discord's events."""

    def attach(
        self,
        parts: PlatformParts,
        bindings: Bindings,
        *,
        platform: DiscordPlatform | None = None,
        catch_up_hours: float = CATCH_UP_HOURS,
        rules: LibraryRules | None = None,
        open_url: OpenUrl = stream_url,
    ) -> DiscordPlatform:
        """Set the parts that events are passed to, before the client connects; return the platform that posts by it.

        `bindings` know each server's workspace. `platform` is the one that posts by this client already, if any.
        `rules` tell who may add documents; `open_url` reads files of Discord.
        """
        self.parts = parts
        self.catch_up_hours = catch_up_hours
        self.platform = platform or DiscordPlatform(self, parts.entries, parts.link, parts.clock, parts.pause)
        self.workspaces = Workspaces(self, bindings)
        self.catching_up = asyncio.Lock()
        self.online_until: datetime | None = parts.clock.now()  # None: until now
        self.refusals = ToldRefusals(parts.clock)
        posts = DiscordAdditionPosts(self, self.platform.destinations, parts.clock, open_url)
        self.flow = AdditionFlow(parts.additions, posts, parts.pause)
        self.greetings = Greetings(self, parts, self.platform, self.workspaces)
        self.handler = InteractionHandler(
            client=self,
            parts=parts,
            platform=self.platform,
            workspaces=self.workspaces,
            flow=self.flow,
            rules=rules or LibraryRules(),
        )
        self.tree: app_commands.CommandTree[Any] = app_commands.CommandTree(
            self, allowed_contexts=_CONTEXTS, allowed_installs=_INSTALLS
        )
        commands.bind(self.tree, self.handler)
        menus.bind(self.tree, self.handler)
        additions.bind(self.tree, self.handler)
        buttons.bind(self, self.handler)
        return self.platform

    async def setup_hook(self) -> None:
        """Register the commands at login, if the client has its parts by then."""
        if hasattr(self, "tree"):
            await self.offer_commands()

    async def offer_commands(self) -> None:
        """Register the commands, which people see within seconds. Raises core errors."""
        with translated_errors("take my commands"):
            await self.tree.sync()

    async def on_ready(self) -> None:
        """Read missed messages. Discord also calls this after a lost session, sometimes twice in a row."""
        _log.info("Connected to Discord as %s, in %d servers", self.user, len(self.guilds))
        async with self.catching_up:
            online_until = self.online_until or self.parts.clock.now()
            self.online_until = None
            missed = missed_messages(
                self, self.parts, self.workspaces, online_until=online_until, hours=self.catch_up_hours
            )
            async for message in missed:
                try:
                    await self.on_message(message)
                except FootnoteError as error:  # later messages may work
                    _log.warning("Not caught up with message %d: %s", message.id, error)
            self.parts.live.histories[PLATFORM] = DiscordHistories(self, self.me)
            self.parts.live.note_connection(PLATFORM, True)
            await self.flow.resume()
            await self.greetings.greet_new()

    async def on_guild_join(self, guild: discord.Guild) -> None:
        await self.greetings.greet(guild)

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """End the open work of a server that removed the bot, and greet it again if it returns; its threads stay."""
        channels = {str(channel.id) for channel in guild.channels}
        workspace = self.workspaces.of_guild(guild.id)
        await self.parts.forgetting.leave(workspace, lambda question: question.address.channel in channels)
        await self.parts.live.leave(PLATFORM)
        await self.greetings.forget(guild)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        await self.greetings.catch_up()  # back from an outage

    async def on_guild_channel_create(self, channel: discord.abc.GuildChannel) -> None:
        await self.greetings.catch_up()

    async def on_guild_channel_update(self, before: discord.abc.GuildChannel, after: discord.abc.GuildChannel) -> None:
        await self.greetings.catch_up()  # the bot may write there now
        if before.permissions_for(before.guild.me) != after.permissions_for(after.guild.me):
            workspace = self.workspaces.of_guild(after.guild.id)
            place = ChannelAddress(platform=PLATFORM, workspace=workspace, channel=str(after.id))
            self.parts.live.recheck(place)

    async def on_disconnect(self) -> None:
        self.online_until = self.online_until or self.parts.clock.now()
        self.parts.live.note_connection(PLATFORM, False)

    async def on_resumed(self) -> None:
        """Discord has sent everything that was missed."""
        self.online_until = None
        self.parts.live.note_connection(PLATFORM, True)

    async def on_message(self, message: discord.Message) -> None:
        if message.author.id != self.me:
            await self._keep(message)
            await self.receive(message)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Receive edits of people, but not the ones by Discord when a link's preview has loaded."""
        if payload.message.edited_at is not None and payload.message.author.id != self.me:
            await self._keep(payload.message)
            await self.receive(payload.message)

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        await self._forget(payload.channel_id, payload.guild_id, payload.message_id)

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        for message_id in sorted(payload.message_ids):
            await self._forget(payload.channel_id, payload.guild_id, message_id)

    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        workspace = self.workspaces.of_guild(payload.guild_id)
        address = thread_address(workspace, payload.parent_id, str(payload.thread_id))
        await self.parts.forgetting.forget_thread(address)
        if isinstance(self.get_channel(payload.parent_id), discord.ForumChannel):  # its first message is in it
            await self.parts.live.forget_message(message_key(address, str(payload.thread_id)))

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """Forget the channel with its threads: for archived threads, Discord sends no event."""
        workspace = self.workspaces.of_guild(channel.guild.id)
        place = ChannelAddress(platform=PLATFORM, workspace=workspace, channel=str(channel.id))
        await self.parts.forgetting.forget_channel(place)

    async def on_thread_update(self, before: discord.Thread, after: discord.Thread) -> None:
        """Rename the conversation of a renamed thread."""
        if before.name == after.name or not after.name.strip():
            return
        workspace = self.workspaces.of_guild(after.guild.id)
        found = await self.parts.conversations.find(thread_address(workspace, after.parent_id, str(after.id)))
        if found is not None and after.name != found.title:
            await self.parts.conversations.rename(found.id, workspace, after.name)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Receive forms by their names, also those opened before a restart; discord.py dispatches all the rest."""
        if interaction.type is discord.InteractionType.modal_submit:
            await menus.submit(self.handler, interaction)

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        """Log a failed event, so that it doesn't affect others."""
        _log.exception("The event %s could not be handled", event_method)

    @property
    def is_current(self) -> bool:
        """Whether it is connected, so that it knows its servers, channels and roles as they are now."""
        return hasattr(self, "parts") and self.online_until is None

    @property
    def me(self) -> int:
        return self.user.id if self.user is not None else 0

    async def _keep(self, message: discord.Message) -> None:
        """Store a message of a live channel. After a failure, the channels are compared, as Discord repeats nothing."""
        if message.guild is None or message.author.bot:
            return
        live = self.parts.live
        place, said = place_of(message, self.workspaces.of_guild(message.guild.id)), to_said(message, self.me)
        try:
            if said is not None:
                await live.hear(place, said)
            else:
                await live.visit(place, str(message.author.id), message.created_at)
        except StorageError as error:
            _log.error("Message %d was not kept: %s", message.id, error)
            live.note_connection(PLATFORM, True)

    async def receive(self, message: discord.Message) -> Receipt | None:
        """Pass a message to the inbox, then acknowledge it. Return None if it isn't a person's, or wasn't saved."""
        try:
            workspace = await self.workspaces.of_message(message)
        except BadInput as error:
            await self._reply(message, str(error))
            return None
        if self.me not in message.raw_mentions and await self._take_files(message, workspace):
            return None
        incoming = to_incoming(
            message, me=self.me, workspace=workspace, in_our_thread=await self._is_our_thread(message, workspace)
        )
        if incoming is None:
            return None
        try:
            if (thread := await self._thread_of_reply(message, workspace)) is not None:
                incoming = continue_inline(incoming, thread)
            receipt = await self.parts.inbox.receive(incoming)
        except StorageError as error:
            _log.error("Message %d was not saved: %s", message.id, error)
            if incoming.circumstances.mentioned or incoming.circumstances.direct:  # others may not be for us
                await self._reply(message, NOT_SAVED)
            return None
        if not receipt.repeated:
            await self._acknowledge(message, receipt)
        return receipt

    async def _take_files(self, message: discord.Message, workspace: str) -> bool:
        """Add the files of a message in a channel for them; False for other messages."""
        try:
            return await additions.receive_files(self.handler, message, workspace)
        except FootnoteError as error:
            _log.error("The files of message %d were not added: %s", message.id, error)
            await self._reply(message, NOT_SAVED)
            return True

    async def _acknowledge(self, message: discord.Message, receipt: Receipt) -> None:
        if receipt.accepted and receipt.is_unasked:
            return
        if receipt.accepted:
            try:
                with translated_errors(POST):
                    await message.channel.typing()
            except FootnoteError as error:  # the post itself will report it
                _log.info("No typing sign: %s", error)
        elif receipt.command is not None:
            sentence = TYPED_COMMAND.format(name=receipt.command.name)
            await self._refuse(message, replace(receipt.decision, sentence=sentence))
        elif is_reaction(receipt):
            try:
                with translated_errors(POST):
                    await message.add_reaction(SEEN)
            except FootnoteError as error:  # it may not react there: silence is right, too
                _log.info("No reaction: %s", error)
        elif not is_silent(receipt):
            await self._refuse(message, receipt.decision)

    async def _refuse(self, message: discord.Message, decision: Decision) -> None:
        """Send the reason of a refusal to the person, in a direct message.

        A standing refusal is sent once an hour; later, a reaction shows that the message was seen. If the person takes
        no direct messages, a private refusal is a reaction, too, and any other a reply.
        """
        if message.guild is None:
            await self._reply(message, decision.sentence)
            return
        try:
            with translated_errors(POST):
                if not self.refusals.is_news(str(message.author.id), decision):
                    await message.add_reaction(REFUSED)
                    return
                try:
                    await message.author.send(view=to_view(notice_view(decision.sentence)))
                    return
                except discord.Forbidden:
                    if decision.code in PRIVATE_REFUSALS:
                        await message.add_reaction(REFUSED)
                        return
            await self._reply(message, decision.sentence)
        except FootnoteError as error:
            _log.info("Can't show a refusal: %s", error)

    async def _reply(self, message: discord.Message, sentence: str) -> None:
        """Reply to a message; if that is forbidden, write to its author."""
        view = to_view(notice_view(sentence))
        try:
            try:
                with translated_errors(POST):
                    await message.reply(view=view, mention_author=False)
            except CLOSED:
                with translated_errors(POST):
                    await message.author.send(view=view)
        except FootnoteError as error:
            _log.info("Can't reply: %s", error)

    async def _is_our_thread(self, message: discord.Message, workspace: str) -> bool:
        channel = message.channel
        if not isinstance(channel, discord.Thread):
            return False
        if channel.owner_id == self.me:
            return True
        return await self.parts.conversations.find(to_address(message, workspace)) is not None

    async def _thread_of_reply(self, message: discord.Message, workspace: str) -> str | None:
        """Return the conversation of an answer that was posted as a reply, if this message replies to it."""
        question = answered_question(message, self.me)
        if question is None:
            return None
        place = thread_address(workspace, message.channel.id, "")
        versions = await self.parts.entries.list_versions(message_key(place, str(question)))
        return next((entry.address.thread for entry in reversed(versions) if entry.decision.accepted), None)

    async def _forget(self, channel_id: int, guild_id: int | None, message_id: int) -> None:
        channel: object = self.get_channel(channel_id)
        if channel is None:  # an archived thread, which a new session doesn't know
            try:
                channel = (await self.platform.destinations.thread(channel_id)).channel
            except FootnoteError as error:
                _log.info("The channel of a deleted message is unknown: %s", error)
        parent = channel.parent_id if isinstance(channel, discord.Thread) else channel_id
        # a direct message names no workspace
        for workspace in [self.workspaces.of_guild(guild_id)] if guild_id else self.workspaces.names():
            address = thread_address(workspace, parent, "")
            for key in (message_key(address, str(message_id)), private_key(address, str(message_id))):
                try:
                    posts = await self.parts.forgetting.forget_message(key)
                except StorageError:  # Discord doesn't repeat the event
                    self.parts.live.note_connection(PLATFORM, True)
                    raise
                for ref in posts:
                    await self.platform.delete(ref)
                await self.platform.take_back(key)


class FootnoteClient(Events, discord.Client):
    """A client with one connection, enough for a thousand servers."""

    def __init__(self) -> None:
        super().__init__(intents=intents(), allowed_mentions=discord.AllowedMentions.none(), max_messages=None)


class ShardedFootnoteClient(Events, discord.AutoShardedClient):
    """A client with several connections; without `shards`, as many as Discord advises."""

    def __init__(self, shards: int | None = None) -> None:
        super().__init__(
            intents=intents(),
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
            shard_count=shards,
        )
