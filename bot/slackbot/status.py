"""The line below a thread that says that the app is at work, until there is something to read."""

import asyncio
import logging

from bot.presentation.platform_parts import Pause
from bot.slackbot.calls import call
from bot.slackbot.destinations import ChannelPlace
from core.errors import FootnoteError

STATUS = "is looking it up…"  # Slack puts the app's name before it
RENEW_SECONDS = 90.0  # Slack takes it away after two minutes
MOST_TIMES = 5  # no try at an answer takes longer; one that another process took over is not ours to tell of
ARRIVAL_SECONDS = 2.0  # that words and answers wait for a line under way
_SHOW = "show that I am at work"

_log = logging.getLogger(__name__)


class StatusLine:
    """Of one thread. A courtesy: what goes wrong with it is logged, and the answer comes all the same."""

    def __init__(self, place: ChannelPlace, pause: Pause) -> None:
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
