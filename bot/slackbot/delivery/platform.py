"""Slack as a platform: one post for each question, streamed while it is written, then final in the same message.

A post of several parts is several messages. Each carries the id of its post in its blocks, so that a restarted process
finds the parts that an earlier one posted.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.presentation.action_names import post_id
from bot.presentation.answer_files import AnswerFile
from bot.presentation.platform_parts import LinkTo, Pause, may_have_post
from bot.presentation.throttled_progress import close_all
from bot.slackbot.delivery.destinations import (
    ChannelDestination,
    Destination,
    ReplyDestination,
    open_direct_destination,
)
from bot.slackbot.delivery.files import FILES, delete_file, find_file, read_file
from bot.slackbot.delivery.posts import LivePost, Post, StatusLine
from bot.slackbot.delivery.sessions import SUSPENDED, Sessions
from bot.slackbot.delivery.surfaces import (
    GENERAL_QUESTION,
    HOME,
    NAMELESS,
    PROMPTS,
    outdated_home,
    publish_home,
    suggest,
)
from bot.slackbot.events.command_text import format_command_names
from bot.slackbot.events.directory import People
from bot.slackbot.events.teams import PLATFORM, Team, Teams
from bot.slackbot.events.translate import (
    CHANNEL_ITSELF,
    MESSAGE,
    RESPONSE,
    TEAM,
    message_links,
    people_in,
    read_message,
    time_of,
    to_talk,
)
from bot.slackbot.rendering.answers import Layout, RenderOptions, plain_answer, render_answer
from bot.slackbot.rendering.blocks import SlackPost
from bot.slackbot.rendering.lists import notice_message, text_post
from bot.slackbot.web_api import CLOSED, LayoutRefused, name_of
from core.access.availability import NAMED_COMMANDS
from core.domain.answer import Answer
from core.domain.incoming import CHANNEL_TALK, Attachment, IncomingMessage, Talk, ThreadAddress
from core.domain.service import LOST, InboxEntry, PostRef
from core.errors import FootnoteError, PlatformError
from core.ports import Clock, ProgressSink
from core.ports.service import InboxStore
from core.work.history import title_from
from core.work.progress import SilentProgress

IN_A_FILE = "Slack doesn't take this answer as a message, so it is in the file below."
FILE_NAME = "answer.md"
RESPONSE_LIFE = timedelta(minutes=25)  # Slack accepts replies to an interaction for 30
MOST_REPLIES = 4  # Slack accepts five, and one announced the answer
MOST_SWEPT = 50  # newest questions of a workspace, whose sessions are ended at a start
MOST_HEARD = 50  # messages of a thread
HEARD_KEYS = ("ts", "user", "bot_id", "subtype", "text", "attachments")  # needed by `to_talk`
MOST_REMEMBERED = 1_000  # questions with a status line, or answered (by a reply); threads of people
NAMES_SECONDS = 2.0  # for the names of a thread's people
_log = logging.getLogger(__name__)


class HeardTalk:
    """Recent talk in threads, from the events, in memory: Slack rations reading for some apps."""

    def __init__(self) -> None:
        self._threads: OrderedDict[ThreadAddress, dict[str, Mapping[str, Any]]] = OrderedDict()

    def note(self, address: ThreadAddress, message: Mapping[str, Any]) -> None:
        """Remember a message, or its edit."""
        said = self._threads.setdefault(address, {})
        said[str(message["ts"])] = {key: message[key] for key in HEARD_KEYS if key in message}
        self._threads.move_to_end(address)
        if len(said) > MOST_HEARD:
            del said[min(said, key=float)]
        if len(self._threads) > MOST_REMEMBERED:
            self._threads.popitem(last=False)

    def forget(self, channel: str, ts: str) -> None:
        """Forget a deleted message."""
        for address, said in self._threads.items():
            if address.channel == channel:
                said.pop(ts, None)

    def before(self, address: ThreadAddress, ts: str, since: str) -> Sequence[Mapping[str, Any]]:
        """Return the talk of a thread before a message and after `since`, oldest first; of a channel, the messages that
        open threads.
        """
        said = self._threads.get(address, {})
        if address.thread == CHANNEL_ITSELF:
            threads = self._threads.items()
            opening = ((at.thread, talk) for at, talk in threads if replace(at, thread=CHANNEL_ITSELF) == address)
            said = {first: talk[first] for first, talk in opening if first in talk}
        return [said[place] for place in sorted(said, key=float) if float(since) < float(place) < float(ts)]


class SlackPlatform:
    """The ChatPlatform and ThreadReader of Slack, for all installed teams."""

    name = PLATFORM

    def __init__(
        self, teams: Teams, people: People, entries: InboxStore, link: LinkTo, clock: Clock, pause: Pause
    ) -> None:
        """`link` returns a footnote's address; `pause` waits between the updates of a draft."""
        self._teams = teams
        self._people = people
        self._entries = entries
        self._link = link
        self._clock = clock
        self._pause = pause
        self.sessions = Sessions(pause)
        self.heard = HeardTalk()
        self._began = clock.now()
        self._posts: dict[str, Post] = {}  # in progress, by posting key
        self._live: dict[str, LivePost] = {}
        self._lines: OrderedDict[str, StatusLine] = OrderedDict()
        self._replied: OrderedDict[str, None] = OrderedDict()  # questions that may have been answered by a reply
        self._answered: OrderedDict[str, asyncio.Future[ThreadAddress]] = OrderedDict()

    async def show_status(self, question: IncomingMessage) -> None:
        """Show that a question was accepted. Failures are logged."""
        key = question.message_key
        if key in self._live or key in self._lines or question.address.private_to or not question.address.thread:
            return
        try:
            destination = await self._thread(question.address, question)
        except FootnoteError as error:
            _log.info("No status line: %s", error)
            return
        line = self._lines[key] = self._status_line(destination, question)
        while len(self._lines) > MOST_REMEMBERED:
            self._lines.popitem(last=False)
        await line.show()

    def _status_line(self, destination: ChannelDestination, question: IncomingMessage) -> StatusLine:
        title = title_from(question.text)
        return StatusLine(destination, self._pause, self.sessions, asker=question.author, title=title)

    async def open(self, entry: InboxEntry) -> ProgressSink:
        """Return the live post of an entry. Private questions and notes show no draft, and outside threads Slack has
        no streams.
        """
        key, question = entry.message_key, entry.incoming
        line = self._lines.pop(key, None)
        await self._end_live(key)  # of the question before an edit
        post = self._post(key)
        post.is_uncertain |= may_have_post(entry, self._began, self._clock.now())
        if entry.address.private_to or question.is_note or entry.address.thread == CHANNEL_ITSELF:
            return SilentProgress()
        post.destination = destination = await self._thread(entry.address, question)
        if post.is_uncertain:
            try:
                await post.search(destination, entry.attempts)
            except PlatformError as error:  # the final post searches again
                _log.info("No draft of %s, as the search for an earlier one failed: %s", key, error)
        line = line or self._status_line(destination, question)
        live = LivePost(post, destination, question.author, line, self._pause, self._count_active)
        self._live[key] = live
        return live

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        ref = await self._post_answer(address, message_key, answer, look_first=look_first)
        if not (answered := self.answered(message_key)).done():
            answered.set_result(address)
        return ref

    async def _post_answer(
        self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool
    ) -> PostRef:
        await self._end_live(message_key)
        entry = await self._entry(message_key)
        options = RenderOptions(
            post_id=post_id(message_key),
            link=lambda citation: self._link(citation, address, answer.message_id),
            is_private=address.private_to is not None,
        )
        if not answer.searched:  # it names commands, as they are entered here
            text = format_command_names(answer.text, NAMED_COMMANDS, in_thread=bool(address.thread))
            answer = replace(answer, text=text)
        known = self._posts.get(message_key)
        if known is not None:
            may_exist = known.is_uncertain
        else:
            may_exist = entry is None or may_have_post(entry, self._began, self._clock.now())
        look_first |= may_exist
        files: Sequence[AnswerFile] = ()
        for layout in Layout:
            if layout is Layout.WHOLE and not files:
                continue
            shown = render_answer(answer, options, layout)
            files = shown.files
            destination = await self._destination(address, message_key, entry, shown)
            try:
                ref = await self._finish(destination, message_key, entry, shown, look_first=look_first)
                if answer.choices and isinstance(destination, ChannelDestination) and destination.thread:
                    await self.sessions.settle(destination.team, destination.id, destination.thread, SUSPENDED)
                return ref
            except LayoutRefused as error:
                _log.warning(
                    "Slack refused the %s layout of %s (%s)", layout.name, message_key, name_of(error) or error
                )
        return await self._post_file(address, message_key, entry, plain_answer(answer, options.link))

    def answered(self, message_key: str) -> "asyncio.Future[ThreadAddress]":
        """Return what gets the place of a question as soon as this process has posted its answer."""
        answered = self._answered.setdefault(message_key, asyncio.get_running_loop().create_future())
        if len(self._answered) > MOST_REMEMBERED:
            self._answered.popitem(last=False)
        return answered

    async def _post_file(
        self, address: ThreadAddress, message_key: str, entry: InboxEntry | None, content: str
    ) -> PostRef:
        """Post an answer that Slack takes in no form as a file, below a sentence."""
        file = AnswerFile(name=FILE_NAME, content=content)
        shown = SlackPost(parts=(notice_message(IN_A_FILE, post_id=post_id(message_key)),), files=(file,))
        destination = await self._destination(address, message_key, entry, shown)
        return await self._finish(destination, message_key, entry, shown)

    async def settle_sessions(self) -> None:
        """End the sessions that an earlier process left: their sign would stay up to an hour. Raises StorageError."""
        for team in self._teams.all():
            entries = await self._entries.recent(team.workspace, limit=MOST_SWEPT)
            ours = [entry for entry in entries if entry.incoming.metadata.get(TEAM) == team.id and _has_session(entry)]
            at_work = {entry.address for entry in ours if not entry.status.is_final}
            for address in {entry.address for entry in ours} - at_work:
                if not await self.sessions.settle(team, address.channel, address.thread):
                    break

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        """Post an error in place of the answer, or directly to the asker if the bot can't post there."""
        is_known = await self._end_live(message_key)
        entry = await self._entry(message_key)
        try:
            if not is_known and entry is not None and _has_session(entry):  # an earlier process began it
                team = await self._team(address, entry.incoming)
                await self.sessions.settle(team, address.channel, address.thread)
            shown = _error_post(message_key, sentence)
            destination = await self._destination(address, message_key, entry, shown)
            return await self._finish(destination, message_key, entry, shown)
        except CLOSED as error:
            self._posts.pop(message_key, None)
            told = sentence if str(error) in sentence else f"{sentence} {error}"
            return await self._fail_directly(address, message_key, entry, told)

    async def remove(self, entry: InboxEntry) -> None:
        team = await self._team(entry.address, entry.incoming)
        await self.delete(entry.post_ref or "", team)
        await self.sessions.name_thread(team, entry.address, NAMELESS)  # it was the first question

    async def redact(self, entry: InboxEntry, sentence: str) -> None:
        """Replace a post by a sentence. Private replies to commands can't be changed: Slack names no message."""
        channel, _, messages = (entry.post_ref or "").partition("/")
        first, *others = messages.split(",")
        if not channel or not first:
            return
        team = await self._team(entry.address, entry.incoming)
        if channel in (FILES, HOME, PROMPTS):
            await self.delete(f"{channel}/{messages}", team)
            return
        destination = ChannelDestination(team, channel, CHANNEL_ITSELF, self._pause)
        answer = None if entry.decision.code == LOST else post_id(entry.message_key)
        await destination.edit(first, notice_message(sentence, post_id=answer))
        for ts in others:
            await destination.delete(ts)

    async def talk_before(self, question: IncomingMessage, limit: int) -> Sequence[Talk]:
        """Return the messages before a question."""
        address, asked = question.address, question.metadata.get(MESSAGE, "")
        if address.private_to or address.thread == CHANNEL_ITSELF or not asked:
            return []
        place, since = address, "0"
        if address.thread == asked:
            place = replace(address, thread=CHANNEL_ITSELF)
            since = f"{float(asked) - CHANNEL_TALK.total_seconds():.6f}"
        destination = await self._thread(place, question)
        try:
            before = await destination.messages_before(asked, since)
        except PlatformError as error:
            before = self.heard.before(place, asked, since)
            if error.retry_after_seconds is None or not before:
                raise
        found = [message for message in before if read_message(message) is not None][-limit:]
        spoken_of = [person for message in found for person in people_in(message)]
        names = await self._people.names(destination.team, spoken_of, wait_seconds=NAMES_SECONDS)
        talks = (to_talk(message, names, destination.team.bot_user_id) for message in found)
        return [talk for talk in talks if talk.text]

    async def is_admin(self, question: IncomingMessage) -> bool:
        try:
            return await self._people.is_admin(await self._team(question.address, question), question.author)
        except FootnoteError as error:
            _log.info("The role of %s is unknown: %s", question.author, error)
            return False

    async def read_attachment(self, question: IncomingMessage, attachment: Attachment) -> bytes:
        team_id, _, file_id = attachment.reference.partition("/")
        team = await self._teams.get(team_id)
        return await read_file(team, await find_file(team, file_id, self._pause))

    async def report(self, person: str, text: str, messages: Sequence[IncomingMessage]) -> PostRef:
        team = await self._team(messages[0].address, messages[0])
        direct = await open_direct_destination(team, person, self._pause)
        named = format_command_names(text, NAMED_COMMANDS, in_thread=False)
        sent = [await direct.send(part) for part in text_post(named, message_links(messages, team)).parts]
        return f"{direct.id}/{','.join(sent)}"

    async def delete(self, ref: PostRef, team: Team) -> None:
        """Delete a post's messages, or a file; missing ones are ignored.

        `ref` is `channel/ts,ts,file` of a channel of `team`, `files/ID`, `home/ID` of a person, whose tab is emptied,
        or `prompts/channel,ts` of a thread of the pane, which gets others.
        """
        channel, _, messages = ref.partition("/")
        if channel == FILES:
            await delete_file(team, messages, self._pause)
            return
        if channel == HOME:
            await publish_home(team, messages, outdated_home(), self._pause)
            return
        if channel == PROMPTS:
            place, thread = messages.split(",")
            await suggest(team, place, thread, [GENERAL_QUESTION], self._pause)
            return
        destination = ChannelDestination(team, channel, CHANNEL_ITSELF, self._pause)
        for ts in filter(None, messages.split(",")):
            await destination.delete(ts)

    async def take_back(self, message_key: str) -> None:
        """Delete the messages of an answer that was cancelled."""
        live = self._live.get(message_key)
        line = live.status if live is not None else self._lines.get(message_key)
        await self._end_live(message_key)
        if line is not None:
            await line.clear()
        post = self._posts.get(message_key)
        if post is not None:
            await post.withdraw()
            del self._posts[message_key]

    async def close(self) -> None:
        """End the unfinished drafts, which continue at the next start; one that hangs is cancelled."""
        await close_all(self._live.values())
        self._live.clear()

    # ------------------------------------------------------------------ where

    async def _entry(self, key: str) -> InboxEntry | None:
        """Return the newest open entry of a message."""
        entries = await self._entries.find_open(key)
        return entries[-1] if entries else None

    async def _team(self, address: ThreadAddress, question: IncomingMessage | None) -> Team:
        named = question.metadata.get(TEAM) if question is not None else None
        return await self._teams.of_workspace(address.workspace, named)

    async def _thread(self, address: ThreadAddress, question: IncomingMessage | None) -> ChannelDestination:
        return ChannelDestination(await self._team(address, question), address.channel, address.thread, self._pause)

    async def _destination(
        self, address: ThreadAddress, key: str, entry: InboxEntry | None, shown: SlackPost
    ) -> Destination:
        """Return the destination of a post. A private post never goes to a public destination."""
        question = entry.incoming if entry is not None else None
        person = address.private_to
        if person is None:
            return await self._thread(address, question)
        team = await self._team(address, question)
        if entry is None or len(shown.parts) > MOST_REPLIES or shown.files or not self._may_reply(entry):
            return await open_direct_destination(team, person, self._pause)
        self._replied[key] = None
        while len(self._replied) > MOST_REMEMBERED:
            self._replied.popitem(last=False)
        url = entry.incoming.metadata[RESPONSE]
        return ReplyDestination(url, lambda: open_direct_destination(team, person, self._pause), self._pause)

    def _may_reply(self, entry: InboxEntry) -> bool:
        """Return whether the answer may use the interaction's reply. It can't be checked, so it is tried once."""
        metadata = entry.incoming.metadata
        if RESPONSE not in metadata or entry.message_key in self._replied or entry.created_at <= self._began:
            return False
        return self._clock.now() - time_of(metadata[MESSAGE]) < RESPONSE_LIFE

    # ------------------------------------------------------------------ posts

    def _post(self, key: str) -> Post:
        return self._posts.setdefault(key, Post(key))

    async def _finish(
        self, destination: Destination, key: str, entry: InboxEntry | None, shown: SlackPost, *, look_first: bool = True
    ) -> PostRef:
        """Show a finished post; `look_first` for messages that an earlier attempt may have posted."""
        post = self._post(key)
        if look_first:
            await post.search(destination, entry.attempts if entry is not None else 0)
        ref = await post.finish(destination, shown)
        self._posts.pop(key, None)
        return ref

    async def _fail_directly(
        self, address: ThreadAddress, key: str, entry: InboxEntry | None, sentence: str
    ) -> PostRef:
        """Send an error directly to the asker. If that fails too, it is only in the log."""
        _log.warning("Can't post to %s: %s", address, sentence)
        if entry is None:
            return ""
        try:
            team = await self._team(address, entry.incoming)
            direct = await open_direct_destination(team, entry.incoming.author, self._pause)
            return await self._finish(direct, key, entry, _error_post(key, sentence))
        except CLOSED as error:
            _log.warning("The asker of %s can't be reached: %s", key, error)
            return ""
        finally:
            self._posts.pop(key, None)  # the next attempt starts in the post's own destination

    def _count_active(self) -> int:
        return sum(live.is_rendering for live in self._live.values())

    async def _end_live(self, key: str) -> bool:
        """End a post's draft and status line; return whether this process has shown one."""
        live, line = self._live.pop(key, None), self._lines.pop(key, None)
        if live is not None:
            await live.close()
        if line is not None:
            await line.end()
        return live is not None or line is not None


def _has_session(entry: InboxEntry) -> bool:
    """Return whether a session may have shown the work on an entry."""
    return entry.decision.accepted and bool(entry.address.thread) and entry.address.private_to is None


def _error_post(key: str, sentence: str) -> SlackPost:
    return SlackPost(parts=(notice_message(sentence, post_id=post_id(key)),))
