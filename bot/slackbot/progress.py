"""A post while its answer is written: a status line at once, then what is new, no faster than Slack likes."""

import asyncio
import logging
from collections.abc import Callable

from bot.platform_parts import Pause
from bot.slackbot.drafts import APPEND_SECONDS, Draft
from bot.slackbot.status import StatusLine
from core.domain.jobs import Job
from core.errors import PlatformError

# Of a second: Slack takes 100 pieces of streams a minute, of all threads together. Many drafts rest the longer.
EACH_SHARE = 0.6

_log = logging.getLogger(__name__)


class LivePost:
    """ProgressSink that draws. The first words and the first step are drawn at once; `close` before the final post."""

    def __init__(self, draft: Draft, status: StatusLine, pause: Pause, crowd: Callable[[], int]) -> None:
        """A draft of an earlier try shows at once that the answer is being written anew; else the status line does.

        `crowd` counts the answers that are being drawn now.
        """
        self._draft = draft
        self._status = status
        self._pause = pause
        self._crowd = crowd
        self._text = ""
        self._jobs: dict[str, Job] = {}
        self._is_new = False
        self._is_closed = False
        self._is_urgent = asyncio.Event()  # the first words: people wait for them
        self._drawing: asyncio.Task[None] | None = None
        if draft.is_shown:
            self._changed()
        else:
            status.keep()

    def text(self, piece: str) -> None:
        if not self._text:
            self._is_urgent.set()
        self._text += piece
        self._changed()

    def reset(self) -> None:
        self._text = ""
        self._changed()

    def step(self, job: Job) -> None:
        self._jobs[job.id] = job
        self._changed()

    async def close(self) -> None:
        """Nothing is drawn any more when this returns; a call under way is waited for, or it would come last."""
        self._is_closed = True
        if self._drawing is not None:
            self._drawing.cancel()
            await asyncio.wait({self._drawing})
        await asyncio.gather(self._draft.close(), self._status.end())
        if self._draft.is_shown and self._status.is_shown:  # the final post changes a message, and takes no line away
            await self._status.clear()

    async def clear(self) -> None:
        """After `close`, where no post will come: the status line goes, too."""
        await self._status.clear()

    @property
    def is_drawing(self) -> bool:
        return self._drawing is not None and not self._drawing.done()

    def _changed(self) -> None:
        self._is_new = True
        if not self._is_closed and not self.is_drawing:
            self._drawing = asyncio.create_task(self._keep_drawing())

    async def _keep_drawing(self) -> None:
        while self._is_new:
            self._is_new = False
            self._is_urgent.clear()
            drawing = asyncio.ensure_future(self._draw())
            try:
                rest_seconds = await asyncio.shield(drawing)
            except asyncio.CancelledError:
                await drawing  # what Slack has been sent can't be taken back: let it arrive
                raise
            if rest_seconds:
                await self._rest(rest_seconds)

    async def _draw(self) -> float:
        """Gives how long to rest. A draft that can't be shown is no reason to lose the answer."""
        was_shown = self._draft.is_shown
        if not was_shown:
            await self._status.arrived()
        try:
            rest_seconds = await self._draft.show(self._text, tuple(self._jobs.values()))
            rest_seconds *= max(1.0, EACH_SHARE * self._crowd())
        except PlatformError as error:
            _log.info("A draft has to wait: %s", error)
            self._is_new = True
            return max(error.retry_after_seconds or 0.0, APPEND_SECONDS)
        if self._draft.is_shown and not was_shown:
            self._status.replaced()
        return rest_seconds

    async def _rest(self, seconds: float) -> None:
        """Until the next call may come; the first words don't wait."""
        rest = asyncio.ensure_future(self._pause(seconds))
        urgent = asyncio.ensure_future(self._is_urgent.wait())
        try:
            await asyncio.wait({rest, urgent}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            rest.cancel()
            urgent.cancel()
