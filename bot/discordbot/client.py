"""The client: what happens on Discord goes through translate.py into the inbox; nothing is decided here.

Every handler is a short path: translate, hand over, acknowledge. Answers come back through platform.py.
"""

import asyncio
import logging
from datetime import datetime
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands

from bot.discordbot import commands, menus
from bot.discordbot.buttons import press
from bot.discordbot.catch_up import missed_messages
from bot.discordbot.errors import CLOSED, POST, understood
from bot.discordbot.interactions import Desk
from bot.discordbot.parts import DiscordParts
from bot.discordbot.platform import DiscordPlatform
from bot.discordbot.render_lists import notice_view
from bot.discordbot.translate import PLATFORM, private_key, thread_address, to_address, to_incoming
from bot.discordbot.views import to_view
from bot.discordbot.workspaces import Workspaces
from bot.presentation.action_names import read_action_name
from core.domain.conversation import ChannelAddress, ThreadAddress, message_key
from core.domain.service import Receipt
from core.errors import BadInput, FootnoteError, StorageError

# Refusals that nobody has to be told of: the message was not meant for us.
SILENT = frozenset({"not_for_us", "own_message", "another_bot", "muted", "needs_mention", "posts_off"})

# What commands give is often for one person alone, which a reply to a message can't be.
TYPED_COMMAND = "Commands are not typed into messages here: write / and choose /{name} from the list."
NOT_TAKEN = "I could not take this in, as my memory does not work right now: write it again in a few minutes."

_log = logging.getLogger(__name__)

if TYPE_CHECKING:
    _Base = discord.Client
else:
    _Base = object  # the clients below bring theirs


def intents() -> discord.Intents:
    """What Discord is to tell us. The content of messages is a privileged one: it is switched on in the portal."""
    wanted = discord.Intents.none()
    wanted.guilds = True
    wanted.guild_messages = True
    wanted.dm_messages = True
    wanted.message_content = True
    return wanted


