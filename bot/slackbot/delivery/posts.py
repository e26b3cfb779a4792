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
APPEND_SECONDS = 1.0  # between two pieces of a stream; Slack takes 100 a minute, of all threads together
UPDATE_SECONDS = 3.0  # between two changes of a message; Slack takes 50 a minute
_log = logging.getLogger(__name__)
# Of a second: Slack takes 100 pieces of streams a minute, of all threads together. Many drafts rest the longer.
EACH_SHARE = 0.6
STATUS = "is looking it up…"  # Slack puts the app's name before it
RENEW_SECONDS = 90.0  # Slack takes it away after two minutes
MOST_TIMES = 5  # no try at an answer takes longer; one that another process took over is not ours to tell of
ARRIVAL_SECONDS = 2.0  # that words and answers wait for a line under way
_SHOW = "show that I am at work"


@dataclass(slots=True)
class PostState:
    """What this process knows of a post's messages. `place` is where they are, once it has one."""

    ids: dict[int, str] = field(default_factory=dict)  # number of a part, from 1 -> `ts`
    place: Destination | None = None
    looked_to: str = ""  # up to which message the place was looked through
    looked_in: int = 0  # in which of the entry's attempts that was
    is_uncertain: bool = False  # there may be one more: Slack did not say whether it took it


class Posts:
    """By posting key. Raises core errors."""

    def __init__(self) -> None:
        self._parts: dict[str, PostState] = {}

    def begin(self, key: str) -> PostState:
        """What is known of a post, from now on at least nothing."""
        return self._parts.setdefault(key, PostState())

    def find(self, key: str) -> PostState | None:
        return self._parts.get(key)

    def forget(self, key: str) -> None:
        self._parts.pop(key, None)

    async def look(self, place: Destination, key: str, attempt: int) -> None:
        """HistoryPage for parts that an earlier try posted, once in an attempt; goes on where a pause interrupted it.

        `attempt` 0 is none in particular.
        """
        parts = self.begin(key)
        if parts.looked_in == attempt and attempt and not parts.is_uncertain:
            return
        after = parts.looked_to or _begin_of(key)
        async for seen in place.look(post_id(key), after):
            parts.ids = {**seen.parts, **parts.ids}
            parts.looked_to = seen.seen_to
        parts.looked_in, parts.is_uncertain = attempt, False

    async def finish(self, place: Destination, key: str, post: SlackPost) -> PostRef:
        """The whole post; what a longer draft, or an earlier answer, had more of is deleted."""
        for number, part in enumerate(post.parts, start=1):
            await self._show_part(place, key, number, part)
        parts = self.begin(key).ids
        self.forget(key)
        for number in [number for number in parts if number > len(post.parts)]:
            await place.delete(parts.pop(number))
        return f"{place.id}/{','.join(parts[number] for number in sorted(parts))}" if parts else ""

    async def take_back(self, key: str) -> None:
        """Delete what was posted so far."""
        parts = self.find(key)
        if parts is not None and parts.place is not None:
            if parts.is_uncertain:
                await self.look(parts.place, key, 0)
            for ts in parts.ids.values():
                await parts.place.delete(ts)
        self.forget(key)

    async def _show_part(self, place: Destination, key: str, number: int, part: SlackMessage) -> None:
        """One message of a post: changed where it is known, else sent."""
        parts = self.begin(key)
        parts.place = place
        if number in parts.ids and await place.edit(parts.ids[number], part):
            return
        parts.ids.pop(number, None)
        try:
            ts = await place.send(part)
        except PlatformError as error:
            parts.is_uncertain |= error.retry_after_seconds is None
            raise
        if ts != NO_MESSAGE:
            parts.ids[number] = ts


def _begin_of(key: str) -> str:
    """Where to begin to look for a post: at its question; for a note, which has none, at the thread's beginning."""
    try:
        return f"{float(ts_of(key)) - SKEW.total_seconds():.6f}"
    except ValueError:
        return "0"


class _Mode(Enum):
    WAITING = auto()  # there is no message yet
    STREAM = auto()
    UPDATE = auto()
    OFF = auto()  # nothing more is shown before the final post


