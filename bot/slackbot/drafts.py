"""The message that shows an answer while it is written: streamed, and where that ends or fails, changed as a whole."""

import logging
from collections.abc import Sequence
from enum import Enum, auto

from bot.slackbot.destinations import ChannelPlace
from bot.slackbot.errors import MESSAGE_GONE, STREAM_OVER, name_of
from bot.slackbot.posts import Parts
from bot.slackbot.render_running import (
    Chunk,
    draft_text,
    running_message,
    start_chunks,
    task_chunks,
    text_chunk,
)
from core.domain.jobs import Job
from core.errors import FootnoteError, PlatformError

APPEND_SECONDS = 1.0  # between two pieces of a stream; Slack takes 100 a minute, of all threads together
UPDATE_SECONDS = 3.0  # between two changes of a message; Slack takes 50 a minute

_log = logging.getLogger(__name__)


class _Mode(Enum):
    WAITING = auto()  # there is no message yet
    STREAM = auto()
    UPDATE = auto()
    OFF = auto()  # nothing more is shown before the final post


class Draft:
    """Raises PlatformError where Slack asks for a pause; whatever else goes wrong changes how the draft is shown."""

    def __init__(self, place: ChannelPlace, parts: Parts, post_id: str, recipient: str) -> None:
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
