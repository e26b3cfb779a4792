"""The wizard's steps for Slack: each problem with a token in one sentence with its fix, and what is written."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.presentation.setup_screens import Tone
from bot.setup.wizard import Wizard
from bot.slackbot.events.manifest import build_manifest
from tests.slack_server import SlackServer, Team

LOST = (Tone.PROBLEM, "Slack did not answer. Check this machine's network, and try again.")


@pytest.fixture
async def at_tokens(wizard: Wizard) -> Wizard:
    await wizard.submit("platform", {"platform": "slack"})
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
