"""What commands, buttons and menus share: who acts where, and how they are answered in Discord's three seconds."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import discord

from bot.discordbot.errors import POST, READ, understood
from bot.discordbot.layout import DiscordPost
from bot.discordbot.parts import DiscordParts
from bot.discordbot.platform import APPLICATION, TOKEN, DiscordPlatform
from bot.discordbot.render_lists import notice_view, text_view
from bot.discordbot.translate import DIRECT_THREAD, MESSAGE, private_address, thread_address
from bot.discordbot.views import to_view
from bot.discordbot.workspaces import Workspaces
from core.domain.conversation import Conversation, IncomingMessage, Talk, ThreadAddress, message_key
from core.domain.service import Receipt
from core.errors import FootnoteError
from core.service.commands import CommandCall, Question

ACKNOWLEDGE_SECONDS = 1.5  # Discord gives up after 3; what takes longer is answered later
MOST_ARCHIVED = 500  # threads of a channel, newest first: a request for each hundred
Result = TypeVar("Result")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where interactions are dealt with."""

    client: discord.Client
    parts: DiscordParts
    platform: DiscordPlatform
    workspaces: Workspaces

    async def place_of(self, interaction: discord.Interaction) -> ThreadAddress:
        """Where somebody acted; in a channel itself the thread is empty. BadInput for direct messages of nowhere."""
        channel = interaction.channel
        if interaction.guild_id is None:
            workspace = await self.workspaces.of_person(interaction.user.id)
            return thread_address(workspace, interaction.channel_id or 0, DIRECT_THREAD)
        workspace = self.parts.workspace_of(interaction.guild_id)
        if isinstance(channel, discord.Thread):
            return thread_address(workspace, channel.parent_id, str(channel.id))
        return thread_address(workspace, interaction.channel_id or 0, DIRECT_THREAD)

    async def call(
        self, interaction: discord.Interaction, name: str, options: Mapping[str, str] | None = None
    ) -> CommandCall:
        """A command as core takes it."""
        place = await self.place_of(interaction)
        conversation = await self._conversation(interaction, place)
        return CommandCall(
            name=name,
            options=options or {},
            workspace=place.workspace,
            conversation=conversation,
            author=str(interaction.user.id),
            author_name=interaction.user.display_name,
            address=place,
            direct=interaction.guild_id is None,
            is_admin=interaction.permissions.manage_guild,
            link=jump_link(interaction.guild_id, place.thread or place.channel) if interaction.guild_id else None,
            open_threads=partial(self._open_threads, place) if interaction.guild_id else None,
        )

    async def _open_threads(self, place: ThreadAddress) -> frozenset[str]:
        """Ids of the channel's threads that are not private. Those of them that Discord does not tell are left out."""
        channel = self.client.get_channel(int(place.channel))
        if not isinstance(channel, discord.TextChannel | discord.ForumChannel):
            return frozenset()
        found = {str(thread.id) for thread in channel.threads if not thread.is_private()}
        try:
            with understood(READ):
                found |= {str(thread.id) async for thread in channel.archived_threads(limit=MOST_ARCHIVED)}
        except FootnoteError as error:
            _log.info("The archived threads of %s are not known: %s", channel.id, error)
        return frozenset(found)

    async def _conversation(self, interaction: discord.Interaction, place: ThreadAddress) -> Conversation | None:
        """Of the thread; in a channel itself the private one of the person, where there is one."""
        if place.thread or interaction.guild_id is None:
            return await self.parts.conversations.find(place)
        own = private_address(place.workspace, int(place.channel), interaction.user.id)
        return await self.parts.conversations.find(own)

    async def ask(self, interaction: discord.Interaction, question: Question, about: Talk | None = None) -> Receipt:
        """Hand a question to the inbox: for everybody in a thread of its own, or for the one who asks alone.

        A private one is stored before Discord is told; a public one first has to be a message, for its thread to hang
        on.
        """
        place = await self.place_of(interaction)
        if question.private and interaction.guild_id is not None:  # a direct channel is private already
            asked = _private(interaction, place)
            with self.platform.replying(asked.message_key):
                receipt = await self._receive(asked, question, about)
                if receipt.accepted and not interaction.response.is_done():
                    with understood(POST):
                        await interaction.response.defer(ephemeral=True, thinking=True)
        else:
            receipt = await self._ask_openly(interaction, place, question, about)
        if not receipt.accepted:
            await show(interaction, notice(receipt.decision.sentence))
        return receipt

    async def _ask_openly(
        self, interaction: discord.Interaction, place: ThreadAddress, question: Question, about: Talk | None
    ) -> Receipt:
        """What is not taken in does not stay as a question that nobody answers."""
        said = await self._say(interaction, question)
        is_accepted = False
        try:
            receipt = await self._receive(_openly(interaction, place, said.id), question, about)
            is_accepted = receipt.accepted
        finally:
            if not is_accepted:
                await _take_back(said)
        return receipt

    async def _receive(self, bare: IncomingMessage, question: Question, about: Talk | None) -> Receipt:
        asked = question.on(bare)
        if about is not None:
            asked = replace(asked, about=about)
        return await self.parts.inbox.receive(asked)

    async def _say(self, interaction: discord.Interaction, question: Question) -> discord.Message:
        said = text_view(f"**{interaction.user.display_name}** asks: {question.text}").parts[0]
        view = to_view(said)
        view.stop()
        with understood(POST):
            if interaction.response.is_done():
                return await interaction.followup.send(view=view, wait=True)
            await interaction.response.send_message(view=view)
            return await interaction.original_response()


