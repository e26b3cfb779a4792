"""Slack as a platform: one post for each question, streamed while it is written, then final in the same message.

A post of several parts is several messages. Each carries the id of its post in its blocks, so that a restarted process
finds the parts that an earlier one posted.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import urljoin, urlsplit

import aiohttp

from bot.presentation.action_names import post_id
from bot.presentation.platform_parts import LinkTo, Pause
from bot.slackbot.delivery.destinations import (
    ChannelDestination,
    Destination,
    ReplyDestination,
    open_direct_destination,
)
from bot.slackbot.delivery.posts import Draft, LivePost, Posts, StatusLine
from bot.slackbot.events.directory import People
from bot.slackbot.events.teams import PLATFORM, Team, Teams
from bot.slackbot.events.translate import (
    CHANNEL_ITSELF,
    MESSAGE,
    RESPONSE,
    TEAM,
    is_private,
    people_in,
    private_reader,
    time_of,
    to_talk,
    written,
)
from bot.slackbot.rendering.answers import RenderOptions, render_answer
from bot.slackbot.rendering.blocks import SlackPost
from bot.slackbot.rendering.lists import notice_message
from bot.slackbot.web_api import CLOSED, READ_FILE, call, to_refusal, translated_errors
from core.domain.answer import Answer
from core.domain.conversation import Attachment, IncomingMessage, Talk, ThreadAddress
from core.domain.service import InboxEntry, PostRef, is_note
from core.errors import AccessDenied, FootnoteError, InvalidState, NotFound, PlatformError
from core.ports import Clock, ProgressSink
from core.ports.service import InboxStore
from core.work.progress import SilentProgress

RESPONSE_LIFE = timedelta(minutes=25)  # Slack takes replies to an interaction for 30
MOST_REPLIES = 4  # Slack takes five, of which one said that the answer is on its way
# A question that waited longer may have a draft already: a process that is stopped gives its work back untouched.
FRESH = timedelta(seconds=1)
CLOSE_SECONDS = 1.0  # for drafts under way; the whole stop has less than five
MOST_REMEMBERED = 1_000  # questions with a status line, or answered in reply to an interaction
NAMES_SECONDS = 2.0  # for the names of who spoke in a thread
_log = logging.getLogger(__name__)
DOWNLOAD_SECONDS = 60.0
MOST_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
# Who may have the token, besides the API's own address.
SLACK_HOSTS = ("slack.com", "slack-files.com", "slack-gov.com")


class SlackPlatform:
    """ChatPlatform and ThreadReader of Slack, for all teams that the app is installed in."""

    name = PLATFORM

    def __init__(
        self, teams: Teams, people: People, entries: InboxStore, link: LinkTo, clock: Clock, pause: Pause
    ) -> None:
        """`link` gives where a footnote leads; `pause` waits between the changes of a post that is being written."""
        self._teams = teams
        self._people = people
        self._entries = entries
        self._link = link
        self._clock = clock
        self._pause = pause
        self._began = clock.now()
        self._posts = Posts()
        self._live: dict[str, LivePost] = {}
        self._lines: OrderedDict[str, StatusLine] = OrderedDict()
        self._replied: OrderedDict[str, None] = OrderedDict()  # an interaction was replied to, perhaps

    async def show_status(self, question: IncomingMessage) -> None:
        """Let people see at once that their question was taken in. Raises nothing: it is a courtesy."""
        key = question.message_key
        if key in self._live or key in self._lines or is_private(question.address) or not question.address.thread:
            return
        try:
            place = await self._thread(question.address, question)
        except FootnoteError as error:
            _log.info("No status line: %s", error)
            return
        line = self._lines[key] = StatusLine(place, self._pause)
        while len(self._lines) > MOST_REMEMBERED:
            self._lines.popitem(last=False)
        await line.show()

    async def open(self, entry: InboxEntry) -> ProgressSink:
        """A private question shows no draft: it was said already that its answer will come. Nor does a note."""
        key, question = entry.message_key, entry.incoming
        line = self._lines.pop(key, None)
        await self._end_live(key)  # of the question as it was before an edit
        parts = self._posts.begin(key)
        parts.is_uncertain |= self._may_be_begun(entry)
        if is_private(entry.address) or is_note(question):
            return SilentProgress()
        place = await self._thread(entry.address, question)
        parts.place = place
        if parts.is_uncertain:
            await self._try_to_look(place, key, entry.attempts)
        draft = Draft(place, parts, post_id(key), question.author)
        line = line or StatusLine(place, self._pause)
        self._live[key] = LivePost(draft, line, self._pause, self._crowd)
        return self._live[key]

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        await self._end_live(message_key)
        entry = await self._entry(message_key)
        options = RenderOptions(
            post_id=post_id(message_key),
            link=lambda citation: self._link(citation, address),
            is_private=is_private(address),
        )
        shown = render_answer(answer, options)
        place = await self._place(address, message_key, entry, len(shown.parts))
        if look_first or self._is_unsure(message_key, entry):
            await self._posts.look(place, message_key, entry.attempts if entry is not None else 0)
        return await self._posts.finish(place, message_key, shown)

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        """In the post's place; where that is closed to us, to the asker directly."""
        await self._end_live(message_key)
        entry = await self._entry(message_key)
        shown = SlackPost(parts=(notice_message(sentence, post_id=post_id(message_key)),))
        try:
            place = await self._place(address, message_key, entry, 1)
            await self._posts.look(place, message_key, entry.attempts if entry is not None else 0)
            return await self._posts.finish(place, message_key, shown)
        except CLOSED as error:
            self._posts.forget(message_key)
            told = sentence if str(error) in sentence else f"{sentence} {error}"
            return await self._tell_elsewhere(address, message_key, entry, told)

    async def talk_before(self, question: IncomingMessage, limit: int) -> Sequence[Talk]:
        """Of a thread of people; a thread that a question opened has no talk before it."""
        address, asked = question.address, question.metadata.get(MESSAGE, "")
        if is_private(address) or address.thread in (CHANNEL_ITSELF, asked):
            return []
        place = await self._thread(address, question)
        found = [message for message in await place.before(asked) if written(message) is not None][-limit:]
        spoken_of = [person for message in found for person in people_in(message)]
        names = await self._people.names(place.team, spoken_of, wait_seconds=NAMES_SECONDS)
        talks = (to_talk(message, names, place.team.bot_user_id) for message in found)
        return [talk for talk in talks if talk.text]

    async def read_attachment(self, question: IncomingMessage, attachment: Attachment) -> bytes:
        team_id, _, file_id = attachment.reference.partition("/")
        return await read_file(await self._teams.get(team_id), file_id, self._pause)

    async def delete(self, ref: PostRef, team: Team) -> None:
        """Take a post away; parts that are gone already are fine. `ref` is `channel/ts,ts`, of a channel of `team`."""
        channel, _, messages = ref.partition("/")
        place = ChannelDestination(team, channel, CHANNEL_ITSELF, self._pause)
        for ts in filter(None, messages.split(",")):
            await place.delete(ts)

    async def take_back(self, message_key: str) -> None:
        """Delete what this process has posted of an answer that nobody waits for any more."""
        shown = self._live.get(message_key) or self._lines.get(message_key)
        await self._end_live(message_key)
        if shown is not None:
            await shown.clear()
        await self._posts.take_back(message_key)

    async def close(self) -> None:
        """End the drawing of unfinished posts, which go on at the next start; one that hangs is not waited for."""
        ending = {asyncio.create_task(self._end_live(key)) for key in self._live}
        if ending:
            _, hanging = await asyncio.wait(ending, timeout=CLOSE_SECONDS)
            for task in hanging:
                task.cancel()

    # ------------------------------------------------------------------ where

    async def _entry(self, key: str) -> InboxEntry | None:
        """The newest open entry of a message."""
        entries = await self._entries.find_open(key)
        return entries[-1] if entries else None

    async def _team(self, address: ThreadAddress, question: IncomingMessage | None) -> Team:
        named = question.metadata.get(TEAM) if question is not None else None
        return await self._teams.of_workspace(address.workspace, named)

    async def _thread(self, address: ThreadAddress, question: IncomingMessage | None) -> ChannelDestination:
        return ChannelDestination(await self._team(address, question), address.channel, address.thread, self._pause)

    async def _place(self, address: ThreadAddress, key: str, entry: InboxEntry | None, parts: int) -> Destination:
        """Where a post of so many parts belongs; what is private never in the open, whatever is lost."""
        question = entry.incoming if entry is not None else None
        if not is_private(address):
            return await self._thread(address, question)
        team, person = await self._team(address, question), private_reader(address)
        if entry is None or parts > MOST_REPLIES or not self._may_reply(entry):
            return await open_direct_destination(team, person, self._pause)
        self._replied[key] = None
        while len(self._replied) > MOST_REMEMBERED:
            self._replied.popitem(last=False)
        url = entry.incoming.metadata[RESPONSE]
        return ReplyDestination(url, lambda: open_direct_destination(team, person, self._pause), self._pause)

    def _may_reply(self, entry: InboxEntry) -> bool:
        """Once, as nobody can look whether the reply came: after that, the answer goes where it can be found."""
        metadata = entry.incoming.metadata
        if RESPONSE not in metadata or entry.message_key in self._replied or entry.created_at <= self._began:
            return False
        return self._clock.now() - time_of(metadata[MESSAGE]) < RESPONSE_LIFE

    # ------------------------------------------------------------------ what is there

    def _may_be_begun(self, entry: InboxEntry) -> bool:
        """Whether there may be a post of it that this process does not know."""
        is_older = entry.created_at <= self._began or self._clock.now() - entry.created_at > FRESH
        return is_older or entry.attempts > 1 or entry.event_key != entry.message_key

    def _is_unsure(self, key: str, entry: InboxEntry | None) -> bool:
        """Whether a post may be there that nobody told us of, or that was begun before this process saw it."""
        parts = self._posts.find(key)
        if parts is None:
            return entry is None or self._may_be_begun(entry)
        return parts.is_uncertain

    async def _try_to_look(self, place: Destination, key: str, attempt: int) -> None:
        """For a draft, which is not worth waiting for: the final post looks again."""
        try:
            await self._posts.look(place, key, attempt)
        except PlatformError as error:
            _log.info("No draft of %s, as it can't be looked for an earlier one: %s", key, error)

    async def _tell_elsewhere(
        self, address: ThreadAddress, key: str, entry: InboxEntry | None, sentence: str
    ) -> PostRef:
        """The error where the asker surely may read. Where not even that works, the log has it: nobody can be told."""
        _log.warning("Can't post to %s: %s", address, sentence)
        if entry is None:
            return ""
        try:
            team = await self._team(address, entry.incoming)
            direct = await open_direct_destination(team, entry.incoming.author, self._pause)
            await self._posts.look(direct, key, entry.attempts)
            post = SlackPost(parts=(notice_message(sentence, post_id=post_id(key)),))
            return await self._posts.finish(direct, key, post)
        except CLOSED as error:
            _log.warning("The asker of %s can't be told: %s", key, error)
            return ""
        finally:
            self._posts.forget(key)  # the next try begins in the post's own place

    def _crowd(self) -> int:
        return sum(live.is_rendering for live in self._live.values())

    async def _end_live(self, key: str) -> None:
        live, line = self._live.pop(key, None), self._lines.pop(key, None)
        if live is not None:
            await live.close()
        if line is not None:
            await line.end()


