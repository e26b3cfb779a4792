"""Where posts go: a thread, a direct channel, or the private reply to a command. One form for all three."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import discord
from discord import ui

from bot.discordbot.errors import (
    INVALID_TOKEN,
    OPEN_THREAD,
    POST,
    READ,
    REOPEN,
    THREAD_ARCHIVED,
    THREAD_EXISTS,
    UNKNOWN_CHANNEL,
    UNKNOWN_MESSAGE,
    UNKNOWN_WEBHOOK,
    code_of,
    understood,
)
from bot.discordbot.layout import PartView
from bot.discordbot.translate import TITLE_LENGTH
from bot.discordbot.views import to_view
from bot.presentation.action_names import find_part
from core.errors import FootnoteError, InvalidState, NotFound

# A post is made right after its question; so far below it, it is not looked for.
LOOKED_THROUGH = 100
ARCHIVE_MINUTES: Literal[10_080] = 10_080  # threads are folded away after a week without a word

Writable: TypeAlias = (
    discord.Thread | discord.DMChannel | discord.TextChannel | discord.VoiceChannel | discord.StageChannel
)
OpenDirect: TypeAlias = Callable[[int], Awaitable["ChannelPlace"]]
PartIds: TypeAlias = Mapping[int, int]  # number of a post's part, from 1 -> id of its message


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateReply:
    """Where a command was given that only one person sees the answer to."""

    application_id: int
    token: str  # the interaction's
    person_id: int


class Place(Protocol):
    """Somewhere to post. Raises core errors (bot/discordbot/errors.py)."""

    @property
    def id(self) -> str:
        """The channel's id; "" where messages can't be reached again."""

    async def send(self, part: PartView, nonce: str, *, is_first: bool) -> int:
        """The new message's id; the same `nonce` within some minutes gives the first one again.

        `is_first`: of the parts of its post.
        """

    async def edit(self, message_id: int, part: PartView) -> bool:
        """False: the message is gone."""

    async def delete(self, message_id: int) -> None:
        """What is gone already is fine."""

    async def look(self, post_id: str, after: int) -> PartIds:
        """The parts of a post of ours, below the message `after`."""


class ChannelPlace:
    """A thread, a direct channel, or a channel in which a message is replied to."""

    def __init__(self, channel: Writable, me: int, reply_to: int | None = None) -> None:
        self.channel = channel
        self._me = me
        self._reply_to = reply_to

    @property
    def id(self) -> str:
        return str(self.channel.id)

    async def send(self, part: PartView, nonce: str, *, is_first: bool) -> int:
        with understood(POST):
            if self._reply_to is None:
                return (await self.channel.send(view=_finished(part), nonce=nonce, silent=part.is_quiet)).id
            replied = self.channel.get_partial_message(self._reply_to).to_reference(fail_if_not_exists=False)
            message = await self.channel.send(
                view=_finished(part), nonce=nonce, reference=replied, mention_author=False
            )
            return message.id

    async def edit(self, message_id: int, part: PartView) -> bool:
        """A thread that was archived meanwhile is reopened first, as a new post in it would do."""
        try:
            await self._edit(message_id, part)
        except NotFound as error:
            if code_of(error) == UNKNOWN_MESSAGE:
                return False
            raise
        except InvalidState as error:
            if code_of(error) != THREAD_ARCHIVED or not isinstance(self.channel, discord.Thread):
                raise
            with understood(REOPEN):
                await self.channel.edit(archived=False)
            await self._edit(message_id, part)
        return True

    async def _edit(self, message_id: int, part: PartView) -> None:
        with understood(POST):
            await self.channel.get_partial_message(message_id).edit(
                view=_finished(part), allowed_mentions=discord.AllowedMentions.none()
            )

    async def delete(self, message_id: int) -> None:
        try:
            with understood(POST):
                await self.channel.get_partial_message(message_id).delete()
        except NotFound:
            return

    async def look(self, post_id: str, after: int) -> PartIds:
        found: dict[int, int] = {}
        with understood(READ):
            async for message in self.channel.history(
                limit=LOOKED_THROUGH, after=discord.Object(after), oldest_first=True
            ):
                mark = find_part(message.components) if message.author.id == self._me else None
                if mark is not None and mark[0] == post_id:
                    found.setdefault(mark[1], message.id)
        return found


class CommandPlace:
    """The private reply to a command; when Discord takes it no more (after 15 minutes), the person's direct channel.

    The first part is the reply itself, which says “thinking” until then: showing it again, in whichever process, makes
    no second one. Further parts are messages of their own, which no later process can find.
    """

    def __init__(self, client: discord.Client, reply: PrivateReply, open_direct: OpenDirect) -> None:
        self._client = client
        self._reply = reply
        self._webhook = discord.Webhook.partial(reply.application_id, reply.token, client=client)
        self._webhook.type = discord.WebhookType.application  # what a token of an interaction belongs to
        self._open_direct = open_direct
        self._direct: ChannelPlace | None = None

    @property
    def id(self) -> str:
        return self._direct.id if self._direct is not None else ""

    async def send(self, part: PartView, nonce: str, *, is_first: bool) -> int:
        if self._direct is None:
            try:
                return await (self._edit_reply(part) if is_first else self._follow_up(part))
            except InvalidState as error:
                await self._move(error)
        return await self._opened.send(part, nonce, is_first=is_first)

    async def edit(self, message_id: int, part: PartView) -> bool:
        if self._direct is None:
            try:
                with understood(POST):
                    await self._webhook.edit_message(
                        message_id, view=_finished(part), allowed_mentions=discord.AllowedMentions.none()
                    )
                return True
            except InvalidState as error:
                await self._move(error)
        return await self._opened.edit(message_id, part)

    async def delete(self, message_id: int) -> None:
        try:
            with understood(POST):
                await self._webhook.delete_message(message_id)
        except (NotFound, InvalidState):  # gone, or out of reach for good
            return

    async def look(self, post_id: str, after: int) -> PartIds:
        """Private replies can't be listed; the first part is always the reply itself."""
        return {}

    async def _edit_reply(self, part: PartView) -> int:
        """By its name: its id is known to the process alone that answered the command."""
        view = _finished(part)
        route = discord.http.Route(
            "PATCH",
            "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
            webhook_id=self._reply.application_id,
            webhook_token=self._reply.token,
        )
        body = {
            "components": view.to_components(),  # type: ignore[no-untyped-call]  # discord.py gives no type
            "flags": discord.MessageFlags(components_v2=True).value,
            "allowed_mentions": discord.AllowedMentions.none().to_dict(),
        }
        with understood(POST):
            return int((await self._client.http.request(route, json=body))["id"])

    async def _follow_up(self, part: PartView) -> int:
        with understood(POST):
            message = await self._webhook.send(
                view=_finished(part), ephemeral=True, wait=True, allowed_mentions=discord.AllowedMentions.none()
            )
        return message.id

    async def _move(self, error: InvalidState) -> None:
        if code_of(error) not in (UNKNOWN_WEBHOOK, INVALID_TOKEN):
            raise error
        self._direct = await self._open_direct(self._reply.person_id)

    @property
    def _opened(self) -> ChannelPlace:
        if self._direct is None:
            raise RuntimeError("the direct channel is opened before it is used")
        return self._direct


