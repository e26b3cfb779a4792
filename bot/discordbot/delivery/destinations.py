"""Destinations of posts: a thread, a direct channel, a reply in a channel, or the private reply to a command."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Literal, TypeAlias

import discord

from bot.discordbot.delivery.errors import (
    INVALID_TOKEN,
    NO_THREADS,
    OPEN_THREAD,
    POST,
    READ,
    RENAME,
    REOPEN,
    THREAD_ARCHIVED,
    THREAD_EXISTS,
    UNKNOWN_CHANNEL,
    UNKNOWN_MESSAGE,
    UNKNOWN_WEBHOOK,
    code_of,
    translated_errors,
)
from bot.discordbot.events.translate import TITLE_LENGTH
from bot.discordbot.rendering.components import PartView, to_files, to_view
from bot.presentation.action_names import find_addition, find_part
from core.errors import FootnoteError, InvalidState, NotFound

# Messages below a question among which its post is searched for: the post is made right after the question.
SEARCHED_MESSAGES = 100
ARCHIVE_MINUTES: Literal[10_080] = 10_080  # a week without a message

Writable: TypeAlias = (
    discord.Thread | discord.DMChannel | discord.TextChannel | discord.VoiceChannel | discord.StageChannel
)
OpenDirect: TypeAlias = Callable[[int], Awaitable["ChannelDestination"]]


class ChannelDestination:
    """A thread, a direct channel, or a reply to a message of a channel. Raises core errors (delivery/errors.py)."""

    def __init__(self, channel: Writable, me: int, reply_to: int | None = None) -> None:
        self.channel = channel
        self._me = me
        self._reply_to = reply_to

    @property
    def id(self) -> str:
        return str(self.channel.id)

    async def send(self, part: PartView, nonce: str, *, is_first: bool) -> int:
        """Send a part and return its message id. Within some minutes, the same `nonce` returns the first message."""
        with translated_errors(POST):
            if self._reply_to is None:
                sent = await self.channel.send(
                    view=to_view(part), files=to_files(part), nonce=nonce, silent=part.is_quiet
                )
                return sent.id
            replied = self.channel.get_partial_message(self._reply_to).to_reference(fail_if_not_exists=False)
            message = await self.channel.send(
                view=to_view(part), files=to_files(part), nonce=nonce, reference=replied, mention_author=False
            )
            return message.id

    async def edit(self, message_id: int, part: PartView) -> bool:
        """Change a message; return False if it was deleted. Reopens a thread that was archived meanwhile."""
        try:
            await self._edit(message_id, part)
        except NotFound as error:
            if code_of(error) == UNKNOWN_MESSAGE:
                return False
            raise
        except InvalidState as error:
            if code_of(error) != THREAD_ARCHIVED or not isinstance(self.channel, discord.Thread):
                raise
            with translated_errors(REOPEN):
                await self.channel.edit(archived=False)
            await self._edit(message_id, part)
        return True

    async def _edit(self, message_id: int, part: PartView) -> None:
        with translated_errors(POST):
            await self.channel.get_partial_message(message_id).edit(
                view=to_view(part), attachments=to_files(part), allowed_mentions=discord.AllowedMentions.none()
            )

    async def delete(self, message_id: int) -> None:
        """Delete a message, if it still exists."""
        try:
            with translated_errors(POST):
                await self.channel.get_partial_message(message_id).delete()
        except NotFound:
            return

    async def rename(self, name: str) -> None:
        """Rename a thread that the bot opened; ignore any other channel."""
        if isinstance(self.channel, discord.Thread) and self.channel.owner_id == self._me:
            with translated_errors(RENAME):
                await self.channel.edit(name=name, archived=False)

    async def find_parts(self, post_id: str, after: int) -> Mapping[int, int]:
        """Return the message ids of a post's parts, from 1, that come after the message `after`."""
        found: dict[int, int] = {}
        async for message in self._own_after(after):
            mark = find_part(message.components)
            if mark is not None and mark[0] == post_id:
                found.setdefault(mark[1], message.id)
        return found

    async def find_addition(self, addition_id: str, after: int) -> int | None:
        """Return the message id of an addition's post that comes after the message or interaction `after`."""
        async for message in self._own_after(after):
            if find_addition(message.components) == addition_id:
                return message.id
        return None

    async def _own_after(self, after: int) -> AsyncIterator[discord.Message]:
        """Yield the bot's messages among the next ones, oldest first."""
        with translated_errors(READ):
            async for message in self.channel.history(
                limit=SEARCHED_MESSAGES, after=discord.Object(after), oldest_first=True
            ):
                if message.author.id == self._me:
                    yield message


