"""Ports of auto-answers in channels: decisions, ratings, and private reports."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from core.domain.incoming import ChannelAddress, IncomingMessage
from core.domain.service import PostRef, Ratings, Trial


class AutoAnswerRepository(Protocol):
    async def ratings(self, channel: ChannelAddress, limit: int) -> Ratings:
        """Return the ratings of the newest auto-answers in a channel, at most `limit`."""

    async def decided(self, channel: ChannelAddress, since: datetime, codes: Collection[str]) -> Trial:
        """Return the decisions with these codes about messages in the channel itself, outside threads, from `since`.

        Of an edited message the last one counts.
        """

    async def list_due(self, before: datetime) -> list[tuple[ChannelAddress, datetime]]:
        """Return channels in shadow mode with an admin, and the time up to which that one has reports.

        Without those whose last report, or the beginning of their shadow mode, isn't before.
        """

    async def claim_report(self, channel: ChannelAddress, was: datetime, now: datetime) -> bool:
        """Move the time up to which there are reports; False if another process was faster."""


class PrivateReports(Protocol):
    """Sends private messages to people of a platform without being asked."""

    async def report(self, person: str, text: str, messages: Sequence[IncomingMessage]) -> PostRef:
        """Send a text in which `[n]` links to the n-th of these messages, all of one channel; at least one.

        Raises PlatformError and AccessDenied.
        """
