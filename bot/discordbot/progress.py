"""A post while its answer is written: what is new is drawn at once, then no faster than Discord likes."""

import logging
from collections.abc import Awaitable, Callable, Sequence

from bot.presentation.platform_parts import Pause
from bot.presentation.throttled_progress import ThrottledProgress
from core.domain.jobs import Job
from core.errors import FootnoteError

# Between two edits of one message. Discord lets five through in five seconds, for all of a channel's posts together.
EDIT_SECONDS = 1.2

Draw = Callable[[str, Sequence[Job]], Awaitable[object]]
_log = logging.getLogger(__name__)


class LivePost(ThrottledProgress):
    """By edits of one message."""

    def __init__(self, draw: Draw, pause: Pause) -> None:
        super().__init__(pause)
        self._edit = draw

    async def render(self, text: str, jobs: Sequence[Job]) -> float:
        """A draft that can't be shown is no reason to lose the answer: the final post tries again, and says so."""
        try:
            await self._edit(text, jobs)
        except FootnoteError as error:
            _log.info("A draft could not be shown: %s", error)
        return EDIT_SECONDS
