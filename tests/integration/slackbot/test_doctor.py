"""`footnote doctor` on Slack: who the bot is, and what it lacks, each with its fix."""

from pathlib import Path

import pytest

from bot.config import Config
from bot.service.doctor import OFF, describe_slack, examine_config
from bot.slackbot.events.manifest import SCOPES
from bot.slackbot.events.transport import BAD_APP_TOKEN
from bot.wiring.parts import open_parts
from core.errors import ConfigError
from tests.integration.slackbot.door import Secrets, open_door
from tests.slack_server import SlackServer, Team


async def problems(config: Config) -> str:
    async with open_parts(config) as app:
        with pytest.raises(ConfigError) as caught:
            await describe_slack(app)
        return str(caught.value)


async def test_a_bot_that_lacks_nothing_says_who_and_where_it_is(
    server: SlackServer, team: Team, secrets: Secrets
) -> None:
    async with open_parts(secrets.config(team)) as app:
        assert await describe_slack(app) == f"footnote is ready in acme ({team.id}); Socket Mode"
    async with open_parts(secrets.config(team, transport="http")) as app:
        assert await describe_slack(app) == f"footnote is ready in acme ({team.id}); HTTP requests, signed"


async def test_without_anything_configured_it_is_off(server: SlackServer, tmp_path: Path) -> None:
    async with open_parts(Config(data_dir=tmp_path)) as app:
        assert await describe_slack(app) == OFF


async def test_missing_scopes_are_named_with_what_to_do(server: SlackServer, team: Team, secrets: Secrets) -> None:
    assert team.install is not None
    team.install.scopes = set(SCOPES) - {"files:read", "users:read"}
    said = await problems(secrets.config(team))

    assert "In acme the bot lacks the scopes files:read, users:read" in said
    assert "footnote manifest slack" in said


async def test_all_that_is_wrong_stands_in_one_message(server: SlackServer, team: Team, secrets: Secrets) -> None:
    server.revoke(team)
    said = await problems(secrets.config(team, app_token_file=secrets.file("wrong", "xapp-wrong")))

    assert "Slack refuses the bot's token" in said
    assert BAD_APP_TOKEN in said


async def test_what_the_configuration_lacks_is_told_without_asking_slack(
    server: SlackServer, team: Team, secrets: Secrets
) -> None:
    said = await problems(secrets.config(team, app_token_file=None, client_id="1.2"))

    assert all(word in said for word in ("SLACK_APP_TOKEN", "SLACK_CLIENT_SECRET", "FOOTNOTE_SLACK_KEY"))
    assert server.calls() == []


async def test_teams_that_installed_the_app_are_counted_and_looked_at(server: SlackServer, secrets: Secrets) -> None:
    config = secrets.config(installs=True)
    team = server.create_team("bravo", installed=False)
    owner = server.person("owner", team=team)
    async with open_parts(config) as app:
        async with open_door(app) as opened:
            await owner.install(f"{opened.url}slack/install")
        assert await describe_slack(app) == f"installed by 1 team at {secrets.public_url}/slack/install; Socket Mode"
        server.revoke(team)
        with pytest.raises(
            ConfigError, match=rf"The token of bravo \({team.id}\) was refused\. Install the app there again"
        ):
            await describe_slack(app)


async def test_it_is_one_line_of_the_doctors(server: SlackServer, team: Team, secrets: Secrets) -> None:
    [check] = [one for one in await examine_config(secrets.config(team)) if one.name == "slack"]

    assert check.ok
    assert "ready in acme" in check.detail