class CommandReply:
    """The private reply to a command, or the person's direct channel once the reply has expired (after 15 minutes).

    The first part replaces the reply “thinking…”, so that another process that shows it again makes no second message.
    Further parts are messages of their own, which no later process can find.
    """

    def __init__(
        self, client: discord.Client, application_id: int, token: str, person_id: int, open_direct: OpenDirect
    ) -> None:
        """`token` is the interaction's."""
        self._client = client
        self._person_id = person_id
        self._webhook = discord.Webhook.partial(application_id, token, client=client)
        self._webhook.type = discord.WebhookType.application  # the type that interaction tokens belong to
        self._open_direct = open_direct
        self._direct: ChannelDestination | None = None

    @property
    def id(self) -> str:
        return self._direct.id if self._direct is not None else ""

    async def send(self, part: PartView, nonce: str, *, is_first: bool) -> int:
        if self._direct is None:
            try:
                return await (self._edit_reply(part) if is_first else self._follow_up(part))
            except InvalidState as error:
                self._direct = await self._move(error)
        return await self._direct.send(part, nonce, is_first=is_first)

    async def edit(self, message_id: int, part: PartView) -> bool:
        if self._direct is None:
            try:
                with translated_errors(POST):
                    await self._webhook.edit_message(
                        message_id,
                        view=to_view(part),
                        attachments=to_files(part),
                        allowed_mentions=discord.AllowedMentions.none(),
                    )
                return True
            except InvalidState as error:
                self._direct = await self._move(error)
        return await self._direct.edit(message_id, part)

    async def delete(self, message_id: int) -> None:
        try:
            with translated_errors(POST):
                await self._webhook.delete_message(message_id)
        except (NotFound, InvalidState):  # deleted, or out of reach for good
            return

    async def find_parts(self, post_id: str, after: int) -> Mapping[int, int]:
        """Return no parts: private replies can't be listed, and the first part is always the reply itself."""
        return {}

    async def _edit_reply(self, part: PartView) -> int:
        """Change `@original`: only the process that answered the command knows its id."""
        route = discord.http.Route(
            "PATCH",
            "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
            webhook_id=self._webhook.id,
            webhook_token=self._webhook.token,
        )
        content = discord.http.handle_message_parameters(
            view=to_view(part), attachments=to_files(part), allowed_mentions=discord.AllowedMentions.none()
        )
        with translated_errors(POST), content as sent:
            body = {"form": sent.multipart, "files": sent.files} if sent.files else {"json": sent.payload}
            return int((await self._client.http.request(route, **body))["id"])

    async def _follow_up(self, part: PartView) -> int:
        with translated_errors(POST):
            message = await self._webhook.send(
                view=to_view(part),
                files=to_files(part),
                ephemeral=True,
                wait=True,
                allowed_mentions=discord.AllowedMentions.none(),
            )
        return message.id

    async def _move(self, error: InvalidState) -> ChannelDestination:
        if code_of(error) not in (UNKNOWN_WEBHOOK, INVALID_TOKEN):
            raise error
        return await self._open_direct(self._person_id)


Destination: TypeAlias = ChannelDestination | CommandReply


class Destinations:
    """Finds and opens destinations for a logged-in client."""

    def __init__(self, client: discord.Client) -> None:
        self._client = client

    async def thread(self, thread_id: int) -> ChannelDestination:
        """Return an existing thread or direct channel. Raises NotFound."""
        channel = self._client.get_channel(thread_id)
        if channel is None:
            with translated_errors(READ):
                channel = await self._client.fetch_channel(thread_id)
        if not isinstance(channel, Writable):
            raise NotFound(f"I can't post to channel {thread_id}: it isn't a text channel.")
        return ChannelDestination(channel, self._me)

    async def thread_on(self, channel_id: int, message_id: int, title: str) -> ChannelDestination:
        """Return the thread on a message, opening it if necessary; its id is the message's.

        Where the bot can open no threads, posts reply to the message instead.
        """
        try:
            return await self.thread(message_id)
        except NotFound as error:
            if code_of(error) not in (UNKNOWN_CHANNEL, None):
                raise
        parent = (await self.thread(channel_id)).channel
        if isinstance(parent, discord.VoiceChannel | discord.StageChannel):
            return ChannelDestination(parent, self._me, message_id)
        message = parent.get_partial_message(message_id)
        try:
            with translated_errors(OPEN_THREAD):
                thread = await message.create_thread(
                    name=title[:TITLE_LENGTH] or "Question", auto_archive_duration=ARCHIVE_MINUTES
                )
        except FootnoteError as error:
            if code_of(error) == THREAD_EXISTS:
                return await self.thread(message_id)
            if code_of(error) in NO_THREADS:
                return ChannelDestination(parent, self._me, message_id)
            raise
        return ChannelDestination(thread, self._me)

    async def reply_to(self, channel_id: int, message_id: int) -> ChannelDestination:
        """Return a channel in which posts reply to a message."""
        return ChannelDestination((await self.thread(channel_id)).channel, self._me, message_id)

    async def direct(self, person_id: int) -> ChannelDestination:
        """Return a person's direct channel. Raises AccessDenied if the person takes no direct messages."""
        with translated_errors(POST):
            person = self._client.get_user(person_id) or await self._client.fetch_user(person_id)
            channel = person.dm_channel or await person.create_dm()
        return ChannelDestination(channel, self._me)

    def reply(self, application_id: int, token: str, person_id: int) -> CommandReply:
        """Return the private reply to a command, also of an earlier process."""
        return CommandReply(self._client, application_id, token, person_id, self.direct)

    @property
    def _me(self) -> int:
        if self._client.user is None:
            raise RuntimeError("The client hasn't logged in.")
        return self._client.user.id
