"""A post while its answer is written: what is new is drawn at once, then no faster than Discord likes."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from bot.platform_parts import Pause
from core.domain.jobs import Job
from core.errors import FootnoteError

# Between two edits of one message. Discord lets five through in five seconds, for all of a channel's posts together.
EDIT_SECONDS = 1.2

Draw = Callable[[str, Sequence[Job]], Awaitable[object]]
_log = logging.getLogger(__name__)


class LivePost:
    """ProgressSink that draws. The first words are drawn at once; `close` before the final post."""

    def __init__(self, draw: Draw, pause: Pause) -> None:
        self._draw = draw
        self._pause = pause
        self._text = ""
        self._jobs: dict[str, Job] = {}
        self._is_new = False
        self._is_closed = False
        self._is_urgent = asyncio.Event()  # the first words: people wait for them
        self._drawing: asyncio.Task[None] | None = None

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
        """Nothing is drawn any more when this returns; an edit under way is waited for, or it would come last."""
        self._is_closed = True
        if self._drawing is not None:
            self._drawing.cancel()
            await asyncio.wait({self._drawing})

    def _changed(self) -> None:
        self._is_new = True
        if not self._is_closed and (self._drawing is None or self._drawing.done()):
            self._drawing = asyncio.create_task(self._keep_drawing())

    async def _keep_drawing(self) -> None:
        while self._is_new:
            self._is_new = False
            self._is_urgent.clear()
            edit = asyncio.ensure_future(self._edit())
            try:
                await asyncio.shield(edit)
            except asyncio.CancelledError:
                await edit  # what Discord has been sent can't be taken back: let it arrive
                raise
            await self._rest()

    async def _rest(self) -> None:
        """Until the next edit may come; the first words don't wait."""
        rest = asyncio.ensure_future(self._pause(EDIT_SECONDS))
        urgent = asyncio.ensure_future(self._is_urgent.wait())
        try:
            await asyncio.wait({rest, urgent}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            rest.cancel()
            urgent.cancel()

    async def _edit(self) -> None:
        """A draft that can't be shown is no reason to lose the answer: the final post tries again, and says so."""
        try:
            await self._draw(self._text, tuple(self._jobs.values()))
        except FootnoteError as error:
            _log.info("A draft could not be shown: %s", error)