class Events(_Base):
    """Handlers of Discord's events."""

    def attach(self, parts: DiscordParts, platform: DiscordPlatform | None = None) -> DiscordPlatform:
        """Give it what it hands over to, before it connects; gives the platform that posts through it.

        `platform`: the one that posts through it already.
        """
        self.parts = parts
        self.platform = platform or DiscordPlatform(self, parts.entries, parts.link, parts.clock, parts.pause)
        self.workspaces = Workspaces(self, parts.workspace_of)
        self.catching_up = asyncio.Lock()
        self.heard_until: datetime | None = parts.clock.now()  # None: all of it so far
        self.desk = Desk(client=self, parts=parts, platform=self.platform, workspaces=self.workspaces)
        self.tree: app_commands.CommandTree[Any] = app_commands.CommandTree(self)
        commands.bind(self.tree, self.desk)
        menus.bind(self.tree, self.desk)
        return self.platform

    async def setup_hook(self) -> None:
        """At the login, for a client that has its parts by then."""
        if hasattr(self, "tree"):
            await self.offer_commands()

    async def offer_commands(self) -> None:
        """Tell Discord which commands there are; it shows changes within seconds. Raises core errors."""
        with understood("take my commands"):
            await self.tree.sync()

    async def on_ready(self) -> None:
        """Also after a lost session, even twice in a row: what was said meanwhile is read from the channels."""
        _log.info("Connected to Discord as %s, in %d servers", self.user, len(self.guilds))
        async with self.catching_up:
            heard_until = self.heard_until or self.parts.clock.now()
            self.heard_until = None
            async for message in missed_messages(self, self.parts, self.workspaces, heard_until):
                try:
                    await self.on_message(message)
                except FootnoteError as error:  # the next one may work
                    _log.warning("Not caught up with message %d: %s", message.id, error)

    async def on_disconnect(self) -> None:
        self.heard_until = self.heard_until or self.parts.clock.now()

    async def on_resumed(self) -> None:
        """Discord has sent by itself what was missed."""
        self.heard_until = None

    async def on_message(self, message: discord.Message) -> None:
        if message.author.id != self.me:
            await self.hear(message)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """People's edits alone: Discord also edits when a link's preview has loaded."""
        if payload.message.edited_at is not None and payload.message.author.id != self.me:
            await self.hear(payload.message)

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        await self._forget(payload.channel_id, payload.guild_id, payload.message_id)

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        for message_id in sorted(payload.message_ids):
            await self._forget(payload.channel_id, payload.guild_id, message_id)

    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        workspace = self.parts.workspace_of(payload.guild_id)
        address = thread_address(workspace, payload.parent_id, str(payload.thread_id))
        await self.parts.forgetting.forget_thread(address)

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """Its threads are gone with it; of the archived ones Discord says nothing."""
        workspace = self.parts.workspace_of(channel.guild.id)
        place = ChannelAddress(platform=PLATFORM, workspace=workspace, channel=str(channel.id))
        await self.parts.forgetting.forget_channel(place)

    async def on_thread_update(self, before: discord.Thread, after: discord.Thread) -> None:
        """A thread that people rename is a conversation renamed."""
        if before.name == after.name or not after.name.strip():
            return
        workspace = self.parts.workspace_of(after.guild.id)
        found = await self.parts.conversations.find(thread_address(workspace, after.parent_id, str(after.id)))
        if found is not None and after.name != found.title:
            await self.parts.conversations.rename(found.id, workspace, after.name)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Buttons, menus and forms by their names; commands go through the tree by themselves."""
        try:
            await self._act(interaction)
        except Exception as error:
            await commands.tell_fault(interaction, error)

    async def _act(self, interaction: discord.Interaction) -> None:
        data: Any = interaction.data or {}
        if interaction.type is discord.InteractionType.component:
            pressed = read_action_name(data["custom_id"])
            if pressed is not None:
                await press(self.desk, interaction, pressed, tuple(data.get("values", ())))
        elif interaction.type is discord.InteractionType.modal_submit:
            await menus.submit(self.desk, interaction, data["custom_id"], menus.text_of(data))

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        """One event that fails must not end the others."""
        _log.exception("The event %s could not be handled", event_method)

    @property
    def me(self) -> int:
        return self.user.id if self.user is not None else 0

    async def hear(self, message: discord.Message) -> Receipt | None:
        """Hand a message to the inbox, then acknowledge. None: it is no message of people, or was not taken in."""
        try:
            workspace = await self.workspaces.of_message(message)
        except BadInput as error:
            await self._say(message, str(error))
            return None
        incoming = to_incoming(
            message, me=self.me, workspace=workspace, in_our_thread=await self._is_our_thread(message, workspace)
        )
        if incoming is None:
            return None
        try:
            receipt = await self.parts.inbox.receive(incoming)
        except StorageError as error:
            _log.error("Message %d was not taken in: %s", message.id, error)
            if incoming.circumstances.mentioned or incoming.circumstances.direct:  # of others it can't be known
                await self._say(message, NOT_TAKEN)
            return None
        if not receipt.repeated:
            await self._acknowledge(message, receipt)
        return receipt

    async def _acknowledge(self, message: discord.Message, receipt: Receipt) -> None:
        if receipt.accepted:
            try:
                with understood(POST):
                    await message.channel.typing()
            except FootnoteError as error:  # the post itself will tell
                _log.info("No typing sign: %s", error)
        elif receipt.command is not None:
            await self._say(message, TYPED_COMMAND.format(name=receipt.command.name))
        elif receipt.decision.code not in SILENT:
            await self._say(message, receipt.decision.sentence)

    async def _say(self, message: discord.Message, sentence: str) -> None:
        """A short reply to a message; where that is forbidden, a word to its author."""
        view = to_view(notice_view(sentence))
        view.stop()
        try:
            try:
                with understood(POST):
                    await message.reply(view=view, mention_author=False)
            except CLOSED:
                with understood(POST):
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

    async def _forget(self, channel_id: int, guild_id: int | None, message_id: int) -> None:
        for address in await self._addresses(channel_id, guild_id):
            for key in (message_key(address, str(message_id)), private_key(address, str(message_id))):
                for ref in await self.parts.forgetting.forget_message(key):
                    await self.platform.delete(ref)
                await self.platform.take_back(key)

    async def _addresses(self, channel_id: int, guild_id: int | None) -> list[ThreadAddress]:
        """Where a message that is gone may have been: of a direct message the workspace is not told."""
        channel = self.get_channel(channel_id) or await self._archived(channel_id)
        parent = channel.parent_id if isinstance(channel, discord.Thread) else channel_id
        names = [self.parts.workspace_of(guild_id)] if guild_id else self.workspaces.names()
        return [ThreadAddress(platform=PLATFORM, workspace=name, channel=str(parent), thread="") for name in names]

    async def _archived(self, channel_id: int) -> object:
        """Discord tells a new session of no archived thread: that its messages are its parent's has to be asked for."""
        try:
            return (await self.platform.places.thread(channel_id)).channel
        except FootnoteError as error:
            _log.info("Where a message was deleted is not known: %s", error)
            return None


class FootnoteClient(Events, discord.Client):
    """One connection, as it is for fewer than a thousand servers."""

    def __init__(self) -> None:
        super().__init__(intents=intents(), allowed_mentions=discord.AllowedMentions.none(), max_messages=None)


class ShardedFootnoteClient(Events, discord.AutoShardedClient):
    """Several connections; `shards` None: as many as Discord advises."""

    def __init__(self, shards: int | None = None) -> None:
        super().__init__(
            intents=intents(),
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
            shard_count=shards,
        )
