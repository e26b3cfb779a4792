"""Humans: what they do is checked against what the Discord client lets them do, then reaches the bot as events."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import discord
from simcord.actors import MemberActor
from simcord.backend.errors import SetupError
from simcord.builders import ChannelHandle, GuildHandle, UserHandle
from simcord.results import InteractionResult, to_discord_message

from tests.discord_server.world import AnyMessage, World, is_forum

Files = Sequence[tuple[str, bytes]]  # name and content


class Person:
    """One user. Places are simcord's channel handles: channels, threads, `dm` and forums.

    Messages returned are snapshots of `discord.Message`; `world.stored(message)` is what became of one.
    Interactions return when the bot acknowledged them, or failed to: `result.acknowledged`, `.response`, `.followups`,
    `.modal`, `.ephemeral`.
    """

    def __init__(self, world: World, user: UserHandle) -> None:
        self._world = world
        self.handle = user
        self.id = user.id
        self.name = user.name
        self.mention_text = user.mention

    @classmethod
    def join(
        cls, world: World, user: UserHandle, guilds: Sequence[GuildHandle], permissions: Mapping[str, bool]
    ) -> Self:
        for guild in guilds:
            granted = discord.Permissions(**permissions)
            roles = [guild.create_role(f"{user.name}'s role", permissions=granted)] if permissions else []
            guild.add_member(user, roles=roles)
        return cls(world, user)

    @property
    def dm(self) -> ChannelHandle:
        return self.handle.dm_channel

    def close_dms(self) -> None:
        """From now on the bot's direct messages are refused."""
        self._world.closed_dms.add(self.id)

    # ------------------------------------------------------------------ messages

    async def say(self, place: ChannelHandle, text: str = "", files: Files = ()) -> discord.Message:
        return await self._send(place, text, files, None)

    async def mention(self, place: ChannelHandle, text: str, files: Files = ()) -> discord.Message:
        """Says it to the bot."""
        return await self._send(place, f"<@{self._world.backend.bot_user.id}> {text}", files, None)

    async def reply(self, message: AnyMessage, text: str, files: Files = ()) -> discord.Message:
        return await self._send(self._world.place_of(message), text, files, message)

    async def edit(self, message: AnyMessage, text: str) -> None:
        self._check_not_archived(message)
        await self._actor(self._world.place_of(message)).edit(message, text)

    async def delete(self, message: AnyMessage) -> None:
        self._check_not_archived(message)
        await self._actor(self._world.place_of(message)).delete(message)

    async def react(self, message: AnyMessage, emoji: str) -> None:
        self._check_not_archived(message)
        await self._actor(self._world.place_of(message)).set_reaction(message, emoji, reacted=True)

    async def post(
        self, forum: ChannelHandle, title: str, text: str, files: Files = (), tags: Sequence[int] = ()
    ) -> ChannelHandle:
        """A new post in a forum; gives its thread, whose first message is the post."""
        if not is_forum(forum):
            raise SetupError(f"{forum.name!r} is no forum")
        self._check(forum, "send_messages")
        thread = self._world.forum_post(forum._channel, title, self.id, text, list(files), list(tags))
        return self._world.place(thread.id)

    async def open_thread(self, message: AnyMessage, name: str) -> ChannelHandle:
        place = self._world.place_of(message)
        self._check(place, "create_public_threads")
        return self._world.place(self._world.thread_on(self._world.stored(message), name, self.id).id)

    # ------------------------------------------------------------------ interactions

    async def slash(self, place: ChannelHandle, command: str, /, **options: Any) -> InteractionResult:
        """A slash command, subcommands after a space; options by name."""
        actor = self._actor(place)
        if isinstance(actor, UserHandle):
            result: InteractionResult = await actor.slash(command, **options)
            return result
        return await actor.slash(place, command, **options)

    async def complete(
        self, place: ChannelHandle, command: str, option: str, typed: str, /, **filled: Any
    ) -> list[Any]:
        """The values that the bot offers while an option is typed, best first."""
        actor = self._actor(place)
        if isinstance(actor, UserHandle):
            choices = await actor.autocomplete(command, option, typed, **filled)
        else:
            choices = await actor.autocomplete(place, command, option, typed, **filled)
        return [choice["value"] for choice in choices]

    async def menu(self, command: str, message: AnyMessage) -> InteractionResult:
        """A command of the message's context menu."""
        place = self._world.place_of(message)
        return await self._member(place).context_menu(place, command, message)

    async def click(
        self, message: AnyMessage, *, label: str | None = None, custom_id: str | None = None
    ) -> InteractionResult:
        actor = self._actor(self._world.place_of(message))
        result: InteractionResult = await actor.click(message, label=label, custom_id=custom_id)
        return result

    async def choose(self, message: AnyMessage, *values: str, custom_id: str | None = None) -> InteractionResult:
        """Options of a select, by value."""
        actor = self._actor(self._world.place_of(message))
        result: InteractionResult = await actor.select(message, list(values), custom_id=custom_id)
        return result

    async def submit(self, shown: InteractionResult, values: Mapping[str, Any]) -> InteractionResult:
        """Fills in the modal that an interaction showed, texts by custom id."""
        actor = self._actor(self._world.place(shown._interaction.channel_id))
        result: InteractionResult = await actor.submit_modal(shown, dict(values))
        return result

    # ------------------------------------------------------------------ what lies beneath

    async def _send(
        self, place: ChannelHandle, text: str, files: Files, reply_to: AnyMessage | None
    ) -> discord.Message:
        self._open(place)
        actor = self._actor(place)
        if isinstance(actor, MemberActor):
            return await actor.send(place, text, reply_to=reply_to, attachments=files)
        backend = self._world.backend
        reference = {"message_id": str(reply_to.id), "channel_id": str(place.id)} if reply_to is not None else None
        attachments = backend.store_attachments(place.id, files)
        sent = backend.create_message(place.id, self.id, text, attachments=attachments, reference=reference)
        return to_discord_message(self._world, sent)

    def _open(self, place: ChannelHandle) -> None:
        """Writing opens an archived thread; a locked one only for moderators."""
        state = place._channel.thread_metadata
        if state is None or not (state.archived or state.locked):
            return
        if state.locked:
            self._check(place, "manage_threads")
        if state.archived:
            self._world.set_thread(place, archived=False)

    def _check_not_archived(self, message: AnyMessage) -> None:
        state = self._world.place_of(message)._channel.thread_metadata
        if state is not None and state.archived:
            raise SetupError("The thread is archived: the client offers neither edits nor reactions there")

    def _check(self, place: ChannelHandle, *permissions: str) -> None:
        assert place.guild is not None
        self._world.backend.require_permissions(place.guild.id, self.id, place.id, *permissions)

    def _actor(self, place: ChannelHandle) -> MemberActor | UserHandle:
        return self.handle if place.guild is None else self._member(place)

    def _member(self, place: ChannelHandle) -> MemberActor:
        assert place.guild is not None, "this needs a guild"
        return MemberActor(self._world, place.guild, self.handle)
