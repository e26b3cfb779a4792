"""Installed teams: their tokens, their workspaces, and the changes that other processes make."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from bot.presentation.platform_parts import PlatformParts
from bot.slackbot.events.command_text import COMMAND
from core.errors import NotFound

_log = logging.getLogger(__name__)
# (enterprise's id, team's id) -> whose token acts there.
Authorize: TypeAlias = Callable[[str | None, str | None], Awaitable[AuthorizeResult | None]]
Forget: TypeAlias = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """One Slack workspace with the app in it. `client` acts with the bot's token there."""

    id: str
    name: str
    workspace: str  # ours
    bot_user_id: str
    bot_id: str
    client: AsyncWebClient
    token: str = field(repr=False)
    url: str = ""  # "https://acme.slack.com/", as auth.test tells

    def permalink(self, channel: str, ts: str = "", thread: str = "") -> str:
        """The address of a message or a channel, as Slack's own clients copy it; "" where the team's is not known."""
        if not self.url:
            return ""
        place = f"{self.url.rstrip('/')}/archives/{channel}"
        if not ts:
            return place
        behind = f"?thread_ts={thread}&cid={channel}" if thread and thread != ts else ""
        return f"{place}/p{ts.replace('.', '')}{behind}"


# Team id -> the team, where it has been installed since the start.
Refresh: TypeAlias = Callable[[str], Awaitable[Team | None]]


class Teams:
    """The installed teams of this process. `refresh` looks for a team that another process has installed meanwhile."""

    def __init__(
        self, teams: Iterable[Team] = (), refresh: Refresh | None = None, forget: Forget | None = None
    ) -> None:
        """`forget` is told the team that the app was removed from."""
        self._teams = {team.id: team for team in teams}
        self._refresh = refresh
        self._forget = forget

    def all(self) -> list[Team]:
        return list(self._teams.values())

    def workspaces(self) -> list[str]:
        """Of all teams, each once."""
        return [*dict.fromkeys(team.workspace for team in self._teams.values())]

    def add(self, team: Team) -> None:
        """Insert, or replace by id."""
        self._teams[team.id] = team

    async def remove(self, team_id: str) -> None:
        """The app is gone from it; an unknown team is ignored."""
        if self._forget is not None:
            await self._forget(team_id)
        if self._teams.pop(team_id, None) is not None:
            _log.warning("Slack team %s is gone: the app was removed, or its token revoked", team_id)

    def drop(self, team_id: str) -> None:
        """Another process has seen that the app is gone from it; an unknown team is ignored."""
        self._teams.pop(team_id, None)

    async def get(self, team_id: str) -> Team:
        """NotFound for a team without the app."""
        team = self._teams.get(team_id)
        if team is None and self._refresh is not None and (team := await self._refresh(team_id)) is not None:
            self.add(team)
        if team is None:
            raise NotFound(f"The app is not installed in the Slack workspace {team_id}: install it there again.")
        return team

    async def of_workspace(self, workspace: str, team_id: str | None = None) -> Team:
        """The team of a workspace of ours; where several share it, the one named. NotFound as `get`."""
        if team_id:
            return await self.get(team_id)
        found = next((team for team in self._teams.values() if team.workspace == workspace), None)
        if found is None:
            raise NotFound(f"No Slack workspace with the app in it belongs to {workspace!r}: install it again.")
        return found

    @property
    def authorize(self) -> Authorize:
        """For slack_bolt, which takes a plain function; without a request to Slack. None: nobody installed it there."""

        async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult | None:
            try:
                team = await self.get(team_id or "")
            except NotFound as error:
                _log.warning("An event is left alone: %s", error)
                return None
            return AuthorizeResult(
                enterprise_id=enterprise_id,
                team_id=team.id,
                bot_token=team.token,
                bot_user_id=team.bot_user_id,
                bot_id=team.bot_id,
            )

        return authorize


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackParts(PlatformParts):
    """`command` is the slash command's name in the manifest."""

    teams: Teams
    command: str = COMMAND
