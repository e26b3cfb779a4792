"""A post while its answer is written, where a platform limits how often it may change: what is new is drawn, then rest.

An adapter says by `draw` how it is shown, and how long to rest after that.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence

from bot.presentation.platform_parts import Pause
from core.domain.jobs import Job


class ThrottledProgress(ABC):
    """ProgressSink that draws. The first words don't wait for the end of a rest; `close` before the final post."""

    def __init__(self, pause: Pause) -> None:
        self._pause = pause
        self._text = ""
        self._jobs: dict[str, Job] = {}
        self._is_new = False
        self._is_closed = False
        self._is_urgent = asyncio.Event()  # the first words: people wait for them
        self._rendering: asyncio.Task[None] | None = None

    @abstractmethod
    async def render(self, text: str, jobs: Sequence[Job]) -> float:
        """Show the draft and the steps so far; gives the seconds to rest. Raises nothing that an answer may fail of."""

    @property
    def is_rendering(self) -> bool:
        return self._rendering is not None and not self._rendering.done()

    def text(self, piece: str) -> None:
        if not self._text:
            self._is_urgent.set()
        self._text += piece
        self.mark_changed()

    def reset(self) -> None:
        self._text = ""
        self.mark_changed()

    def step(self, job: Job) -> None:
        self._jobs[job.id] = job
        self.mark_changed()

    def mark_changed(self) -> None:
        """There is something to draw, now or after the rest."""
        self._is_new = True
        if not self._is_closed and not self.is_rendering:
            self._rendering = asyncio.create_task(self._keep_rendering())

    async def close(self) -> None:
        """Nothing is drawn any more when this returns; a call under way is waited for, or it would come last."""
        self._is_closed = True
        if self._rendering is not None:
            self._rendering.cancel()
            await asyncio.wait({self._rendering})

    async def _keep_rendering(self) -> None:
        while self._is_new:
            self._is_new = False
            self._is_urgent.clear()
            drawing = asyncio.ensure_future(self.render(self._text, tuple(self._jobs.values())))
            try:
                rest_seconds = await asyncio.shield(drawing)
            except asyncio.CancelledError:
                await drawing  # what the platform has been sent can't be taken back: let it arrive
                raise
            if rest_seconds:
                await self._rest(rest_seconds)

    async def _rest(self, seconds: float) -> None:
        rest = asyncio.ensure_future(self._pause(seconds))
        urgent = asyncio.ensure_future(self._is_urgent.wait())
        try:
            await asyncio.wait({rest, urgent}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            rest.cancel()
            urgent.cancel()
