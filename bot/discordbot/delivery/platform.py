"""Discord as a chat platform: one post for each question, first a placeholder, then drafts, then the answer.

A post of several parts is several messages. The first button of each names its post, so that another process finds
earlier posts. Each also has a nonce, by which Discord drops a repeat within some minutes.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import discord

from bot.discordbot.delivery.destinations import Destination, Destinations
from bot.discordbot.delivery.errors import CLOSED, READ, require_history, translated_errors
from bot.discordbot.events.translate import DIRECT_THREAD, INLINE, MESSAGE, PLATFORM, jump_link, time_of, to_talk
from bot.discordbot.events.workspaces import MAX_GUILDS
from bot.discordbot.rendering.answers import RenderOptions, render_answer
from bot.discordbot.rendering.components import DiscordPost, PartView
from bot.discordbot.rendering.texts import notice_view, running_view, text_post
from bot.presentation.action_names import post_id
from bot.presentation.platform_parts import LinkTo, Pause, may_have_post
from bot.presentation.throttled_progress import ThrottledProgress, close_all
from core.domain.answer import Answer
from core.domain.incoming import CHANNEL_TALK, Attachment, IncomingMessage, Talk, ThreadAddress
from core.domain.jobs import Job
from core.domain.service import LOST, InboxEntry, PostRef
from core.errors import FootnoteError, NotFound
from core.ports import Clock, ProgressSink
from core.ports.service import InboxStore
from core.work.history import title_from

TOKEN = "token"  # noqa: S105 - key of metadata: an interaction's, good for 15 minutes
APPLICATION = "application"  # key of metadata
TOKEN_LIFE = timedelta(minutes=14)  # Discord accepts it for 15
CLOCK_SKEW = timedelta(minutes=5)  # at most, between Discord's clock and this machine's
NAMELESS = "Deleted question"  # name of a thread whose question was deleted
NONCE_LENGTH = 25  # characters, Discord's limit
# Between two edits of one message. Discord allows five in five seconds, for all posts of a channel together.
EDIT_SECONDS = 1.2

_log = logging.getLogger(__name__)


class LivePost(ThrottledProgress):
    """A post in progress, shown by edits of one message."""

    def __init__(self, show: Callable[[str, Sequence[Job]], Awaitable[object]], pause: Pause) -> None:
        super().__init__(pause)
        self._show = show

    async def render(self, text: str, jobs: Sequence[Job]) -> float:
        """Show the draft. A failure is only logged: the final post tries again, and reports it."""
        try:
            await self._show(text, jobs)
        except FootnoteError as error:
            _log.info("A draft could not be shown: %s", error)
        return EDIT_SECONDS


class DiscordPlatform:
    """ChatPlatform and ThreadReader, over a client that has logged in."""

    name = PLATFORM

    def __init__(self, client: discord.Client, entries: InboxStore, link: LinkTo, clock: Clock, pause: Pause) -> None:
        """`link` returns a footnote's address; `pause` waits between the edits of a draft."""
        self._client = client
        self.destinations = Destinations(client)
        self._entries = entries
        self._link = link
        self._clock = clock
        self._pause = pause
        self._started_at = clock.now()
        self._parts: dict[str, dict[int, int]] = {}  # posting key -> part -> message id, of posts in progress
        self._shown_in: dict[str, Destination] = {}
        self._live: dict[str, LivePost] = {}
        self._replies: dict[str, asyncio.Event] = {}

    @contextmanager
    def replying(self, message_key: str) -> Iterator[None]:
        """Hold back the answer to a command until it is acknowledged: before that, there is no reply to edit."""
        ready = self._replies[message_key] = asyncio.Event()
        try:
            yield
        finally:
            del self._replies[message_key]
            ready.set()

    async def open(self, entry: InboxEntry) -> ProgressSink:
        key = entry.message_key
        await self._end_live(key)  # of the question before an edit
        destination = await self._destination(entry.incoming)
        if may_have_post(entry, self._started_at, self._clock.now()):
            await self._find(destination, key)

        async def show(text: str, jobs: Sequence[Job]) -> None:
            await self._show_part(destination, key, 1, running_view(text, jobs, post_id=post_id(key)))

        await show("", ())
        self._live[key] = LivePost(show, self._pause)
        return self._live[key]

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        await self._end_live(message_key)
        destination = await self._destination_of(address, message_key)
        if look_first:
            await self._find(destination, message_key)
        options = RenderOptions(
            post_id=post_id(message_key), link=lambda citation: self._link(citation, address, answer.message_id)
        )
        post = render_answer(answer, options)
        if answer.note_on:
            post = DiscordPost(parts=tuple(replace(part, is_quiet=True) for part in post.parts))
        try:
            return await self._finish(destination, message_key, post)
        except CLOSED as error:
            if not post.parts[-1].files:
                raise
            _log.warning("Discord refused the files of %s: %s", message_key, error)
            return await self._finish(destination, message_key, render_answer(answer, options, most_files=0))

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        """Post an error instead of the answer; if the destination is closed to the bot, send it to the asker."""
        await self._end_live(message_key)
        shown = DiscordPost(parts=(notice_view(sentence, post_id=post_id(message_key)),))
        try:
            destination = await self._destination_of(address, message_key)
            await self._find(destination, message_key)
            return await self._finish(destination, message_key, shown)
        except CLOSED as error:
            self._parts.pop(message_key, None)
            self._shown_in.pop(message_key, None)
            text = sentence if str(error) in sentence else f"{sentence} {error}"
            return await self._report_elsewhere(address, message_key, text)

    async def remove(self, entry: InboxEntry) -> None:
        channel, _, messages = (entry.post_ref or "").partition("/")
        try:
            destination = await self._posted_in(channel, entry.incoming)
        except NotFound:
            return
        for message_id in filter(None, messages.split(",")):
            if destination is not None:
                await destination.delete(int(message_id))
        thread = entry.address.thread
        if thread and thread == entry.incoming.metadata.get(MESSAGE):  # its name is the question
            try:
                await (await self.destinations.thread(int(thread))).rename(NAMELESS)
            except CLOSED as error:
                _log.info("The thread %s keeps its name: %s", thread, error)

    async def redact(self, entry: InboxEntry, sentence: str) -> None:
        """Replace a post by a sentence. Private replies to commands can be changed for 15 minutes only."""
        answer = None if entry.decision.code == LOST else post_id(entry.message_key)
        shown = notice_view(sentence, post_id=answer)
        channel, _, messages = (entry.post_ref or "").partition("/")
        ids = [int(id) for id in messages.split(",") if id]
        try:
            destination = await self._posted_in(channel, entry.incoming)
        except NotFound:
            return
        if destination is None or not ids:
            return
        await destination.edit(ids[0], shown)
        for message_id in ids[1:]:
            await destination.delete(message_id)

    async def talk_before(self, question: IncomingMessage, limit: int) -> Sequence[Talk]:
        """Return the newest messages of people before a question."""
        address, asked = question.address, question.metadata.get(MESSAGE)
        if address.private_to or address.thread == DIRECT_THREAD or asked is None or INLINE in question.metadata:
            return []
        opens = address.thread == asked
        channel = (await self.destinations.thread(int(address.channel if opens else address.thread))).channel
        require_history(channel)
        before = discord.Object(int(asked))
        since = before.created_at - CHANNEL_TALK if opens else None
        me = self._client.user.id if self._client.user else 0
        with translated_errors(READ):
            # the newest first, also where a time is given
            history = channel.history(limit=limit, before=before, after=since, oldest_first=False)
            found = [message async for message in history]
        return [to_talk(item, me) for item in reversed(found) if item.content and item.author.id != me]

    async def is_admin(self, question: IncomingMessage) -> bool:
        """Return whether the asker may manage the server; in a direct message, any server shared with the bot."""
        channel = self._client.get_channel(int(question.address.channel))
        guilds = [channel.guild] if isinstance(channel, discord.abc.GuildChannel) else self._client.guilds[:MAX_GUILDS]
        for guild in guilds:
            try:
                person = int(question.author)
                with translated_errors(READ):
                    member = guild.get_member(person) or await guild.fetch_member(person)
            except FootnoteError as error:
                _log.info("The role of %s in %s is unknown: %s", question.author, guild.id, error)
            else:
                if member.guild_permissions.manage_guild:
                    return True
        return False

    async def read_attachment(self, question: IncomingMessage, attachment: Attachment) -> bytes:
        channel_id, message_id, attachment_id = map(int, attachment.reference.split("/"))
        channel = (await self.destinations.thread(channel_id)).channel
        with translated_errors(READ):
            message = await channel.fetch_message(message_id)
            for item in message.attachments:
                if item.id == attachment_id:
                    return await item.read()
        raise NotFound(f"The file {attachment.name!r} was removed from its message.")

    async def report(self, person: str, text: str, messages: Sequence[IncomingMessage]) -> PostRef:
        destination = await self.destinations.direct(int(person))
        key = f"{messages[0].message_key}:report-{person}"
        return await self._finish(destination, key, text_post(text, self.message_links(messages)))

    def message_links(self, messages: Sequence[IncomingMessage]) -> Mapping[int, str | None]:
        """Return the addresses of messages, numbered from 1; None for one of a channel that can't be seen."""
        return {number: self._message_link(message) for number, message in enumerate(messages, start=1)}

    def _message_link(self, message: IncomingMessage) -> str | None:
        channel = self._client.get_channel(int(message.address.channel))
        guild = channel.guild.id if isinstance(channel, discord.abc.GuildChannel) else None
        return jump_link(guild, message.address.channel, message.metadata[MESSAGE]) if guild else None

    async def delete(self, ref: PostRef) -> None:
        """Delete a post. Ignores parts that were deleted already."""
        channel, _, messages = ref.partition("/")
        if not messages or not channel.isdigit():
            return
        try:
            destination = await self.destinations.thread(int(channel))
        except NotFound:
            return
        for message_id in messages.split(","):
            await destination.delete(int(message_id))

    async def take_back(self, message_key: str) -> None:
        """Delete this process's posts of an answer that was withdrawn."""
        await self._end_live(message_key)
        destination = self._shown_in.pop(message_key, None)
        for message_id in self._parts.pop(message_key, {}).values():
            if destination is not None:
                await destination.delete(message_id)

    async def close(self) -> None:
        """Stop rendering unfinished posts, which continue at the next start."""
        await close_all(self._live.values())
        self._live.clear()

    async def _destination(self, question: IncomingMessage) -> Destination:
        """Return where a question is answered; opens the thread or the direct channel if necessary."""
        address, metadata = question.address, question.metadata
        reader = address.private_to
        if reader is not None:
            if question.message_key in self._replies:
                await self._replies[question.message_key].wait()
            if TOKEN in metadata and self._clock.now() - time_of(metadata[MESSAGE]) < TOKEN_LIFE:
                application_id, token = int(metadata[APPLICATION]), metadata[TOKEN]
                return self.destinations.reply(application_id, token, int(reader))
            return await self.destinations.direct(int(reader))
        if address.thread == DIRECT_THREAD:
            return await self.destinations.thread(int(address.channel))
        if INLINE in metadata:
            return await self.destinations.reply_to(int(address.channel), int(metadata[MESSAGE]))
        if address.thread == metadata.get(MESSAGE):
            title = title_from(question.text)
            return await self.destinations.thread_on(int(address.channel), int(address.thread), title)
        return await self.destinations.thread(int(address.thread))

    async def _posted_in(self, channel: str, question: IncomingMessage) -> Destination | None:
        """Return where a post is; None for a private reply that can no longer be changed."""
        if channel:
            return await self.destinations.thread(int(channel)) if channel.isdigit() else None
        metadata, reader = question.metadata, question.address.private_to
        if reader is None or TOKEN not in metadata:
            return None
        if self._clock.now() - time_of(metadata[MESSAGE]) >= TOKEN_LIFE:
            return None
        return self.destinations.reply(int(metadata[APPLICATION]), metadata[TOKEN], int(reader))

    async def _destination_of(self, address: ThreadAddress, message_key: str) -> Destination:
        """Return where a post belongs, by its entry in the inbox, or else by its address."""
        entries = await self._entries.find_open(message_key)
        if entries:
            return await self._destination(entries[-1].incoming)
        if address.private_to is not None:  # never public, even if the entry is lost
            return await self.destinations.direct(int(address.private_to))
        return await self.destinations.thread(int(address.thread or address.channel))

    async def _find(self, destination: Destination, key: str) -> None:
        """Find the parts that an earlier process posted: below the question, or from the time a note was due."""
        question = key.rpartition(":")[2]
        if question.isdecimal():
            after = int(question)
        else:
            entries = await self._entries.find_open(key)
            after = discord.utils.time_snowflake(entries[0].created_at - CLOCK_SKEW) if entries else 0
        known = self._parts.setdefault(key, {})
        known.update({**await destination.find_parts(post_id(key), after), **known})

    async def _show_part(self, destination: Destination, key: str, number: int, part: PartView) -> None:
        """Edit a part that was posted, else send it."""
        known = self._parts.setdefault(key, {})
        self._shown_in[key] = destination
        if number not in known or not await destination.edit(known[number], part):
            known[number] = await destination.send(part, nonce(key, number), is_first=number == 1)

    async def _finish(self, destination: Destination, key: str, post: DiscordPost) -> PostRef:
        """Show the whole post, and delete further parts of a longer draft or an earlier answer."""
        for number, part in enumerate(post.parts, start=1):
            await self._show_part(destination, key, number, part)
        parts = self._parts.pop(key)
        self._shown_in.pop(key, None)
        for number in [number for number in parts if number > len(post.parts)]:
            await destination.delete(parts.pop(number))
        return f"{destination.id}/{','.join(str(parts[number]) for number in sorted(parts))}"

    async def _report_elsewhere(self, address: ThreadAddress, key: str, sentence: str) -> PostRef:
        """Reply to the question in its channel, else write to the asker, else only log the error."""
        _log.warning("Can't post to %s: %s", address, sentence)
        entries = await self._entries.find_open(key)
        if not entries:
            return ""
        question = entries[-1].incoming
        part = notice_view(sentence, post_id=post_id(key))
        asked = question.metadata.get(MESSAGE, "")
        if address.private_to is None and (address.thread == asked or INLINE in question.metadata):
            try:
                reply = await self.destinations.reply_to(int(address.channel), int(asked))
                return f"{reply.id}/{await reply.send(part, nonce(key, 1), is_first=True)}"
            except CLOSED as error:
                _log.info("The channel of %s is closed, too: %s", key, error)
        try:
            direct = await self.destinations.direct(int(question.author))
            return f"{direct.id}/{await direct.send(part, nonce(key, 1), is_first=True)}"
        except CLOSED as error:
            _log.warning("Can't write to the asker of %s: %s", key, error)
            return ""

    async def _end_live(self, key: str) -> None:
        live = self._live.pop(key, None)
        if live is not None:
            await live.close()


def nonce(message_key: str, part: int) -> str:
    """Return the name by which Discord recognises a repeat."""
    return f"{post_id(message_key)}-{part}"[:NONCE_LENGTH]
