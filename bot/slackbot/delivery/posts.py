"""Posts of this process: their messages, their drafts, and the status line before them.

Slack doesn't drop duplicates. After a lost reply, the destination is searched before another message is posted.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum, auto

from bot.presentation.action_names import post_id
from bot.presentation.platform_parts import Pause
from bot.presentation.throttled_progress import ThrottledProgress
from bot.slackbot.delivery.destinations import NO_MESSAGE, ChannelDestination, Destination
from bot.slackbot.events.translate import ts_of
from bot.slackbot.rendering.blocks import SlackMessage, SlackPost
from bot.slackbot.rendering.drafts import Chunk, draft_text, running_message, start_chunks, task_chunks, text_chunk
from bot.slackbot.web_api import MESSAGE_GONE, STREAM_OVER, call, name_of
from core.domain.jobs import Job
from core.domain.service import PostRef
from core.errors import FootnoteError, PlatformError

SKEW = timedelta(minutes=1)  # between our clock, which names private questions, and Slack's
APPEND_SECONDS = 1.0  # between two chunks of a stream; Slack accepts 100 a minute, over all threads
UPDATE_SECONDS = 3.0  # between two updates of a message; Slack accepts 50 a minute
_log = logging.getLogger(__name__)
# Seconds for each active draft: Slack accepts 100 chunks a minute, over all threads.
EACH_SHARE = 0.6
STATUS = "is looking it up…"  # Slack puts the app's name before it
RENEW_SECONDS = 90.0  # Slack removes it after two minutes
MOST_TIMES = 5  # renewals, longer than any attempt; another process may have taken over
ARRIVAL_SECONDS = 2.0  # for a call in progress
_SHOW = "show that I am at work"


@dataclass(slots=True)
class PostState:
    """Known messages of a post, and the destination that they are in."""

    ids: dict[int, str] = field(default_factory=dict)  # part number, from 1 -> `ts`
    destination: Destination | None = None
    searched_to: str = ""  # `ts` up to which the history was searched
    searched_in: int = 0  # the entry's attempt in which it was searched
    is_uncertain: bool = False  # an unknown message may exist: Slack didn't confirm it


class Posts:
    """States of posts, by posting key. Raises core errors."""

    def __init__(self) -> None:
        self._parts: dict[str, PostState] = {}

    def begin(self, key: str) -> PostState:
        """Return the state of a post; create it if necessary."""
        return self._parts.setdefault(key, PostState())

    def find(self, key: str) -> PostState | None:
        return self._parts.get(key)

    def forget(self, key: str) -> None:
        self._parts.pop(key, None)

    async def search(self, destination: Destination, key: str, attempt: int) -> None:
        """Search for parts of an earlier attempt, once per attempt (0: always); continue an interrupted search."""
        parts = self.begin(key)
        if parts.searched_in == attempt and attempt and not parts.is_uncertain:
            return
        after = parts.searched_to or _begin_of(key)
        async for seen in destination.find_parts(post_id(key), after):
            parts.ids = {**seen.parts, **parts.ids}
            parts.searched_to = seen.seen_to
        parts.searched_in, parts.is_uncertain = attempt, False

    async def finish(self, destination: Destination, key: str, post: SlackPost) -> PostRef:
        """Show the whole post, and delete surplus parts of a longer draft or an earlier answer."""
        for number, part in enumerate(post.parts, start=1):
            await self._show_part(destination, key, number, part)
        parts = self.begin(key).ids
        self.forget(key)
        for number in [number for number in parts if number > len(post.parts)]:
            await destination.delete(parts.pop(number))
        return f"{destination.id}/{','.join(parts[number] for number in sorted(parts))}" if parts else ""

    async def take_back(self, key: str) -> None:
        """Delete the parts posted so far."""
        parts = self.find(key)
        if parts is not None and parts.destination is not None:
            if parts.is_uncertain:
                await self.search(parts.destination, key, 0)
            for ts in parts.ids.values():
                await parts.destination.delete(ts)
        self.forget(key)

    async def _show_part(self, destination: Destination, key: str, number: int, part: SlackMessage) -> None:
        """Change a known message, or send a new one."""
        parts = self.begin(key)
        parts.destination = destination
        if number in parts.ids and await destination.edit(parts.ids[number], part):
            return
        parts.ids.pop(number, None)
        try:
            ts = await destination.send(part)
        except PlatformError as error:
            parts.is_uncertain |= error.retry_after_seconds is None
            raise
        if ts != NO_MESSAGE:
            parts.ids[number] = ts


def _begin_of(key: str) -> str:
    """Return the `ts` where a search starts: the question's, or 0 for a note, which has no question."""
    try:
        return f"{float(ts_of(key)) - SKEW.total_seconds():.6f}"
    except ValueError:
        return "0"


