"""A post while its answer is written: a status line at once, then what is new, no faster than Slack likes."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from bot.presentation.platform_parts import Pause
from bot.presentation.throttled_progress import ThrottledProgress
from bot.slackbot.drafts import APPEND_SECONDS, Draft
from bot.slackbot.status import StatusLine
from core.domain.jobs import Job
from core.errors import PlatformError

# Of a second: Slack takes 100 pieces of streams a minute, of all threads together. Many drafts rest the longer.
EACH_SHARE = 0.6

_log = logging.getLogger(__name__)


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
