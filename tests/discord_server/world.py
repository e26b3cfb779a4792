"""The state behind the server: simcord's backend on real time, with attachments that a bot can download."""

import asyncio
import datetime as dt
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

import discord
from simcord._clock import Clock
from simcord.backend import Backend, serializers
from simcord.backend.cdn import CDN_BASE, CdnStore
from simcord.backend.models import Channel, Interaction, Message, Overwrite
from simcord.builders import ChannelHandle, GuildHandle, UserHandle
from simcord.enums import ChannelType, OverwriteType
from simcord.env import Env

from tests.waiting import Waiting

ACK_SECONDS = 3.0  # an interaction not answered by then has failed
TOKEN_SECONDS = 15 * 60.0  # afterwards an interaction's token is unknown
HAS_THREAD = 1 << 5  # message flag

AnyMessage = Any  # discord.Message or simcord's ResponseMessage: both are snapshots with an id


class ServerClock(Clock):
    """Real time, so that ids say when they were made to a bot that reads its own clock; tests may move it on."""

    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC) + dt.timedelta(seconds=self.elapsed)


class ServedFiles(CdnStore):
    """Attachments under the server's own address; `base` is known once it listens."""

    base = CDN_BASE

    def store_attachment(
        self, attachment_id: int, channel_id: int, filename: str, data: bytes, description: str | None
    ) -> dict[str, Any]:
        stored = super().store_attachment(attachment_id, channel_id, filename, data, description)
        url = self.base + quote(stored["url"].removeprefix(CDN_BASE))
        return {**stored, "url": url, "proxy_url": url}

    def find(self, path: str) -> bytes | None:
        return self.get(CDN_BASE + unquote(path))


