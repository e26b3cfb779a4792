"""Conversations as lists show them: each with the link to its thread. Pure.

Whoever lists conversations is listed their own and their channel's: all of them are in the team where they do so.
"""

from bot.slackbot.render_lists import ThreadItem
from bot.slackbot.teams import Team
from bot.slackbot.translate import PLATFORM, is_private
from core.domain.conversation import ThreadAddress
from core.service.commands import ThreadRow


def listed(row: ThreadRow, team: Team) -> ThreadItem:
    """A conversation of core's list."""
    return ThreadItem(
        title=row.title or "(no title)",
        detail=f"last used {row.last_used_at:%Y-%m-%d %H:%M} UTC",
        url=link_to(row.address, team),
    )


def link_to(address: ThreadAddress, team: Team) -> str | None:
    """The address of a thread in Slack's own clients; None where it has none: elsewhere, or for one person alone."""
    if address.platform != PLATFORM or is_private(address):
        return None
    return team.permalink(address.channel, address.thread, address.thread) or None
