"""Conversations as lists show them: each with the link to its thread, in the team that it is in."""

import logging

from bot.slackbot.interactions import Desk
from bot.slackbot.render_lists import ThreadRow as ListedThread
from bot.slackbot.teams import Team
from bot.slackbot.translate import PLATFORM, TEAM, is_private
from core.commands import ThreadRow
from core.domain.conversation import ThreadAddress
from core.errors import NotFound

_log = logging.getLogger(__name__)


async def listed(desk: Desk, team: Team, row: ThreadRow) -> ListedThread:
    """A conversation of core's list; `team` is where the list is shown."""
    is_reachable = row.address.platform == PLATFORM and not is_private(row.address)
    return ListedThread(
        title=row.title or "(no title)",
        detail=f"last used {row.last_used_at:%Y-%m-%d %H:%M} UTC",
        url=await link_to(desk, team, row.address) if is_reachable else None,
    )


async def link_to(desk: Desk, team: Team, address: ThreadAddress) -> str | None:
    """The address of a thread in Slack's own clients; None where it has none."""
    there = await _team_of(desk, team, address)
    return there.permalink(address.channel, address.thread, address.thread) or None


async def _team_of(desk: Desk, team: Team, address: ThreadAddress) -> Team:
    """Several teams may share a workspace: the one that a thread's questions came from."""
    sharing = [item for item in desk.parts.teams.all() if item.workspace == address.workspace]
    if len(sharing) < 2:
        return team
    entries = await desk.parts.entries.recent(address.workspace, address=address, limit=1)
    found = entries[0].incoming.metadata.get(TEAM) if entries else None
    try:
        return await desk.parts.teams.get(found) if found else team
    except NotFound as error:
        _log.info("A thread of %s is linked as one of %s: %s", found, team.id, error)
        return team
