"""For `footnote doctor`: who the bot is on Slack, and what it lacks there, each with its fix."""

from collections.abc import Collection

from bot.config.slack import APP_PAGE, SlackSettings, read_settings
from bot.slackbot.events.manifest import SCOPES
from bot.slackbot.events.teams import PLATFORM, check_token
from bot.slackbot.events.transport import open_address
from bot.slackbot.web_api import build_client
from bot.wiring.parts import Parts
from core.domain.service import Installation
from core.errors import ConfigError, FootnoteError

OFF = "off: no token in SLACK_BOT_TOKEN or the file of [slack] token_file, and no [slack] client_id"


async def describe_slack(app: Parts) -> str:
    """What works, in one line. Raises ConfigError with everything that does not."""
    settings = read_settings(app.config)
    if settings is None:
        return OFF
    found, problems = [], []
    for look in (_look_at_token, _look_at_teams, _look_at_transport):
        try:
            found += await look(app, settings)
        except FootnoteError as error:
            problems.append(str(error))
    if problems:
        raise ConfigError(" ".join(problems))
    return "; ".join(found)


async def _look_at_token(app: Parts, settings: SlackSettings) -> list[str]:
    if settings.token is None:
        return []
    told = await check_token(settings.token)
    team = str(told.get("team") or told["team_id"])
    _require_scopes(str(told["scopes"]).replace(" ", "").split(","), team)
    return [f"{told.get('user') or told['user_id']} is ready in {team} ({told['team_id']})"]


async def _look_at_teams(app: Parts, settings: SlackSettings) -> list[str]:
    if not settings.has_keys:
        return []
    teams = await app.installations.list_installations(PLATFORM)
    for team in teams:
        await _look_at_team(team)
    where = f" at {settings.client.public_url}/slack/install" if settings.client else ""
    return [f"installed by {len(teams)} {'team' if len(teams) == 1 else 'teams'}{where}"]


async def _look_at_team(team: Installation) -> None:
    try:
        told = await check_token(team.token)
    except ConfigError as error:
        raise ConfigError(
            f"The token of {team.team_name} ({team.team_id}) is refused: the app has to be installed there again."
        ) from error
    _require_scopes(str(told["scopes"]).replace(" ", "").split(","), team.team_name)


async def _look_at_transport(app: Parts, settings: SlackSettings) -> list[str]:
    if not settings.by_socket:
        return ["HTTP requests, signed"]
    await open_address(build_client(None), settings.app_token or "")
    return ["Socket Mode"]


def _require_scopes(granted: Collection[str], team: str) -> None:
    missing = sorted(SCOPES.keys() - set(granted))
    if missing:
        raise ConfigError(
            f"In {team} the bot lacks the scopes {', '.join(missing)}: update the app at {APP_PAGE} (your app, Parts "
            "Manifest) with what `footnote manifest slack` prints, and install it there again."
        )
