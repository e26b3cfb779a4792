"""Channels that other companies share (Slack Connect): what is answered there, people of elsewhere read.

What a channel may see is what every reader of it may see. Nothing is known of readers from elsewhere, so nothing is
told there until an admin has chosen what may be.
"""

import logging
from collections import OrderedDict

from bot.slackbot.calls import call
from bot.slackbot.teams import Team
from core.domain.conversation import ChannelAddress, IncomingMessage
from core.domain.service import Decision
from core.errors import FootnoteError
from core.ports import Clock
from core.ports.service import SettingsRepository
from core.service.inbox import Gate, platform_gates

EXTERNAL = "external"  # key of metadata: set where people of other companies read
KEPT_SECONDS = 600.0
MOST_KEPT = 5_000
READS_ALONG = Decision(
    code="other_companies",
    sentence=(
        "People of another company read this channel: an admin of ours has to choose what may be read here first, with "
        "/settings sources."
    ),
    accepted=False,
)
_LOOK = "look the channel up"
_SETTINGS = "/settings"
_log = logging.getLogger(__name__)


class Channels:
    """Which channels are shared with other companies; kept for ten minutes, at most 5,000 of them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], tuple[bool, float]] = OrderedDict()

    def note(self, team: Team, channel: str, *, is_external: bool) -> None:
        """An event says it."""
        key = team.id, channel
        self._kept[key] = is_external, self._clock.monotonic() + KEPT_SECONDS
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    async def is_external(self, team: Team, channel: str) -> bool:
        """Asked of Slack where no event has said it lately. True where that can't be found out."""
        if not channel or channel.startswith("D"):  # the home tab, or one person alone
            return False
        known = self._kept.get((team.id, channel))
        if known is not None and known[1] > self._clock.monotonic():
            return known[0]
        try:
            found = (await call(_LOOK, lambda: team.client.conversations_info(channel=channel)))["channel"]
        except FootnoteError as error:
            _log.warning("Whether other companies read %s is not known: %s", channel, error)
            return True
        is_external = any(found.get(name) for name in ("is_ext_shared", "is_pending_ext_shared"))
        self.note(team, channel, is_external=is_external)
        return is_external


def slack_gates(settings: SettingsRepository, clock: Clock) -> tuple[Gate, ...]:
    """Those of every platform, and behind the first (is it for us?) that for channels of several companies."""

    async def check(incoming: IncomingMessage) -> Decision | None:
        if EXTERNAL not in incoming.metadata or incoming.private or incoming.text.startswith(_SETTINGS):
            return None
        return READS_ALONG if await is_closed(settings, ChannelAddress.of(incoming.address)) else None

    for_us, *others = platform_gates(settings, clock)
    return (for_us, Gate(name="other companies", check=check, for_commands=True), *others)


async def is_closed(settings: SettingsRepository, channel: ChannelAddress) -> bool:
    """Whether nobody has chosen yet what may be read in a channel."""
    return (await settings.channel(channel)).sources is None
