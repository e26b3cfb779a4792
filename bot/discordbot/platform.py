"""Discord as a platform: one post for each question, made as a placeholder, filled while it is written, then final.

A post of several parts is several messages. Each carries the name of its post in its buttons, so that a process that
starts again finds what an earlier one posted; and a nonce, so that Discord itself drops a repeat within some minutes.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import discord

from bot.discordbot.destinations import Place, Places, PrivateReply
from bot.discordbot.errors import CLOSED, READ, require_history, understood
from bot.discordbot.layout import DiscordPost, PartView
from bot.discordbot.progress import LivePost
from bot.discordbot.render import RenderOptions, render_answer
from bot.discordbot.render_lists import notice_view
from bot.discordbot.render_running import running_view
from bot.discordbot.translate import (
    DIRECT_THREAD,
    MESSAGE,
    PLATFORM,
    is_private,
    private_reader,
    time_of,
    to_talk,
)
from bot.presentation.action_names import post_id
from bot.presentation.platform_parts import LinkTo, Pause
from core.domain.answer import Answer
from core.domain.conversation import Attachment, IncomingMessage, Talk, ThreadAddress
from core.domain.jobs import Job
from core.domain.service import InboxEntry, PostRef
from core.errors import NotFound
from core.ports import Clock, ProgressSink
from core.ports.service import InboxStore
from core.work.conversations import title_from

TOKEN = "token"  # noqa: S105 - key of metadata: an interaction's, good for 15 minutes
APPLICATION = "application"  # key of metadata
TOKEN_LIFE = timedelta(minutes=14)  # Discord takes it for 15
# A question that waited longer may have a placeholder already: a process that is stopped gives its work back untouched.
FRESH = timedelta(seconds=1)
# Discord's clock and ours may differ by so much.
OLDER = timedelta(minutes=5)
CLOSE_SECONDS = 1.0  # for drafts under way; the whole stop has less than five
NONCE_LENGTH = 25  # characters, Discord's limit

_log = logging.getLogger(__name__)


class DiscordPlatform:
    """ChatPlatform and ThreadReader of Discord, over a client that has logged in."""

    name = PLATFORM

    def __init__(self, client: discord.Client, entries: InboxStore, link: LinkTo, clock: Clock, pause: Pause) -> None:
        """`link` gives where a footnote leads; `pause` waits between the edits of a post that is being written."""
        self._client = client
        self.places = Places(client)
        self._entries = entries
        self._link = link
        self._clock = clock
        self._pause = pause
        self._began = clock.now()
        self._parts: dict[str, dict[int, int]] = {}  # of posts this process works on: part -> message id
        self._drawn_in: dict[str, Place] = {}
        self._live: dict[str, LivePost] = {}
        self._replies: dict[str, asyncio.Event] = {}

    @contextmanager
    def replying(self, message_key: str) -> Iterator[None]:
        """While a command is acknowledged: its answer waits, as Discord knows no reply to edit yet."""
        ready = self._replies[message_key] = asyncio.Event()
        try:
            yield
        finally:
            del self._replies[message_key]
            ready.set()

    async def open(self, entry: InboxEntry) -> ProgressSink:
        key = entry.message_key
        await self._end_live(key)  # of the question as it was before an edit
        place = await self._place(entry.incoming)
        if self._may_be_begun(entry):
            await self._find(place, key)

        async def draw(text: str, jobs: Sequence[Job]) -> None:
            await self._show_part(place, key, 1, running_view(text, jobs, post_id=post_id(key)))

        await draw("", ())
        self._live[key] = LivePost(draw, self._pause)
        return self._live[key]

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        await self._end_live(message_key)
        place = await self._place_of(address, message_key)
        if look_first:
            await self._find(place, message_key)
        options = RenderOptions(post_id=post_id(message_key), link=lambda citation: self._link(citation, address))
        post = render_answer(answer, options)
        if answer.note_on:
            post = DiscordPost(parts=tuple(replace(part, is_quiet=True) for part in post.parts))
        return await self._finish(place, message_key, post)

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        """In the post's place; where that is closed to us, to the asker directly."""
        await self._end_live(message_key)
        shown = DiscordPost(parts=(notice_view(sentence, post_id=post_id(message_key)),))
        try:
            place = await self._place_of(address, message_key)
            await self._find(place, message_key)
            return await self._finish(place, message_key, shown)
        except CLOSED as error:
            self._parts.pop(message_key, None)
            self._drawn_in.pop(message_key, None)
            told = sentence if str(error) in sentence else f"{sentence} {error}"
            return await self._tell_elsewhere(address, message_key, told)

    async def talk_before(self, question: IncomingMessage, limit: int) -> Sequence[Talk]:
        """Of a thread of people; a thread that a question opened has no talk before it."""
        address = question.address
        if is_private(address) or address.thread in (DIRECT_THREAD, question.metadata.get(MESSAGE)):
            return []
        channel = (await self.places.thread(int(address.thread))).channel
        require_history(channel)
        before = discord.Object(int(question.metadata[MESSAGE]))
        me = self._client.user.id if self._client.user else 0
        with understood(READ):
            found = [message async for message in channel.history(limit=limit, before=before)]
        return [to_talk(item, me) for item in reversed(found) if item.content and item.author.id != me]

    async def read_attachment(self, question: IncomingMessage, attachment: Attachment) -> bytes:
        channel_id, message_id, attachment_id = map(int, attachment.reference.split("/"))
        channel = (await self.places.thread(channel_id)).channel
        with understood(READ):
            message = await channel.fetch_message(message_id)
            for item in message.attachments:
                if item.id == attachment_id:
                    return await item.read()
        raise NotFound(f"The file {attachment.name!r} was taken out of its message.")

    async def delete(self, ref: PostRef) -> None:
        """Take a post away; parts that are gone already are fine."""
        channel, _, messages = ref.partition("/")
        if not messages or not channel.isdigit():
            return
        try:
            place = await self.places.thread(int(channel))
        except NotFound:
            return
        for message_id in messages.split(","):
            await place.delete(int(message_id))

    async def take_back(self, message_key: str) -> None:
        """Delete what this process has posted of an answer that nobody waits for any more."""
        await self._end_live(message_key)
        place = self._drawn_in.pop(message_key, None)
        for message_id in self._parts.pop(message_key, {}).values():
            if place is not None:
                await place.delete(message_id)

    async def close(self) -> None:
        """End the drawing of unfinished posts, which go on at the next start; one that hangs is not waited for."""
        ending = {asyncio.create_task(self._end_live(key)) for key in self._live}
        if ending:
            _, hanging = await asyncio.wait(ending, timeout=CLOSE_SECONDS)
            for task in hanging:
                task.cancel()

    async def _place(self, question: IncomingMessage) -> Place:
        """Where a question is answered; opens the thread or the direct channel that is to be."""
        address, metadata = question.address, question.metadata
        if is_private(address):
            if question.message_key in self._replies:
                await self._replies[question.message_key].wait()
            if TOKEN in metadata and self._clock.now() - time_of(metadata[MESSAGE]) < TOKEN_LIFE:
                return self.places.reply(
                    PrivateReply(
                        application_id=int(metadata[APPLICATION]),
                        token=metadata[TOKEN],
                        person_id=private_reader(address),
                    )
                )
            return await self.places.direct(private_reader(address))
        if address.thread == DIRECT_THREAD:
            return await self.places.thread(int(address.channel))
        if address.thread == metadata.get(MESSAGE):
            title = title_from(question.text)
            return await self.places.thread_on(int(address.channel), int(address.thread), title)
        return await self.places.thread(int(address.thread))

    async def _place_of(self, address: ThreadAddress, message_key: str) -> Place:
        """The place of a post whose entry is at hand in the inbox alone."""
        entries = await self._entries.find_open(message_key)
        if entries:
            return await self._place(entries[-1].incoming)
        if is_private(address):  # never in the open, whatever is lost
            return await self.places.direct(private_reader(address))
        return await self.places.thread(int(address.thread or address.channel))

    def _may_be_begun(self, entry: InboxEntry) -> bool:
        """Whether there may be a post of it that this process does not know."""
        is_older = entry.created_at <= self._began or self._clock.now() - entry.created_at > FRESH
        return is_older or entry.attempts > 1 or entry.event_key != entry.message_key

    async def _find(self, place: Place, key: str) -> None:
        """Look for parts that an earlier process posted."""
        known = self._parts.setdefault(key, {})
        known.update({**await place.look(post_id(key), after=await self._begin_of(key)), **known})

    async def _begin_of(self, key: str) -> int:
        """The message that a post stands below: its question; for a note, which has none, the moment it was due."""
        question = key.rpartition(":")[2]
        if question.isdecimal():
            return int(question)
        entries = await self._entries.find_open(key)
        return discord.utils.time_snowflake(entries[0].created_at - OLDER) if entries else 0

    async def _show_part(self, place: Place, key: str, number: int, part: PartView) -> None:
        """One message of a post: edited where it is known, else sent."""
        known = self._parts.setdefault(key, {})
        self._drawn_in[key] = place
        if number not in known or not await place.edit(known[number], part):
            known[number] = await place.send(part, nonce(key, number), is_first=number == 1)

    async def _finish(self, place: Place, key: str, post: DiscordPost) -> PostRef:
        """The whole post; what a longer draft, or an earlier answer, had more of is deleted."""
        for number, part in enumerate(post.parts, start=1):
            await self._show_part(place, key, number, part)
        parts = self._parts.pop(key)
        self._drawn_in.pop(key, None)
        for number in [number for number in parts if number > len(post.parts)]:
            await place.delete(parts.pop(number))
        return f"{place.id}/{','.join(str(parts[number]) for number in sorted(parts))}"

    async def _tell_elsewhere(self, address: ThreadAddress, key: str, sentence: str) -> PostRef:
        """The error where the asker surely may read. Where not even that works, the log has it: nobody can be told."""
        _log.warning("Can't post to %s: %s", address, sentence)
        entries = await self._entries.find_open(key)
        if not entries:
            return ""
        question = entries[-1].incoming
        part = notice_view(sentence, post_id=post_id(key))
        if not is_private(address) and address.thread == question.metadata.get(MESSAGE):
            try:
                place = await self.places.reply_to(int(address.channel), int(address.thread))
                return f"{place.id}/{await place.send(part, nonce(key, 1), is_first=True)}"
            except CLOSED as error:
                _log.info("The channel of %s is closed, too: %s", key, error)
        try:
            direct = await self.places.direct(int(question.author))
            return f"{direct.id}/{await direct.send(part, nonce(key, 1), is_first=True)}"
        except CLOSED as error:
            _log.warning("The asker of %s can't be told: %s", key, error)
            return ""

    async def _end_live(self, key: str) -> None:
        live = self._live.pop(key, None)
        if live is not None:
            await live.close()


def nonce(message_key: str, part: int) -> str:
    """What Discord drops repeats by."""
    return f"{post_id(message_key)}-{part}"[:NONCE_LENGTH]
