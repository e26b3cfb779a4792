"""Progress of an answer for platforms that limit how often a post may change."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from bot.presentation.platform_parts import Pause
from core.domain.jobs import Job

CLOSE_SECONDS = 1.0  # for renderings under way when the service stops; the whole stop has less than five


class ThrottledProgress(ABC):
    """A ProgressSink that renders the draft at most as often as `render` allows.

    The first words don't wait for the end of a pause. Call `close` before the final post.
    """

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
        """Show the draft and the steps so far; return the seconds to pause. Must not raise for a failed rendering."""

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
        """Schedule a rendering, now or after the pause."""
        self._is_new = True
        if not self._is_closed and not self.is_rendering:
            self._rendering = asyncio.create_task(self._keep_rendering())

    async def close(self) -> None:
        """Stop rendering, and wait for a call under way: it would arrive after the final post."""
        self._is_closed = True
        if self._rendering is not None:
            self._rendering.cancel()
            await asyncio.wait({self._rendering})

    async def _keep_rendering(self) -> None:
        while self._is_new:
            self._is_new = False
            self._is_urgent.clear()
            rendering = asyncio.ensure_future(self.render(self._text, tuple(self._jobs.values())))
            try:
                pause_seconds = await asyncio.shield(rendering)
            except asyncio.CancelledError:
                await rendering  # a request that was sent can't be taken back: let it arrive
                raise
            if pause_seconds:
                await self._wait(pause_seconds)

    async def _wait(self, seconds: float) -> None:
        pause = asyncio.ensure_future(self._pause(seconds))
        urgent = asyncio.ensure_future(self._is_urgent.wait())
        try:
            await asyncio.wait({pause, urgent}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            pause.cancel()
            urgent.cancel()


async def close_all(progresses: Iterable[ThrottledProgress]) -> None:
    """Close progresses of unfinished answers, which continue at the next start; don't wait for one that hangs."""
    closing = {asyncio.create_task(progress.close()) for progress in progresses}
    if closing:
        _, hanging = await asyncio.wait(closing, timeout=CLOSE_SECONDS)
        for task in hanging:
            task.cancel()
