"""The teams of this process: the one of the configured token, and those that installed the app in any process."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.config import Config
from bot.config.slack import APP_PAGE, SlackSettings
from bot.slackbot.events.teams import Team, Teams
from bot.slackbot.events.translate import PLATFORM
from bot.slackbot.web_api import build_client
from bot.wiring.parts import Parts
from core.domain.service import Installation
from core.errors import ConfigError, FootnoteError, PlatformError
from core.ports.service import InstallationRepository

RENEW_SECONDS = 30.0  # how soon a process notices what another one's installation changed
UNREACHABLE = (SlackClientError, aiohttp.ClientError, OSError, TimeoutError)
# What Slack says of a token that is no good any more.
REFUSED = frozenset(
    {"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive", "not_allowed_token_type"}
)
BAD_TOKEN = (
    f"Slack refuses the bot's token: install the app again at {APP_PAGE} (your app, Install Parts) and put the new "
    "one into SLACK_BOT_TOKEN, or the file of [slack] token_file."
)

_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class OpenedTeams:
    """The teams, and how they follow what is stored. `fixed` is the team of the configured token."""

    config: Config
    stored: InstallationRepository | None  # None: teams can't install the app
    fixed: str | None
    teams: Teams = field(init=False)

    def __post_init__(self) -> None:
        self.teams = Teams((), self.find, self.forget)

    async def welcome(self, installation: Installation) -> None:
        """A team has installed the app just now. The configured token goes before the one it brought."""
        if installation.team_id != self.fixed:
            self.teams.add(to_team(self.config, installation))

    async def find(self, team_id: str) -> Team | None:
        """A team that another process stored."""
        found = await self.stored.find(PLATFORM, team_id) if self.stored is not None else None
        return to_team(self.config, found) if found is not None else None

    async def forget(self, team_id: str) -> None:
        """Slack says that the app is gone from there, perhaps late: a token that works by now is kept.

        Raises PlatformError where Slack can't tell now; it says it again then.
        """
        found = await self.stored.find(PLATFORM, team_id) if self.stored is not None else None
        if self.stored is not None and found is not None and not await is_good(found.token):
            await self.stored.remove(PLATFORM, team_id)

    async def renew(self) -> None:
        """Bring the teams to what is stored. Raises core errors."""
        if self.stored is None:
            return
        stored = {one.team_id: one for one in await self.stored.list_installations(PLATFORM)}
        known = {team.id: team for team in self.teams.all()}
        for team_id, one in stored.items():
            if team_id != self.fixed and (team_id not in known or known[team_id].token != one.token):
                self.teams.add(to_team(self.config, one))
        for team_id in known.keys() - stored.keys() - {self.fixed}:
            self.teams.drop(team_id)

    async def keep_renewing(self) -> None:
        """Until cancelled; what fails is logged and tried again."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                await self.renew()
            except FootnoteError as error:
                _log.warning("The Slack teams are not looked up anew: %s", error)


async def open_teams(stack: AsyncExitStack, app: Parts, settings: SlackSettings) -> OpenedTeams:
    """All teams known now; they follow what is stored until the end of `stack`.

    Raises ConfigError for a token that Slack refuses and for a key that does not fit, PlatformError when Slack can't be
    reached.
    """
    team = await read_team(app.config, settings.token) if settings.token else None
    stored = app.installations if settings.has_keys else None
    opened = OpenedTeams(config=app.config, stored=stored, fixed=team.id if team else None)
    if team is not None:
        opened.teams.add(team)
    if stored is not None:
        if count := await stored.reseal():
            _log.info("The tokens of %d Slack teams are encrypted with the new key", count)
        await opened.renew()
        task = asyncio.create_task(opened.keep_renewing())
        stack.push_async_callback(_end, task)
    return opened


async def read_team(config: Config, token: str) -> Team:
    """Whose token it is. Raises ConfigError where Slack refuses it, PlatformError where it can't be asked."""
    client = build_client(token)
    told = await test_token(token)
    return Team(
        id=str(told["team_id"]),
        name=str(told.get("team") or told["team_id"]),
        workspace=workspace_of(config, str(told["team_id"])),
        bot_user_id=str(told["user_id"]),
        bot_id=str(told.get("bot_id") or ""),
        client=client,
        token=token,
        url=str(told.get("url") or ""),
    )


async def test_token(token: str) -> Mapping[str, Any]:
    """What auth.test says. Raises as `read_team`."""
    try:
        reply = await build_client(token).auth_test()
    except SlackApiError as error:
        name = str(error.response.get("error"))
        if name in REFUSED:
            raise ConfigError(BAD_TOKEN) from error
        raise PlatformError(f"Slack does not say whose token it is ({name}): start again in a while.") from error
    except UNREACHABLE as error:
        raise PlatformError(
            f"Slack can't be reached ({type(error).__name__}): check this machine's network and start again."
        ) from error
    return {**reply.data, "scopes": reply.headers.get("x-oauth-scopes", "")}  # type: ignore[dict-item]  # JSON


async def is_good(token: str) -> bool:
    """Whether Slack still takes it. PlatformError where it can't be asked."""
    try:
        await test_token(token)
    except ConfigError:
        return False
    return True


def to_team(config: Config, installation: Installation) -> Team:
    return Team(
        id=installation.team_id,
        name=installation.team_name,
        workspace=workspace_of(config, installation.team_id),
        bot_user_id=installation.bot_user_id,
        bot_id=installation.bot_id,
        client=build_client(installation.token),
        token=installation.token,
        url=installation.team_url,
    )


def workspace_of(config: Config, team_id: str) -> str:
    """The workspace of a team: the configured one, else its own."""
    return config.slack.workspaces.get(team_id, f"slack-{team_id}")


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait({task})