class _Mode(Enum):
    WAITING = auto()  # no message yet
    STREAM = auto()
    UPDATE = auto()
    OFF = auto()  # no draft before the final post


class Draft:
    """A draft in a message. Raises PlatformError if Slack asks for a pause; other errors change how it is shown."""

    def __init__(self, destination: ChannelDestination, parts: PostState, post_id: str, recipient: str) -> None:
        """`state` may hold the first part of an earlier attempt, which is then updated.

        If an unknown one may exist, the draft stays hidden, to avoid a second message.
        """
        self._destination = destination
        self._parts = parts
        self._post_id = post_id
        self._recipient = recipient
        self._mode = _Mode.UPDATE if 1 in parts.ids else _Mode.OFF if parts.is_uncertain else _Mode.WAITING
        self._text = ""  # sent to the stream
        self._jobs: dict[str, Job] = {}  # as sent to the stream

    @property
    def is_shown(self) -> bool:
        return 1 in self._parts.ids

    async def show(self, text: str, jobs: Sequence[Job]) -> float:
        """Update the message; return the seconds until the next call, 0 if none was made."""
        is_called = False
        if self._mode is _Mode.WAITING:
            is_called = await self._start(text, jobs)
        elif self._mode is _Mode.STREAM:
            is_called = await self._append(text, jobs)
        if self._mode is _Mode.UPDATE:
            await self._update(text, jobs)
            return UPDATE_SECONDS
        return APPEND_SECONDS if is_called else 0.0

    async def close(self) -> None:
        """End the stream, so that the final post may change the message."""
        if self._mode is _Mode.STREAM:
            self._mode = _Mode.OFF
            try:
                await self._destination.stop(self._parts.ids[1])
            except FootnoteError as error:
                _log.info("A stream could not be ended, which the final post does: %s", error)

    async def _start(self, text: str, jobs: Sequence[Job]) -> bool:
        draft = draft_text(text)
        if not draft and not jobs:
            return False
        if not self._destination.thread:  # streams are replies
            self._mode = _Mode.UPDATE
            return False
        try:
            ts = await self._destination.start([*start_chunks(self._post_id), *_chunks(draft, jobs)], self._recipient)
        except PlatformError as error:
            # a second attempt might post twice: the final post searches for the first
            self._parts.is_uncertain |= error.retry_after_seconds is None
            self._off("begun", error)
        except FootnoteError as error:
            _log.info("An answer can't be streamed, so its message is updated: %s", error)
            self._mode = _Mode.UPDATE
        else:
            self._mode = _Mode.STREAM
            self._parts.ids[1], self._parts.destination = ts, self._destination
            self._sent(draft, jobs)
        return True

    async def _append(self, text: str, jobs: Sequence[Job]) -> bool:
        draft = draft_text(text)
        if not draft.startswith(self._text):  # shown text was withdrawn
            await self._leave_stream()
            return True
        changed = [job for job in jobs if self._jobs.get(job.id) != job]
        chunks = _chunks(draft[len(self._text) :], changed)
        if not chunks:
            return False
        try:
            await self._destination.append(self._parts.ids[1], chunks)
        except FootnoteError as error:
            if isinstance(error, PlatformError) and error.retry_after_seconds is not None:
                raise
            _log.info("A stream ended early, so its message is updated: %s", error)
            await self._leave_stream(is_over=name_of(error) in (STREAM_OVER, MESSAGE_GONE))
        else:
            self._sent(draft, jobs)
        return True

    async def _leave_stream(self, *, is_over: bool = False) -> None:
        if not is_over:
            await self.close()
        self._mode = _Mode.UPDATE

    async def _update(self, text: str, jobs: Sequence[Job]) -> None:
        part = running_message(text, jobs, post_id=self._post_id)
        ts = self._parts.ids.get(1)
        try:
            if ts is None:
                self._parts.ids[1] = await self._destination.send(part, retry_seconds=0.0)
                self._parts.destination = self._destination
            elif not await self._destination.edit(ts, part, retry_seconds=0.0):
                self._off("changed", None)
        except PlatformError as error:
            if error.retry_after_seconds is not None:
                raise
            if ts is None:
                self._parts.is_uncertain = True
                self._off("posted", error)
            else:
                _log.info("A draft could not be changed: %s", error)
        except FootnoteError as error:
            self._off("shown", error)

    def _sent(self, draft: str, jobs: Sequence[Job]) -> None:
        self._text = draft
        self._jobs = {job.id: job for job in jobs}

    def _off(self, what: str, error: FootnoteError | None) -> None:
        _log.info("A draft could not be %s, so the answer comes at once when it is done: %s", what, error or "gone")
        self._mode = _Mode.OFF


