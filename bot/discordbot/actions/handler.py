"""The base of commands, buttons, menus and forms: the caller's thread, and an answer within three seconds."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar, cast

import discord

from bot.discordbot.delivery.errors import POST, READ, translated_errors
from bot.discordbot.delivery.platform import APPLICATION, TOKEN, DiscordPlatform
from bot.discordbot.events.translate import DIRECT_THREAD, MESSAGE, jump_link, thread_address
from bot.discordbot.events.workspaces import Workspaces
from bot.discordbot.rendering.components import DiscordPost, to_view
from bot.discordbot.rendering.texts import notice_view, text_post
from bot.presentation.action_names import Verb, read_action_name
from bot.presentation.additions import AdditionFlow
from bot.presentation.answer_actions import AnswerActions
from bot.presentation.direct_threads import private_address
from bot.presentation.platform_parts import PlatformParts
from bot.presentation.platform_text import FAULT
from core.domain.incoming import IncomingMessage, Talk, ThreadAddress, message_key
from core.domain.service import PostRef, Receipt
from core.errors import FootnoteError
from core.work.commands import CommandCall, CommandResult, Question

ACKNOWLEDGE_SECONDS = 1.5  # Discord gives up after 3; a later answer is sent as a followup
MAX_ARCHIVED = 500  # archived threads of a channel, newest first; a request for each hundred
Result = TypeVar("Result")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryRules:
    """Roles whose members may add documents or review proposals like admins, and channels whose uploads are added.

    All are names or IDs.
    """

    roles: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    reviewers: frozenset[str] = frozenset()

    def permits(self, person: discord.abc.User, permissions: discord.Permissions) -> bool:
        """Return whether a person may add documents; `permissions` are the ones in the channel, as they are now."""
        return permissions.manage_guild or _has_one(person, self.roles)

    def may_review(self, person: discord.abc.User) -> bool:
        """Return whether a person may review proposals without being an admin."""
        return _has_one(person, self.reviewers)

    def collects(self, channel: object) -> bool:
        """Return whether the files of a channel, or of a thread of it, are added."""
        parent = channel.parent if isinstance(channel, discord.Thread) else channel
        named = {getattr(parent, "name", ""), str(getattr(parent, "id", ""))}
        return isinstance(parent, discord.abc.GuildChannel) and bool(named & self.channels)


def may_moderate(interaction: discord.Interaction) -> bool:
    """Return whether the person may delete messages of others there: in a server, by Discord's permissions."""
    return interaction.guild_id is not None and interaction.permissions.manage_messages