class Places:
    """Finds and opens places for a logged-in client."""

    def __init__(self, client: discord.Client) -> None:
        self._client = client

    async def thread(self, thread_id: int) -> ChannelPlace:
        """A thread or direct channel that is there. NotFound when it is not."""
        channel = self._client.get_channel(thread_id)
        if channel is None:
            with understood(READ):
                channel = await self._client.fetch_channel(thread_id)
        if not isinstance(channel, Writable):
            raise NotFound(f"I can't post to channel {thread_id}: it is no text channel.")
        return ChannelPlace(channel, self._me)

    async def thread_on(self, channel_id: int, message_id: int, title: str) -> ChannelPlace:
        """The thread on a message, opened if there is none yet; its id is the message's."""
        try:
            return await self.thread(message_id)
        except NotFound as error:
            if code_of(error) not in (UNKNOWN_CHANNEL, None):
                raise
        parent = (await self.thread(channel_id)).channel
        message = parent.get_partial_message(message_id)
        try:
            with understood(OPEN_THREAD):
                thread = await message.create_thread(
                    name=title[:TITLE_LENGTH] or "Question", auto_archive_duration=ARCHIVE_MINUTES
                )
        except FootnoteError as error:
            if code_of(error) == THREAD_EXISTS:
                return await self.thread(message_id)
            raise
        return ChannelPlace(thread, self._me)

    async def reply_to(self, channel_id: int, message_id: int) -> ChannelPlace:
        """The channel itself, where posts are replies to a message."""
        return ChannelPlace((await self.thread(channel_id)).channel, self._me, message_id)

    async def direct(self, person_id: int) -> ChannelPlace:
        """A person's direct channel. AccessDenied for who takes no direct messages."""
        with understood(POST):
            person = self._client.get_user(person_id) or await self._client.fetch_user(person_id)
            channel = person.dm_channel or await person.create_dm()
        return ChannelPlace(channel, self._me)

    def reply(self, reply: PrivateReply) -> CommandPlace:
        """The private reply to a command of an earlier moment, or of an earlier process."""
        return CommandPlace(self._client, reply, self.direct)

    @property
    def _me(self) -> int:
        if self._client.user is None:
            raise RuntimeError("the client has not logged in")
        return self._client.user.id


def _finished(part: PartView) -> ui.LayoutView:
    """The view, which discord.py is not to keep: buttons are answered by their names (buttons.py)."""
    view = to_view(part)
    view.stop()
    return view
