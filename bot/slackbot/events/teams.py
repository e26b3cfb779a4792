"""Installed teams: their tokens, their workspaces, and the changes that other processes make."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.config.slack import APP_PAGE
from bot.slackbot.web_api import UNREACHABLE, build_client, translated_errors
from core.access.bindings import Bindings, own_workspace
from core.domain.service import Installation
from core.errors import ConfigError, FootnoteError, NotFound, PlatformError
from core.ports.service import InstallationRepository

PLATFORM = "slack"
TEAMS_AT_ONCE = 200  # of Slack's 1,000
RENEW_SECONDS = 30.0  # between two looks at the installations that other processes store
# Slack's errors for a token that doesn't work any longer.
REFUSED = frozenset(
    {"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive", "not_allowed_token_type"}
)
BAD_TOKEN = (
    f"Slack refuses the bot's token. Install the app again at {APP_PAGE} (your app, Install App) and put the new "
    "token into SLACK_BOT_TOKEN, or the file of [slack] token_file."
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A Slack workspace with the app in it. `client` acts with the bot's token there."""

    id: str
    name: str
    workspace: str  # Footnote's workspace
    bot_user_id: str
    bot_id: str
    client: AsyncWebClient
    token: str = field(repr=False)
    url: str = ""  # "https://acme.slack.com/"
    bot_name: str = ""  # the name that people mention; "" of a team that installed the app itself

    def permalink(self, channel: str, ts: str = "", thread: str = "") -> str:
        """Return the address of a message or a channel, as Slack's clients copy it; "" without a team url."""
        if not self.url:
            return ""
        address = f"{self.url.rstrip('/')}/archives/{channel}"
        if not ts:
            return address
        query = f"?thread_ts={thread}&cid={channel}" if thread and thread != ts else ""
        return f"{address}/p{ts.replace('.', '')}{query}"


class Teams:
    """Registry of the installed teams, with configured tokens or stored by any process."""

    def __init__(
        self,
        configured: Iterable[Team] = (),
        *,
        installations: InstallationRepository | None = None,
        bindings: Bindings | None = None,
    ) -> None:
        """Without `installations`, teams can't install the app.

        `bindings` know each team's workspace; without them, teams keep theirs.
        """
        self._teams: dict[str, Team] = {}
        self._configured: frozenset[str] = frozenset()
        self._installations = installations
        self._bindings = bindings
        self.are_known = False  # the teams of configured tokens are added
        if configured:
            self.configure(configured)

    def configure(self, teams: Iterable[Team]) -> None:
        """Add the teams of configured tokens, which take precedence over stored ones."""
        configured = {team.id: team for team in teams}
        self._teams |= configured
        self._configured = frozenset(configured)
        self.are_known = True

    def all(self) -> list[Team]:
        return [self._bound(team) for team in self._teams.values()]

    def names(self) -> dict[str, str]:
        """Return the teams' names by id."""
        return {team.id: team.name for team in self._teams.values()}

    def workspaces(self) -> list[str]:
        """Return the workspaces of all teams, without duplicates."""
        return [*dict.fromkeys(team.workspace for team in self.all())]

    def add(self, team: Team) -> None:
        """Insert or replace a team."""
        self._teams[team.id] = team

    async def get(self, team_id: str) -> Team:
        """Return a team, perhaps one that another process has stored. Raises NotFound."""
        team = self._teams.get(team_id)
        if team is None and (found := await self._find_stored(team_id)) is not None:
            team = to_team(found)
            self.add(team)
        if team is None:
            raise NotFound(f"The app isn't installed in the Slack workspace {team_id}. Install it there again.")
        return self._bound(team)

    async def of_workspace(self, workspace: str, team_id: str | None = None) -> Team:
        """Return the team of a workspace; `team_id` chooses one of several. Raises NotFound."""
        if team_id:
            return await self.get(team_id)
        found = next((team for team in self.all() if team.workspace == workspace), None)
        if found is None:
            raise NotFound(f"No Slack workspace with the app belongs to {workspace!r}. Install the app again.")
        return found

    async def save(self, installation: Installation) -> None:
        """Store a team that installed the app just now."""
        if self._installations is not None:
            await self._installations.save(installation)
        if installation.team_id not in self._configured:
            self.add(to_team(installation))

    async def remove(self, team_id: str) -> bool:
        """Forget a team that removed the app; return False if it has it still. Unknown teams are ignored.

        Slack may report a removal late, so an installation with a token that works is kept. Raises PlatformError if
        Slack can't be asked; it sends the event again.
        """
        found = await self._find_stored(team_id)
        is_gone = True
        if self._installations is not None and found is not None:
            try:
                await check_token(found.token)
                is_gone = False
            except ConfigError:
                await self._installations.remove(PLATFORM, team_id)
        if self._teams.pop(team_id, None) is not None:
            _log.warning("Slack team %s removed the app, or revoked its token", team_id)
        return is_gone

    async def renew(self) -> None:
        """Load the stored installations: add new teams and tokens, drop removed teams. Raises core errors."""
        if self._installations is None:
            return
        stored = {one.team_id: one for one in await self._installations.list_installations(PLATFORM)}
        for team_id, installation in stored.items():
            known = self._teams.get(team_id)
            if team_id not in self._configured and (known is None or known.token != installation.token):
                self.add(to_team(installation))
        for team_id in self._teams.keys() - stored.keys() - self._configured:
            del self._teams[team_id]

    async def keep_renewing(self) -> None:
        """Renew until cancelled. Failures are logged and retried."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                await self.renew()
            except FootnoteError as error:
                _log.warning("The installed Slack teams can't be loaded: %s", error)

    @property
    def authorize(self) -> Callable[[str | None, str | None], Awaitable[AuthorizeResult | None]]:
        """A plain function for slack_bolt, which can't call methods. It returns None for teams without the app."""

        async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult | None:
            try:
                team = await self.get(team_id or "")
            except NotFound as error:
                _log.warning("An event is ignored: %s", error)
                return None
            return AuthorizeResult(
                enterprise_id=enterprise_id,
                team_id=team.id,
                bot_token=team.token,
                bot_user_id=team.bot_user_id,
                bot_id=team.bot_id,
            )

        return authorize

    def _bound(self, team: Team) -> Team:
        """Return a team with the workspace that it is bound to now."""
        workspace = self._bindings.workspace_of(PLATFORM, team.id) if self._bindings else team.workspace
        return team if team.workspace == workspace else replace(team, workspace=workspace)

    async def _find_stored(self, team_id: str) -> Installation | None:
        return await self._installations.find(PLATFORM, team_id) if self._installations is not None else None


