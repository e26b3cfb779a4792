"""The wizard's steps for Slack: each problem with a token in one sentence with its fix, and what is written."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.config import load_config
from bot.config.slack import read_settings
from bot.presentation.setup_screens import Choice, Tone
from bot.setup.wizard import Wizard
from bot.slackbot.events import teams as slack_teams
from bot.slackbot.events.manifest import build_manifest
from tests.slack_server import SlackServer, Team

LOST = (Tone.PROBLEM, "Slack did not answer. Check this machine's network, and try again.")


@pytest.fixture
async def at_tokens(wizard: Wizard) -> Wizard:
    await wizard.submit("platform", {"platform": "slack"})
    await wizard.submit("connection", {"transport": "socket"})
    return wizard


@pytest.fixture
def team(on_slack: SlackServer) -> Team:
    return on_slack.create_team("Acme Ferries")


def token_of(team: Team) -> str:
    assert team.install is not None
    return team.install.token


def contents(file: Path) -> str:
    return file.read_text(encoding="utf-8")


async def told(wizard: Wizard, token: str, app_token: str) -> list[tuple[Tone, str]]:
    found = await wizard.submit("slack", {"token": token, "app_token": app_token})
    return [(one.tone, one.sentence) for one in found]


async def test_the_manifest_is_ready_to_copy_and_to_open(at_tokens: Wizard) -> None:
    screen = await at_tokens.screen()
    manifest = build_manifest(by_socket=True, url=None)

    assert json.loads(screen.copied) == manifest
    address = urlsplit(screen.links[0].address)
    assert json.loads(parse_qs(address.query)["manifest_json"][0]) == manifest
    assert screen.findings == ()


@pytest.mark.parametrize(
    ("token", "app_token", "sentences"),
    [
        ("", "", {"Paste the bot token (xoxb-…), or skip this step."}),
        ("xapp-1", "xoxb-1", {"This is the app-level token; it belongs in the second field."}),
        ("xapp-1", "xoxb-1", {"This is the bot token; it belongs in the first field."}),
        ("ab" * 16, "", {"This is the client secret or the signing secret. The tokens begin with xoxb- and xapp-."}),
        ("xoxp-1", "", {"This is a person's token. Footnote needs the bot's, from your app's page “Install App”."}),
        (
            "xoxb-unknown",
            "xapp-unknown",
            {
                "Slack does not know this bot token. Install the app once more on its page “Install App”, and copy the "
                "token from there.",
                "Slack does not accept this app token. Make a new one with the scope connections:write on the page "
                "“Basic Information”, under “App-Level Tokens”.",
            },
        ),
    ],
)
async def test_a_wrong_token_is_refused_in_one_sentence(
    at_tokens: Wizard, team: Team, token: str, app_token: str, sentences: set[str]
) -> None:
    assert sentences <= {sentence for tone, sentence in await told(at_tokens, token, app_token) if tone is Tone.PROBLEM}
    assert [field.is_stored for field in (await at_tokens.screen()).fields] == [False, False]


async def test_missing_scopes_are_named(at_tokens: Wizard, on_slack: SlackServer, team: Team) -> None:
    assert team.install is not None
    team.install.scopes -= {"files:read", "chat:write"}
    found = await told(at_tokens, token_of(team), on_slack.app.token)

    assert found == [
        (Tone.OK, f"The bot token works. Your bot is called {team.bot.name}, in Acme Ferries."),
        (
            Tone.PROBLEM,
            "The bot lacks the scopes chat:write, files:read. Paste the manifest on your app's page “App Manifest”, "
            "save it, and install the app again.",
        ),
        (Tone.OK, "The app token works: Slack opens a connection."),
    ]
    assert (await at_tokens.screen()).step == "slack"


async def test_a_lost_connection_keeps_the_tokens(
    at_tokens: Wizard, on_slack: SlackServer, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AsyncWebClient, "BASE_URL", "http://127.0.0.1:9/api/")
    assert await told(at_tokens, token_of(team), on_slack.app.token) == [LOST, LOST]
    monkeypatch.setattr(AsyncWebClient, "BASE_URL", on_slack.api)
    assert {tone for tone, _ in await told(at_tokens, "", "")} == {Tone.OK}
    assert (await at_tokens.screen()).step == "documents"


async def test_a_slack_that_never_answers_is_given_up(
    at_tokens: Wizard, on_slack: SlackServer, team: Team, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AsyncWebClient, "BASE_URL", f"{silent}/api/")

    assert await told(at_tokens, token_of(team), on_slack.app.token) == [LOST, LOST]


async def test_what_is_written_binds_the_team_and_names_the_token_files(
    at_tokens: Wizard, on_slack: SlackServer, team: Team, config_file: Path, tmp_path: Path
) -> None:
    await told(at_tokens, token_of(team), on_slack.app.token)
    await at_tokens.submit("model", {"provider": "extractive"})
    assert f"{team.bot.name} answers on Slack, in Acme Ferries." in await at_tokens.finish()

    written = contents(config_file)
    secrets = tmp_path / "data" / "secrets"
    assert f'token_file = "{secrets / "slack_bot_token"}"' in written
    assert f'app_token_file = "{secrets / "slack_app_token"}"' in written
    assert f'{team.id} = "local"' in written
    assert token_of(team) not in written and on_slack.app.token not in written


URL = "https://footnote.example.org"
SIGNING_SECRET = "0123456789abcdef" * 2


async def findings(wizard: Wizard, step: str, **answers: str | list[str]) -> list[tuple[Tone, str]]:
    return [(one.tone, one.sentence) for one in await wizard.submit(step, answers)]


async def test_over_http_the_manifest_has_the_address_and_the_signing_secret_replaces_the_app_token(
    wizard: Wizard, team: Team, config_file: Path, tmp_path: Path
) -> None:
    await wizard.submit("platform", {"platform": "slack"})
    assert (await wizard.screen()).title == "How does Slack reach Footnote?"
    assert await findings(wizard, "connection", transport="http", public_url=URL + "/") == [
        (Tone.OK, f"Slack sends its requests to {URL}/slack/events.")
    ]
    screen = await wizard.screen()
    assert json.loads(screen.copied) == build_manifest(by_socket=False, url=URL)
    assert [field.label for field in screen.fields] == ["Bot token (xoxb-…)", "Signing secret"]

    assert (Tone.PROBLEM, "Paste the signing secret, or skip this step.") in await findings(wizard, "slack")
    found = await findings(wizard, "slack", token=token_of(team), signing_secret=SIGNING_SECRET)
    assert found[-1] == (Tone.OK, "The signing secret has the right form. Slack's first request will prove it.")
    await wizard.finish()

    config = load_config(config_file)
    settings = read_settings(config)
    assert settings is not None and not settings.by_socket
    assert (settings.token, settings.signing_secret) == (token_of(team), SIGNING_SECRET)
    assert config.web.public_url == URL
    assert (tmp_path / "data" / "secrets" / "slack_signing_secret").stat().st_mode & 0o777 == 0o600
    assert (await wizard.screen("connection")).fields[0].value == "http"

    await wizard.submit("connection", {"transport": "socket"})
    await wizard.finish()
    assert load_config(config_file).slack.transport == "socket"


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "Enter the public address of Footnote. It must begin with https://."),
        ("http://footnote.example.org", "Slack can't use 'http://footnote.example.org'. It must begin with https://."),
        ("footnote", "Can't use 'footnote': "),
    ],
)
async def test_an_address_that_slack_cannot_use_is_refused(wizard: Wizard, typed: str, sentence: str) -> None:
    await wizard.submit("platform", {"platform": "slack"})
    [(tone, told)] = await findings(wizard, "connection", transport="http", public_url=typed)

    assert tone is Tone.PROBLEM and told.startswith(sentence)
    assert (await wizard.screen()).step == "connection"


async def test_a_wrong_signing_secret_is_told(wizard: Wizard, team: Team) -> None:
    await wizard.submit("platform", {"platform": "slack"})
    await wizard.submit("connection", {"transport": "http", "public_url": URL})

    assert (await findings(wizard, "slack", token=token_of(team), signing_secret="xapp-1"))[-1] == (
        Tone.PROBLEM,
        "This is a token. The signing secret is on your app's page “Basic Information”.",
    )
    [*_, (tone, sentence)] = await findings(wizard, "slack", signing_secret="secret")
    assert (tone, sentence.partition(",")[0]) == (Tone.WARNING, "This doesn't look like a signing secret")


async def test_of_an_organisation_the_teams_are_chosen_by_name(
    at_tokens: Wizard, on_slack: SlackServer, config_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_teams, "TEAMS_AT_ONCE", 2)
    ferries, harbour, museum = on_slack.create_organisation("Tern Islands", "Ferries", "Harbour", "Museum")
    found = await told(at_tokens, token_of(ferries), on_slack.app.token)

    assert found[0] == (
        Tone.OK,
        f"The bot token works. Your bot is called {ferries.bot.name}, in 3 teams of Tern Islands.",
    )
    assert len(on_slack.calls("auth.teams.list")) == 2  # two pages
    screen = await at_tokens.screen()
    assert screen.title == "Which teams?"
    assert screen.fields[0].choices == tuple(
        Choice(value=team.id, label=team.name) for team in (ferries, harbour, museum)
    )
    assert await findings(at_tokens, "teams") == [(Tone.PROBLEM, "Choose a team, or skip this step.")]
    assert await findings(at_tokens, "teams", teams=[ferries.id, museum.id]) == [
        (Tone.OK, "Ferries reads this library."),
        (Tone.OK, "Museum reads this library."),
    ]
    assert f"{ferries.bot.name} answers on Slack, in Ferries, Museum." in await at_tokens.finish()
    assert dict(load_config(config_file).slack.workspaces) == {ferries.id: "local", museum.id: "local"}
    assert {team.id: team.name for team in await slack_teams.read_teams(token_of(ferries))} == {
        team.id: team.name for team in (ferries, harbour, museum)
    }


async def test_an_organisation_whose_teams_are_not_listed_stops_the_step(
    at_tokens: Wizard, on_slack: SlackServer
) -> None:
    [team] = on_slack.create_organisation("Tern Islands", "Ferries")
    on_slack.fail_next("auth.teams.list", error="access_denied")
    found = await told(at_tokens, token_of(team), on_slack.app.token)

    assert found[0] == (
        Tone.PROBLEM,
        "Slack did not list the teams of Tern Islands. Try again, or install the app in a single team.",
    )
    assert (await at_tokens.screen()).step == "slack"
    assert {tone for tone, _ in await told(at_tokens, "", "")} == {Tone.OK}
    assert (await at_tokens.screen()).step == "documents"  # its only team needs no choice


async def test_the_token_of_one_team_asks_for_no_team(at_tokens: Wizard, on_slack: SlackServer, team: Team) -> None:
    await told(at_tokens, token_of(team), on_slack.app.token)

    assert on_slack.calls("auth.teams.list") == []
    assert (await at_tokens.screen()).step == "documents"
