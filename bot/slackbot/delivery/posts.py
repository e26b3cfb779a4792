"""Posts of this process: their messages, their drafts, and the status line before them.

Slack doesn't drop duplicates. After a lost reply, the destination is searched before another message is posted.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from enum import Enum, auto
from typing import TypeVar

from bot.presentation.action_names import post_id
from bot.presentation.direct_threads import message_id_of
from bot.presentation.platform_parts import Pause
from bot.presentation.throttled_progress import ThrottledProgress
from bot.slackbot.delivery.destinations import NO_MESSAGE, ChannelDestination, Destination, number_of_file
from bot.slackbot.delivery.sessions import Sessions
from bot.slackbot.rendering.blocks import Element, SlackMessage, SlackPost
from bot.slackbot.rendering.drafts import draft_text, running_message, start_chunks, task_chunks, text_chunk
from bot.slackbot.web_api import MESSAGE_GONE, STREAM_OVER, STREAM_STOPPED, name_of
from core.domain.jobs import Job
from core.domain.service import PostRef
from core.errors import FootnoteError, PlatformError

SKEW = timedelta(minutes=1)  # between our clock, which names private questions, and Slack's
APPEND_SECONDS = 1.0  # between two chunks of a stream; Slack accepts 100 a minute, over all threads
UPDATE_SECONDS = 3.0  # between two updates of a message; Slack accepts 50 a minute
ResultT = TypeVar("ResultT")
_log = logging.getLogger(__name__)
# Seconds for each active draft: Slack accepts 100 chunks a minute, over all threads.
EACH_SHARE = 0.6
RENEW_SECONDS = 90.0  # Slack removes it after two minutes
MOST_TIMES = 5  # renewals, longer than any attempt; another process may have taken over
ARRIVAL_SECONDS = 2.0  # for a call in progress


class Post:
    """The known messages of a post, and the destination that they are in. Raises core errors."""

    def __init__(self, key: str) -> None:
        self.id = post_id(key)
        self.messages: dict[int, str] = {}  # part number, from 1 -> `ts`; number of a file -> its id
        self.destination: Destination | None = None
        self.is_uncertain = False  # an unknown message may exist: Slack didn't confirm it
        self._searched_to = _search_start(key)  # `ts` up to which the history was searched
        self._searched_in = 0  # the entry's attempt in which it was searched

    async def search(self, destination: Destination, attempt: int) -> None:
        """Search for parts of an earlier attempt, once per attempt (0: always); continue an interrupted search."""
        if self._searched_in == attempt and attempt and not self.is_uncertain:
            return
        if isinstance(destination, ChannelDestination):
            async for found, seen_to in destination.find_parts(self.id, self._searched_to):
                self.messages, self._searched_to = {**found, **self.messages}, seen_to
        self._searched_in, self.is_uncertain = attempt, False

    async def finish(self, destination: Destination, shown: SlackPost) -> PostRef:
        """Show the whole post, and delete surplus parts and files of a longer draft or an earlier answer."""
        for number, part in enumerate(shown.parts, start=1):
            await self._show_part(destination, number, part)
        for number in [number for number in self.messages if number > len(shown.parts)]:
            await destination.delete(self.messages.pop(number))
        if shown.files and isinstance(destination, ChannelDestination):  # a reply takes no files
            ids = await self._sent(destination.upload(shown.files, self.id))
            self.messages |= {number_of_file(id): id for id in ids}
        messages = ",".join(self.messages[number] for number in sorted(self.messages))
        return f"{destination.id}/{messages}" if messages else ""

    async def withdraw(self) -> None:
        """Delete the parts posted so far."""
        if self.destination is None:
            return
        if self.is_uncertain:
            await self.search(self.destination, 0)
        for ts in self.messages.values():
            await self.destination.delete(ts)

    async def _show_part(self, destination: Destination, number: int, part: SlackMessage) -> None:
        """Change a known message, or send a new one."""
        self.destination = destination
        if number in self.messages and await destination.edit(self.messages[number], part):
            return
        self.messages.pop(number, None)
        ts = await self._sent(destination.send(part))
        if ts != NO_MESSAGE:
            self.messages[number] = ts

    async def _sent(self, call: Awaitable[ResultT]) -> ResultT:
        """Return the result of a call. After an error without a pause, Slack may have done it."""
        try:
            return await call
        except PlatformError as error:
            self.is_uncertain |= error.retry_after_seconds is None
            raise


def _search_start(key: str) -> str:
    """Return the `ts` where a search starts: the question's, or 0 for a note, which has no question."""
    try:
        return f"{float(message_id_of(key)) - SKEW.total_seconds():.6f}"
    except ValueError:
        return "0"