class Draft:
    """Raises PlatformError where Slack asks for a pause; whatever else goes wrong changes how the draft is shown."""

    def __init__(self, place: ChannelDestination, parts: PostState, post_id: str, recipient: str) -> None:
        """`parts` may know the first part from an earlier try; it is then changed as a whole.

        Where there may be one that is not known, nothing is shown, as that could be a second one.
        """
        self._place = place
        self._parts = parts
        self._post_id = post_id
        self._recipient = recipient
        self._mode = _Mode.UPDATE if 1 in parts.ids else _Mode.OFF if parts.is_uncertain else _Mode.WAITING
        self._text = ""  # that the stream was sent
        self._jobs: dict[str, Job] = {}  # as the stream was sent them

    @property
    def is_shown(self) -> bool:
        return 1 in self._parts.ids

    async def show(self, text: str, jobs: Sequence[Job]) -> float:
        """Bring the message up to date. Gives the seconds until the next call may come: 0 where none was made."""
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
                await self._place.stop(self._parts.ids[1])
            except FootnoteError as error:
                _log.info("A stream could not be ended, which the final post does: %s", error)

    async def _start(self, text: str, jobs: Sequence[Job]) -> bool:
        draft = draft_text(text)
        if not draft and not jobs:
            return False
        if not self._place.thread:  # streams are replies
            self._mode = _Mode.UPDATE
            return False
        try:
            ts = await self._place.start([*start_chunks(self._post_id), *_chunks(draft, jobs)], self._recipient)
        except PlatformError as error:
            # A second try might be a second message: the final post looks for the first.
            self._parts.is_uncertain |= error.retry_after_seconds is None
            self._off("begun", error)
        except FootnoteError as error:
            _log.info("An answer can't be streamed, so its message is changed: %s", error)
            self._mode = _Mode.UPDATE
        else:
            self._mode = _Mode.STREAM
            self._parts.ids[1], self._parts.place = ts, self._place
            self._sent(draft, jobs)
        return True

    async def _append(self, text: str, jobs: Sequence[Job]) -> bool:
        draft = draft_text(text)
        if not draft.startswith(self._text):  # what was shown is taken back
            await self._leave_stream()
            return True
        changed = [job for job in jobs if self._jobs.get(job.id) != job]
        chunks = _chunks(draft[len(self._text) :], changed)
        if not chunks:
            return False
        try:
            await self._place.append(self._parts.ids[1], chunks)
        except FootnoteError as error:
            if isinstance(error, PlatformError) and error.retry_after_seconds is not None:
                raise
            _log.info("A stream does not go on, so its message is changed: %s", error)
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
                self._parts.ids[1] = await self._place.send(part, patience_seconds=0.0)
                self._parts.place = self._place
            elif not await self._place.edit(ts, part, patience_seconds=0.0):
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
    """Of one thread. A courtesy: what goes wrong with it is logged, and the answer comes all the same."""

    def __init__(self, place: ChannelDestination, pause: Pause) -> None:
        self._place = place
        self._pause = pause
        self._is_shown = False
        self._keeping: asyncio.Task[None] | None = None
        self._call: asyncio.Task[None] | None = None

    async def show(self) -> None:
        """Once: it fades by itself."""
        await self._set(STATUS)

    def keep(self) -> None:
        """Show it, and again before it fades, until `end`."""
        if self._keeping is None:
            self._keeping = asyncio.create_task(self._keep())

    @property
    def is_shown(self) -> bool:
        return self._is_shown

    async def arrived(self) -> None:
        """When no call is under way: a line that comes after our message would stay. One that hangs is left alone."""
        if self._call is None or self._call.done():
            return
        patience = asyncio.ensure_future(self._pause(ARRIVAL_SECONDS))
        try:
            await asyncio.wait({self._call, patience}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            patience.cancel()

    async def end(self) -> None:
        """No renewal comes after this. The line itself goes with our next message in the thread."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait({self._keeping})
        await self.arrived()

    async def clear(self) -> None:
        """Take it away where no message of ours will."""
        await self.end()
        if self._is_shown:
            await self._set("")

    def replaced(self) -> None:
        """A message of ours came, and Slack took the line away."""
        self._is_shown = False
        if self._keeping is not None:
            self._keeping.cancel()

    async def _keep(self) -> None:
        for _ in range(MOST_TIMES):
            await self._set(STATUS)
            await self._pause(RENEW_SECONDS)

    async def _set(self, status: str) -> None:
        """What Slack has been sent can't be taken back: it arrives, also when nobody waits for it any more."""
        self._call = asyncio.create_task(self._tell(status))
        await asyncio.shield(self._call)

    async def _tell(self, status: str) -> None:
        client, channel, thread = self._place.team.client, self._place.channel, self._place.thread
        try:
            await call(
                _SHOW,
                lambda: client.assistant_threads_setStatus(channel_id=channel, thread_ts=thread, status=status),
                patience_seconds=0.0,
            )
        except FootnoteError as error:
            _log.info("No status line: %s", error)
            return
        self._is_shown = bool(status)


class LivePost(ThrottledProgress):
    """By a stream, with a status line before it."""

    def __init__(self, draft: Draft, status: StatusLine, pause: Pause, crowd: Callable[[], int]) -> None:
        """A draft of an earlier try shows at once that the answer is being written anew; else the status line does.

        `crowd` counts the answers that are being drawn now.
        """
        super().__init__(pause)
        self._draft = draft
        self._status = status
        self._crowd = crowd
        if draft.is_shown:
            self.mark_changed()
        else:
            status.keep()

    async def render(self, text: str, jobs: Sequence[Job]) -> float:
        """A draft that can't be shown is no reason to lose the answer."""
        was_shown = self._draft.is_shown
        if not was_shown:
            await self._status.arrived()
        try:
            rest_seconds = await self._draft.show(text, jobs)
            rest_seconds *= max(1.0, EACH_SHARE * self._crowd())
        except PlatformError as error:
            _log.info("A draft has to wait: %s", error)
            self.mark_changed()
            return max(error.retry_after_seconds or 0.0, APPEND_SECONDS)
        if self._draft.is_shown and not was_shown:
            self._status.replaced()
        return rest_seconds

    async def close(self) -> None:
        await super().close()
        await asyncio.gather(self._draft.close(), self._status.end())
        if self._draft.is_shown and self._status.is_shown:  # the final post changes a message, and takes no line away
            await self._status.clear()

    async def clear(self) -> None:
        """After `close`, where no post will come: the status line goes, too."""
        await self._status.clear()