def _has_one(person: discord.abc.User, names: frozenset[str]) -> bool:
    roles = person.roles if isinstance(person, discord.Member) else []
    return any({role.name, str(role.id)} & names for role in roles)


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionHandler:
    client: discord.Client
    parts: PlatformParts
    platform: DiscordPlatform
    workspaces: Workspaces
    flow: AdditionFlow
    rules: LibraryRules

    @property
    def answers(self) -> AnswerActions:
        return AnswerActions(self.parts)

    async def address_of(self, interaction: discord.Interaction) -> ThreadAddress:
        """Return the thread of an interaction; a channel itself has an empty one.

        Raises BadInput for a direct message without exactly one workspace.
        """
        channel = interaction.channel
        if interaction.guild_id is None:
            workspace = await self.workspaces.of_person(interaction.user.id)
            return thread_address(workspace, interaction.channel_id or 0, DIRECT_THREAD)
        workspace = self.workspaces.of_guild(interaction.guild_id)
        if isinstance(channel, discord.Thread):
            return thread_address(workspace, channel.parent_id, str(channel.id))
        place = thread_address(workspace, interaction.channel_id or 0, DIRECT_THREAD)
        return replace(place, thread=await self._inline_thread(interaction, place))

    async def _inline_thread(self, interaction: discord.Interaction, place: ThreadAddress) -> str:
        """Return the conversation of an answer that is a reply in a channel; "" for the channel itself."""
        message, data = interaction.message, cast(Mapping[str, Any], interaction.data or {})
        if message is None:
            return DIRECT_THREAD
        name = read_action_name(str(data.get("custom_id", "")))
        if message.flags.ephemeral and name is not None and name.verb is Verb.MORE:  # the menu behind an answer's ⋯
            return name.post_id or DIRECT_THREAD
        if message.reference is None or message.reference.message_id is None:
            return DIRECT_THREAD
        key = message_key(place, str(message.reference.message_id))
        versions = await self.parts.entries.list_versions(key)
        return next((entry.address.thread for entry in reversed(versions) if entry.decision.accepted), DIRECT_THREAD)

    async def call(
        self, interaction: discord.Interaction, name: str, options: Mapping[str, str] | None = None
    ) -> CommandCall:
        """Return a command as core takes it."""
        address = await self.address_of(interaction)
        in_guild = interaction.guild_id is not None
        place = address
        if in_guild and not address.thread:  # in a channel itself, the conversation is the person's private one
            place = private_address(address, str(interaction.user.id))
        return CommandCall(
            name=name,
            options=options or {},
            workspace=address.workspace,
            conversation=await self.parts.conversations.find(place),
            author=str(interaction.user.id),
            author_name=interaction.user.display_name,
            address=address,
            direct=not in_guild,
            is_admin=interaction.permissions.manage_guild,
            is_moderator=may_moderate(interaction),
            may_add=self.rules.permits(interaction.user, interaction.permissions),
            may_review=self.rules.may_review(interaction.user),
            link=jump_link(interaction.guild_id, address.thread or address.channel) if in_guild else None,
            open_threads=partial(self._open_threads, address) if in_guild else None,
        )

    async def ask(self, interaction: discord.Interaction, question: Question, about: Talk | None = None) -> Receipt:
        """Pass a question to the inbox: a public one in a thread, a private one for its asker.

        A private question is stored before it is acknowledged. A public one is posted first, for its
        thread needs a message.
        """
        address = await self.address_of(interaction)
        if question.private and interaction.guild_id is not None:  # a direct channel is private already
            private = private_address(address, str(interaction.user.id))
            reply = {TOKEN: interaction.token, APPLICATION: str(interaction.application_id)}
            asked = _incoming(interaction, private, str(interaction.id), reply)
            with self.platform.replying(asked.message_key):
                receipt = await self._receive(asked, question, about)
                if receipt.accepted and not interaction.response.is_done():
                    with translated_errors(POST):
                        await interaction.response.defer(ephemeral=True, thinking=True)
        else:
            receipt = await self._ask_publicly(interaction, address, question, about)
        if not receipt.accepted:
            await show(interaction, notice(receipt.decision.sentence))
        return receipt

    async def note(
        self,
        interaction: discord.Interaction,
        refs: Sequence[PostRef],
        result: CommandResult | None = None,
        address: ThreadAddress | None = None,
    ) -> None:
        """Note lasting posts for a person, so that they can be taken back. Failures are logged."""
        result = result or CommandResult(text="")
        try:
            address = address or await self.address_of(interaction)
            for ref in refs:
                shown = _incoming(interaction, address, f"shown-{ref}", {})
                await self.parts.entries.note_shown(shown, ref, result.basis, quotes_people=result.quotes_people)
        except FootnoteError as error:
            _log.warning("A post can't be taken back later: %s", error)

    async def _open_threads(self, address: ThreadAddress) -> frozenset[str]:
        """Return the ids of the channel's public threads, as far as Discord lists them."""
        channel = self.client.get_channel(int(address.channel))
        if not isinstance(channel, discord.TextChannel | discord.ForumChannel):
            return frozenset()
        found = {str(thread.id) for thread in channel.threads if not thread.is_private()}
        try:
            with translated_errors(READ):
                found |= {str(thread.id) async for thread in channel.archived_threads(limit=MAX_ARCHIVED)}
        except FootnoteError as error:
            _log.info("The archived threads of %s are unknown: %s", channel.id, error)
        return frozenset(found)

    async def _ask_publicly(
        self, interaction: discord.Interaction, address: ThreadAddress, question: Question, about: Talk | None
    ) -> Receipt:
        """Post the question and pass it to the inbox; delete it if it isn't accepted."""
        view = to_view(text_post(f"**{interaction.user.display_name}** asks: {question.text}").parts[0])
        with translated_errors(POST):
            if interaction.response.is_done():
                posted: discord.Message = await interaction.followup.send(view=view, wait=True)
            else:
                await interaction.response.send_message(view=view)
                posted = await interaction.original_response()
        if interaction.guild_id is not None and address.thread == DIRECT_THREAD:
            address = thread_address(address.workspace, int(address.channel), str(posted.id))
        is_accepted = False
        try:
            receipt = await self._receive(_incoming(interaction, address, str(posted.id), {}), question, about)
            is_accepted = receipt.accepted
        finally:
            if not is_accepted:
                try:
                    with translated_errors(POST):
                        await posted.delete()
                except FootnoteError as error:
                    _log.info("A question that wasn't accepted could not be deleted: %s", error)
        if is_accepted:
            await self.note(interaction, [f"{posted.channel.id}/{posted.id}"], address=address)
        return receipt

    async def _receive(self, incoming: IncomingMessage, question: Question, about: Talk | None) -> Receipt:
        asked = question.on(incoming)
        return await self.parts.inbox.receive(asked if about is None else replace(asked, about=about))


async def guarded(interaction: discord.Interaction, work: Coroutine[Any, Any, None]) -> None:
    """Run `work`; show its errors to the person who acted, and log bugs."""
    try:
        await work
    except FootnoteError as error:
        await show(interaction, notice(str(error)))
    except Exception as error:
        await report_fault(interaction, error)


async def report_fault(interaction: discord.Interaction, error: Exception) -> None:
    """Log a bug, and tell the person who acted."""
    _log.error("A command, a button or a form failed", exc_info=error)
    try:
        await show(interaction, notice(FAULT))
    except FootnoteError as refused:
        _log.info("The fault could not be reported: %s", refused)


async def in_time(
    interaction: discord.Interaction, work: Coroutine[Any, Any, Result], *, ephemeral: bool = True
) -> Result:
    """Return the result of `work`. If it takes long, acknowledge first: the answer is then a followup."""
    running = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({running}, timeout=ACKNOWLEDGE_SECONDS)
        if not done and not interaction.response.is_done():
            with translated_errors(POST):
                await interaction.response.defer(ephemeral=ephemeral, thinking=True)
        return await running
    finally:
        running.cancel()


async def show(interaction: discord.Interaction, post: DiscordPost, *, public: bool = False) -> list[PostRef]:
    """Answer an interaction, in as many messages as it takes; only its person sees them, unless `public`.

    Return where the public ones are.
    """
    refs = []
    for part in post.parts:
        with translated_errors(POST):
            if interaction.response.is_done():
                posted: discord.Message = await interaction.followup.send(
                    view=to_view(part), ephemeral=not public, wait=True
                )
            else:
                await interaction.response.send_message(view=to_view(part), ephemeral=not public)
                if public:
                    posted = await interaction.original_response()
        if public:
            refs.append(f"{posted.channel.id}/{posted.id}")
    return refs


def notice(sentence: str) -> DiscordPost:
    return DiscordPost(parts=(notice_view(sentence),))


def _incoming(
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