class StatusLine:
    """The status line of a thread. Failures are logged."""

    def __init__(
        self, destination: ChannelDestination, pause: Pause, sessions: Sessions, *, asker: str = "", title: str = ""
    ) -> None:
        self._destination = destination
        self._pause = pause
        self._sessions = sessions
        self._asker = asker
        self._title = title
        self._is_shown = False
        self._keeping: asyncio.Task[None] | None = None
        self._call: asyncio.Task[None] | None = None

    async def show(self) -> None:
        """Show the line once; Slack removes it after a while."""
        await self._set(True)

    def keep(self) -> None:
        """Show the line, and renew it, until `end`."""
        if self._keeping is None:
            self._keeping = asyncio.create_task(self._keep())

    @property
    def is_shown(self) -> bool:
        return self._is_shown

    async def wait_for_call(self) -> None:
        """Wait briefly for a call in progress: a line that arrives after a message would stay."""
        if self._call is None or self._call.done():
            return
        patience = asyncio.ensure_future(self._pause(ARRIVAL_SECONDS))
        try:
            await asyncio.wait({self._call, patience}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            patience.cancel()

    async def end(self) -> None:
        """Stop renewing. Slack removes the line with the next message in the thread; a session has to be ended."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait({self._keeping})
        await self.wait_for_call()
        if self._is_shown and self._is_session:
            await self._set(False)

    async def clear(self) -> None:
        """Remove the line if no message will."""
        await self.end()
        if self._is_shown:
            await self._set(False)

    def mark_replaced(self) -> None:
        """Note that a message arrived, with which Slack removed the line, but not a session's sign."""
        self._is_shown &= self._is_session
        if self._keeping is not None:
            self._keeping.cancel()

    async def _keep(self) -> None:
        for _ in range(MOST_TIMES):
            await self._set(True)
            await self._pause(RENEW_SECONDS)

    @property
    def _is_session(self) -> bool:
        return bool(self._sessions.is_agent(self._destination.team))

    async def _set(self, is_shown: bool) -> None:
        """Show or remove the line. The call completes even if the caller is cancelled."""
        self._call = asyncio.create_task(self._send(is_shown))
        await asyncio.shield(self._call)

    async def _send(self, is_shown: bool) -> None:
        team, channel, thread = self._destination.team, self._destination.id, self._destination.thread
        try:
            if is_shown:
                await self._sessions.begin(team, channel, thread, asker=self._asker, title=self._title)
            else:
                await self._sessions.end(team, channel, thread)
        except FootnoteError as error:
            _log.info("No status line: %s", error)
            return
        self._is_shown = is_shown


class _Mode(Enum):
    WAITING = auto()  # no message yet
    STREAM = auto()
    UPDATE = auto()
    OFF = auto()  # no draft before the final post


class LivePost(ThrottledProgress):
    """A draft, streamed or in a message that is updated, with a status line before it."""

    def __init__(
        self,
        post: Post,
        destination: ChannelDestination,
        asker: str,
        status: StatusLine,
        pause: Pause,
        count_active: Callable[[], int],
    ) -> None:
        """A message of an earlier attempt is updated at once. If an unknown one may exist, the draft stays hidden.

        `count_active` counts the drafts that are rendered now.
        """
        super().__init__(pause)
        self._post = post
        self._destination = destination
        self._asker = asker
        self.status = status
        self._count_active = count_active
        self._mode = _Mode.UPDATE if self._is_shown else _Mode.OFF if post.is_uncertain else _Mode.WAITING
        self._sent_text = ""  # to the stream
        self._sent_jobs: dict[str, Job] = {}
        if self._is_shown:
            self.mark_changed()
        else:
            status.keep()

    @property
    def _is_shown(self) -> bool:
        return 1 in self._post.messages

    async def render(self, text: str, jobs: Sequence[Job]) -> float:
        """Show the draft. A failure must not lose the answer."""
        was_shown = self._is_shown
        if not was_shown:
            await self.status.wait_for_call()
        try:
            rest_seconds = await self._show(text, jobs)
        except PlatformError as error:
            _log.info("A draft has to wait: %s", error)
            self.mark_changed()
            return max(error.retry_after_seconds or 0.0, APPEND_SECONDS)
        if self._is_shown and not was_shown:
            self.status.mark_replaced()
        return rest_seconds * max(1.0, EACH_SHARE * self._count_active())

    async def close(self) -> None:
        await super().close()
        await asyncio.gather(self._end_stream(), self.status.end())
        if self._is_shown and self.status.is_shown:  # the final post edits a message, which doesn't remove the line
            await self.status.clear()

    async def _show(self, text: str, jobs: Sequence[Job]) -> float:
        """Update the message; return the seconds until the next call, 0 if none was made.

        Raises PlatformError if Slack asks for a pause; other errors change how the draft is shown.
        """
        is_called = False
        if self._mode is _Mode.WAITING:
            is_called = await self._start_stream(draft_text(text), jobs)
        elif self._mode is _Mode.STREAM:
            is_called = await self._append(draft_text(text), jobs)
        if self._mode is _Mode.UPDATE:
            await self._update(text, jobs)
            return UPDATE_SECONDS
        return APPEND_SECONDS if is_called else 0.0

    async def _start_stream(self, draft: str, jobs: Sequence[Job]) -> bool:
        if not draft and not jobs:
            return False
        if not self._destination.thread:  # streams are replies
            self._mode = _Mode.UPDATE
            return False
        chunks = [*start_chunks(self._post.id), *_chunks(draft, jobs)]
        try:
            self._post.messages[1] = await self._destination.start(chunks, self._asker)
        except PlatformError as error:
            # a second attempt might post twice: the final post searches for the first
            self._post.is_uncertain |= error.retry_after_seconds is None
            self._hide("begun", error)
        except FootnoteError as error:
            _log.info("An answer can't be streamed, so its message is updated: %s", error)
            self._mode = _Mode.UPDATE
        else:
            self._mode = _Mode.STREAM
            self._post.destination = self._destination
            self._note_sent(draft, jobs)
        return True

    async def _append(self, draft: str, jobs: Sequence[Job]) -> bool:
        if not draft.startswith(self._sent_text):  # shown text was withdrawn
            await self._end_stream()
            self._mode = _Mode.UPDATE
            return True
        changed = [job for job in jobs if self._sent_jobs.get(job.id) != job]
        chunks = _chunks(draft[len(self._sent_text) :], changed)
        if not chunks:
            return False
        try:
            await self._destination.append(self._post.messages[1], chunks)
        except FootnoteError as error:
            if isinstance(error, PlatformError) and error.retry_after_seconds is not None:
                raise
            _log.info("A stream ended early, so its message is updated: %s", error)
            if name_of(error) not in (STREAM_OVER, STREAM_STOPPED, MESSAGE_GONE):
                await self._end_stream()
            self._mode = _Mode.UPDATE
        else:
            self._note_sent(draft, jobs)
        return True

    async def _update(self, text: str, jobs: Sequence[Job]) -> None:
        part = running_message(text, jobs, post_id=self._post.id)
        ts = self._post.messages.get(1)
        try:
            if ts is None:
                self._post.messages[1] = await self._destination.send(part, retry_seconds=0.0)
                self._post.destination = self._destination
            elif not await self._destination.edit(ts, part, retry_seconds=0.0):
                self._hide("changed", None)
        except PlatformError as error:
            if error.retry_after_seconds is not None:
                raise
            if ts is None:
                self._post.is_uncertain = True
                self._hide("posted", error)
            else:
                _log.info("A draft could not be changed: %s", error)
        except FootnoteError as error:
            self._hide("shown", error)

    async def _end_stream(self) -> None:
        """End the stream, so that the final post may change the message."""
        if self._mode is _Mode.STREAM:
            self._mode = _Mode.OFF
            try:
                await self._destination.stop(self._post.messages[1])
            except FootnoteError as error:
                _log.info("A stream could not be ended, which the final post does: %s", error)

    def _note_sent(self, draft: str, jobs: Sequence[Job]) -> None:
        self._sent_text = draft
        self._sent_jobs = {job.id: job for job in jobs}

    def _hide(self, what: str, error: FootnoteError | None) -> None:
        _log.info("A draft could not be %s, so the answer comes at once when it is done: %s", what, error or "gone")
        self._mode = _Mode.OFF


def _chunks(piece: str, jobs: Sequence[Job]) -> list[Element]:
    return [*task_chunks(jobs), *([text_chunk(piece)] if piece else ())]