def _chunks(piece: str, jobs: Sequence[Job]) -> list[Chunk]:
    return [*(task_chunks(jobs) if jobs else ()), *([text_chunk(piece)] if piece else ())]


class StatusLine:
    """The status line of a thread. Failures are logged."""

    def __init__(self, destination: ChannelDestination, pause: Pause) -> None:
        self._destination = destination
        self._pause = pause
        self._is_shown = False
        self._keeping: asyncio.Task[None] | None = None
        self._call: asyncio.Task[None] | None = None

    async def show(self) -> None:
        """Show the line once; Slack removes it after a while."""
        await self._set(STATUS)

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
        """Stop renewing. Slack removes the line with the next message in the thread."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait({self._keeping})
        await self.wait_for_call()

    async def clear(self) -> None:
        """Remove the line if no message will."""
        await self.end()
        if self._is_shown:
            await self._set("")

    def mark_replaced(self) -> None:
        """Note that a message arrived, with which Slack removed the line."""
        self._is_shown = False
        if self._keeping is not None:
            self._keeping.cancel()

    async def _keep(self) -> None:
        for _ in range(MOST_TIMES):
            await self._set(STATUS)
            await self._pause(RENEW_SECONDS)

    async def _set(self, status: str) -> None:
        """Send a status. The call completes even if the caller is cancelled."""
        self._call = asyncio.create_task(self._send(status))
        await asyncio.shield(self._call)

    async def _send(self, status: str) -> None:
        client, channel, thread = self._destination.team.client, self._destination.channel, self._destination.thread
        try:
            await call(
                _SHOW,
                lambda: client.assistant_threads_setStatus(channel_id=channel, thread_ts=thread, status=status),
                retry_seconds=0.0,
            )
        except FootnoteError as error:
            _log.info("No status line: %s", error)
            return
        self._is_shown = bool(status)


class LivePost(ThrottledProgress):
    """A streamed draft, with a status line before it."""

    def __init__(self, draft: Draft, status: StatusLine, pause: Pause, count_active: Callable[[], int]) -> None:
        """A draft of an earlier attempt is rendered at once, else the status line is shown.

        `count_active` counts the drafts that are rendered now.
        """
        super().__init__(pause)
        self._draft = draft
        self.status = status
        self._count_active = count_active
        if draft.is_shown:
            self.mark_changed()
        else:
            status.keep()

    async def render(self, text: str, jobs: Sequence[Job]) -> float:
        """Show the draft. A failure must not lose the answer."""
        was_shown = self._draft.is_shown
        if not was_shown:
            await self.status.wait_for_call()
        try:
            rest_seconds = await self._draft.show(text, jobs)
            rest_seconds *= max(1.0, EACH_SHARE * self._count_active())
        except PlatformError as error:
            _log.info("A draft has to wait: %s", error)
            self.mark_changed()
            return max(error.retry_after_seconds or 0.0, APPEND_SECONDS)
        if self._draft.is_shown and not was_shown:
            self.status.mark_replaced()
        return rest_seconds

    async def close(self) -> None:
        await super().close()
        await asyncio.gather(self._draft.close(), self.status.end())
        if (
            self._draft.is_shown and self.status.is_shown
        ):  # the final post edits a message, which doesn't remove the line
            await self.status.clear()