async def _take_back(said: discord.Message) -> None:
    try:
        with understood(POST):
            await said.delete()
    except FootnoteError as error:
        _log.info("A question that was not taken in stays: %s", error)


def _openly(interaction: discord.Interaction, place: ThreadAddress, message_id: int) -> IncomingMessage:
    is_channel = interaction.guild_id is not None and place.thread == DIRECT_THREAD
    address = thread_address(place.workspace, int(place.channel), str(message_id)) if is_channel else place
    return _bare(interaction, address, str(message_id), {})


def _private(interaction: discord.Interaction, place: ThreadAddress) -> IncomingMessage:
    address = private_address(place.workspace, int(place.channel), interaction.user.id)
    reply = {TOKEN: interaction.token, APPLICATION: str(interaction.application_id)}
    return _bare(interaction, address, str(interaction.id), reply)


def _bare(
    interaction: discord.Interaction, address: ThreadAddress, message_id: str, metadata: Mapping[str, str]
) -> IncomingMessage:
    key = message_key(address, message_id)
    return IncomingMessage(
        address=address,
        author=str(interaction.user.id),
        author_name=interaction.user.display_name,
        text="",
        event_key=key,
        message_key=key,
        metadata={MESSAGE: message_id, **metadata},
    )


async def in_time(
    interaction: discord.Interaction, work: Coroutine[Any, Any, Result], *, ephemeral: bool = True
) -> Result:
    """What `work` gives. Where it takes long, Discord is told to wait: the answer comes as a followup then."""
    running = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({running}, timeout=ACKNOWLEDGE_SECONDS)
        if not done and not interaction.response.is_done():
            with understood(POST):
                await interaction.response.defer(ephemeral=ephemeral, thinking=True)
        return await running
    finally:
        running.cancel()


async def show(interaction: discord.Interaction, post: DiscordPost, *, public: bool = False) -> None:
    """Answer an interaction, for the one who acted unless `public`; in as many messages as it takes."""
    for part in post.parts:
        view = to_view(part)
        view.stop()
        with understood(POST):
            if interaction.response.is_done():
                await interaction.followup.send(view=view, ephemeral=not public)
            else:
                await interaction.response.send_message(view=view, ephemeral=not public)


def notice(sentence: str) -> DiscordPost:
    """One sentence."""
    return DiscordPost(parts=(notice_view(sentence),))


def jump_link(guild_id: int | None, channel: str, message: str = "") -> str:
    """The address of a channel, thread or message in Discord's own clients."""
    link = f"https://discord.com/channels/{guild_id or '@me'}/{channel}"
    return f"{link}/{message}" if message else link