def to_team(installation: Installation) -> Team:
    """Return the team of an installation, in a workspace of its own."""
    return _build_team(
        installation.team_id,
        installation.team_name,
        installation.token,
        bot_user_id=installation.bot_user_id,
        bot_id=installation.bot_id,
        url=installation.team_url,
    )


async def read_teams(token: str) -> list[Team]:
    """Return the teams of a configured token, each in a workspace of its own. Raises as `check_token`."""
    reply = await check_token(token)
    return [
        _build_team(
            team_id,
            name,
            token,
            bot_user_id=str(reply["user_id"]),
            bot_id=str(reply.get("bot_id") or ""),
            url=str(reply.get("url") or ""),
            bot_name=str(reply.get("user") or ""),
        )
        for team_id, name in (await list_teams(token, reply)).items()
    ]


async def list_teams(token: str, checked: Mapping[str, Any]) -> dict[str, str]:
    """Return the teams that a token is for, id -> name; `checked` is Slack's description of it.

    An organisation's token has all teams that the app is approved for, any other has one. Raises PlatformError.
    """
    if not checked.get("is_enterprise_install"):
        team_id = str(checked["team_id"])
        return {team_id: str(checked.get("team") or team_id)}
    client, found, cursor = build_client(token), dict[str, str](), ""
    while True:
        with translated_errors("list the organisation's teams"):
            reply = await client.auth_teams_list(limit=TEAMS_AT_ONCE, cursor=cursor or None)
        found |= {str(one["id"]): str(one.get("name") or one["id"]) for one in reply.get("teams") or ()}
        cursor = str((reply.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return found


async def check_token(token: str) -> Mapping[str, Any]:
    """Return Slack's description of a token, with its `scopes`.

    Raises ConfigError if Slack refuses it, PlatformError if Slack can't be reached.
    """
    try:
        reply = await build_client(token).auth_test()
    except SlackApiError as error:
        name = str(error.response.get("error"))
        if name in REFUSED:
            raise ConfigError(BAD_TOKEN) from error
        raise PlatformError(f"Slack couldn't check the bot's token ({name}). Start again in a few minutes.") from error
    except UNREACHABLE as error:
        raise PlatformError(
            f"Slack can't be reached ({type(error).__name__}). Check this machine's network and start again."
        ) from error
    return {**reply.data, "scopes": reply.headers.get("x-oauth-scopes", "")}  # type: ignore[dict-item]  # JSON


def _build_team(id: str, name: str, token: str, **known: str) -> Team:
    workspace = own_workspace(PLATFORM, id)
    return Team(id=id, name=name, workspace=workspace, client=build_client(token), token=token, **known)