class World(Env):
    """Guilds, channels, users and messages; `create_guild` and `create_user` and their handles are simcord's.

    Nothing runs in this process: verbs return when the event is on its way, interactions when they are answered or
    have failed. `bot` only lends its parsers to the messages that handles return.
    """

    backend: Backend
    approved_intents: discord.Intents

    def __init__(self, *, ack_seconds: float = ACK_SECONDS, shards: int = 1) -> None:
        super().__init__(discord.Client(intents=discord.Intents.all()), check_errors=False)
        self.backend = Backend(clock=ServerClock())
        self.backend.cdn = ServedFiles()
        self.approved_intents = discord.Intents.all()  # what the developer portal grants
        self._shard_count = shards
        self.ack_seconds = ack_seconds
        self.closed_dms: set[int] = set()  # ids of users who take no direct messages
        self.acknowledged_after: list[float] = []  # seconds, of one interaction after the other
        self.waiting = Waiting()
        self._asked: Interaction | None = None
        self._message_states.add(self.bot._connection)

    # ------------------------------------------------------------------ what simcord's verbs call

    def _begin_operation(self, label: str) -> None:
        """Nothing: people act at the same time here."""

    def _end_operation(self) -> None:
        """Nothing, as above."""

    def _notify_dispatch_observers(self, interaction: Interaction) -> None:
        interaction.initial_response_deadline = self.backend.iso_after(self.ack_seconds)
        self._asked = interaction

    async def _settle_internal(self, *, dispatch: str | None = None, **_: Any) -> None:
        """An interaction is over when the bot acknowledged it, or the time for that is."""
        self.changed()
        if dispatch != "INTERACTION_CREATE" or self._asked is None:
            return
        interaction, start = self._asked, asyncio.get_running_loop().time()
        await self.wait_until(lambda: interaction.responded, self.ack_seconds)
        if interaction.responded:
            self.acknowledged_after.append(asyncio.get_running_loop().time() - start)

    # ------------------------------------------------------------------ waiting

    def changed(self) -> None:
        """Wakes everybody who waits for something: called after every request and event."""
        self.waiting.changed()

    async def wait_until(self, condition: Callable[[], object], timeout_seconds: float) -> bool:
        """Whether the condition came true in time."""
        return await self.waiting.until(condition, timeout_seconds)

    # ------------------------------------------------------------------ the application

    @property
    def application_flags(self) -> int:
        """The privileged intents as an application's flags tell them, for a bot in fewer than 100 servers."""
        approved, flags = self.approved_intents, discord.ApplicationFlags()
        flags.gateway_message_content_limited = approved.message_content
        flags.gateway_guild_members_limited = approved.members
        flags.gateway_presence_limited = approved.presences
        return flags.value

    # ------------------------------------------------------------------ handles

    def place(self, channel_id: int) -> ChannelHandle:
        """The handle of a channel, thread or direct message by id."""
        channel = self.backend.get_channel(channel_id)
        guild = None if channel.guild_id is None else GuildHandle(self, self.backend.get_guild(channel.guild_id))
        return ChannelHandle(self, guild, channel)

    def place_of(self, message: AnyMessage) -> ChannelHandle:
        channel_id = message.channel_id if hasattr(message, "channel_id") else message.channel.id
        return self.place(channel_id)

    def stored(self, message: AnyMessage) -> Message:
        """The message as it is now; BackendError 10008 when it was deleted."""
        return self.backend.get_message(self.place_of(message).id, message.id)

    def user(self, user_id: int) -> UserHandle:
        return UserHandle(self, self.backend.get_user(user_id))

    # ------------------------------------------------------------------ what nobody in particular does

    def allow_bot(self, place: ChannelHandle, **permissions: bool) -> None:
        """Sets permissions of the bot in one channel and its threads, `send_messages=False`; the others stay.

        Before, it may everything but `administrator`.
        """
        channel = self.backend.get_channel(place._channel.permission_channel_id())
        bot_id = self.backend.bot_user.id
        before = next((one for one in channel.overwrites if one.target_id == bot_id), None)
        allow, deny = (
            discord.Permissions(before.allow if before else 0),
            discord.Permissions(before.deny if before else 0),
        )
        allow.update(**permissions)
        deny.update(**{name: not allowed for name, allowed in permissions.items()})
        overwrite = Overwrite(target_id=bot_id, type=OverwriteType.MEMBER, allow=allow.value, deny=deny.value)
        self.backend.set_overwrite(channel.id, overwrite)

    def set_thread(self, thread: ChannelHandle, **metadata: bool) -> None:
        """As a moderator: `archived=`, `locked=`."""
        changes = {**metadata, "archive_timestamp": self.backend.now_iso()}
        self.backend.edit_channel(thread.id, {}, thread_metadata=changes)

    def rename(self, place: ChannelHandle, name: str) -> None:
        self.backend.edit_channel(place.id, {"name": name})

    def delete(self, place: ChannelHandle) -> None:
        """A channel's threads go with it, without an event of their own."""
        assert place.guild is not None
        for thread in place.threads:
            self.backend.get_guild(place.guild.id).thread_ids.remove(thread.id)
            del self.backend.channels[thread.id], self.backend.messages[thread.id]
        self.backend.delete_channel(place.id)

    def unfurl(self, message: AnyMessage, title: str, url: str) -> None:
        """A link's preview arrives: an update that is no edit by its author."""
        stored = self.stored(message)
        stored.embeds = [*stored.embeds, {"type": "link", "title": title, "url": url}]
        self.backend.emit("MESSAGE_UPDATE", serializers.message_payload(self.backend, stored))

    def advance(self, seconds: float) -> None:
        """Moves the server's clock: tokens and nonces expire, idle threads are archived."""
        self.backend.advance_clock(seconds)
        for thread in [one for one in self.backend.channels.values() if one.is_thread]:
            if self._idle(thread):
                self.set_thread(self.place(thread.id), archived=True)
        self.changed()

    def _idle(self, thread: Channel) -> bool:
        state = thread.thread_metadata
        if state is None or state.archived:
            return False
        latest = discord.utils.snowflake_time(thread.last_message_id or thread.id)
        return self.backend.clock.now() - latest >= dt.timedelta(minutes=state.auto_archive_duration)

    # ------------------------------------------------------------------ threads

    def thread_on(self, message: Message, name: str, owner_id: int, archive_minutes: int = 1440) -> Channel:
        """A thread on a message: it has the message's id, and the message is updated to say so."""
        backend = self.backend
        thread = backend.create_thread(
            message.channel_id,
            name,
            owner_id,
            message_id=message.id,
            auto_archive_duration=archive_minutes,
            broadcast=False,
        )
        backend.announce_thread_create(thread)
        message.flags |= HAS_THREAD
        payload = {
            **serializers.message_payload(backend, message),
            "thread": serializers.thread_payload(backend, thread),
        }
        backend.emit("MESSAGE_UPDATE", payload)
        return thread

    def forum_post(
        self, forum: Channel, title: str, author_id: int, text: str, files: list[tuple[str, bytes]], tags: list[int]
    ) -> Channel:
        """A post by a user: a thread whose first message has the thread's id."""
        backend = self.backend
        starter = backend.prepare_message(
            forum.id, author_id, text, attachments=backend.store_attachments(forum.id, files)
        )
        thread = backend.create_thread(
            forum.id, title, author_id, message_id=starter.id, applied_tags=tags, broadcast=False
        )
        starter.channel_id = thread.id
        backend.announce_thread_create(thread)
        backend.commit_message(starter)
        forum.last_message_id = thread.id
        return thread


def is_forum(place: ChannelHandle) -> bool:
    return place._channel.type == ChannelType.FORUM