async def read_file(team: Team, file_id: str, pause: Pause) -> bytes:
    """The bytes of a file. Raises core errors: it is gone, lies outside Slack, or can't be read now."""
    file = (await call(READ_FILE, lambda: team.client.files_info(file=file_id), pause=pause))["file"]
    name, url = str(file.get("name") or file_id), str(file.get("url_private_download") or file.get("url_private") or "")
    if not url:
        raise NotFound(f"The file {name!r} is gone: it was deleted, or hidden by the limits of the workspace's plan.")
    if file.get("is_external") or not _is_slacks(url, team):
        raise InvalidState(f"The file {name!r} is only linked on Slack, where I can't read it: upload it.")
    size = int(file.get("size") or 0)
    data, content_type = await _download(team, url, size)
    if len(data) == size:
        return data
    if content_type == "text/html":  # a page to log in, with status 200
        raise AccessDenied(f"Slack does not give me the file {name!r}: give the app the scope files:read.")
    raise PlatformError(f"Slack gave {len(data):,} bytes of the file {name!r}, which has {size:,}: trying again.")


async def _download(team: Team, url: str, size: int) -> tuple[bytes, str]:
    """The bytes and their type. Redirects are followed by hand, as the token is for Slack's hosts alone."""
    timeout = aiohttp.ClientTimeout(total=DOWNLOAD_SECONDS)
    with translated_errors(READ_FILE):
        async with aiohttp.ClientSession(timeout=timeout) as session:
            for _ in range(MOST_REDIRECTS):
                headers = {"Authorization": f"Bearer {team.token}"} if _is_slacks(url, team) else {}
                async with session.get(url, headers=headers, allow_redirects=False, proxy=team.client.proxy) as reply:
                    if reply.status in REDIRECTS:
                        url = urljoin(url, reply.headers.get("Location", ""))
                        continue
                    if reply.status != 200:
                        raise to_refusal(reply.status, "", reply.headers, READ_FILE)
                    return await _read(reply, size), reply.content_type
    raise PlatformError("Slack leads from one address of the file to the next: trying again.")


async def _read(reply: aiohttp.ClientResponse, size: int) -> bytes:
    """Little more than was told: what comes besides is not this file."""
    data = bytearray()
    async for piece in reply.content.iter_chunked(1 << 16):
        data += piece
        if len(data) > size:
            break
    return bytes(data)


def _is_slacks(url: str, team: Team) -> bool:
    """Whether an address may be sent the token: the API's own, or one of Slack's over HTTPS."""
    asked, own = urlsplit(url), urlsplit(team.client.base_url)
    if (asked.scheme, asked.netloc) == (own.scheme, own.netloc):
        return True
    host = asked.hostname or ""
    return asked.scheme == "https" and any(host == name or host.endswith(f".{name}") for name in SLACK_HOSTS)
