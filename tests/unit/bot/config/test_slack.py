"""What is missing for Slack is told all at once, each with its fix; what is not needed is not asked for."""

from pathlib import Path
from typing import Any

import pytest

from bot.config import SECRETS, Config
from bot.config.sections import SlackConfig, WebConfig
from bot.config.slack import (
    NO_APP_TOKEN,
    NO_BOT_TOKEN,
    NO_CLIENT_SECRET,
    NO_KEY,
    NO_PUBLIC_URL,
    NO_SIGNING_SECRET,
    WRONG_APP_TOKEN,
    WRONG_BOT_TOKEN,
    public_address,
    read_settings,
)
from core.errors import BadInput, ConfigError

CLIENT = "111.222"
URL = "https://notes.example"
KEY = "k" * 32
ALL = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_APP_TOKEN": "xapp-1",
    "SLACK_SIGNING_SECRET": "signing",
    "SLACK_CLIENT_SECRET": "client",
    "FOOTNOTE_SLACK_KEY": KEY,
}


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*ALL, *SECRETS):
        monkeypatch.delenv(name, raising=False)


def config(*, url: str | None = None, **slack: Any) -> Config:
    return Config(slack=SlackConfig(**slack), web=WebConfig(public_url=url))


def problems(config: Config, **how: bool) -> str:
    with pytest.raises(ConfigError) as caught:
        read_settings(config, **how)
    return str(caught.value)


def give(monkeypatch: pytest.MonkeyPatch, *names: str, **others: str) -> None:
    for name in names:
        monkeypatch.setenv(name, ALL[name])
    for name, value in others.items():
        monkeypatch.setenv(name, value)


def test_nothing_configured_is_off_and_so_are_secrets_of_other_bots(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings(config()) is None
    give(monkeypatch, "SLACK_SIGNING_SECRET", "SLACK_CLIENT_SECRET", "FOOTNOTE_SLACK_KEY")
    assert read_settings(config()) is None


def test_socket_mode_needs_two_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN")
    settings = read_settings(config())

    assert settings is not None
    assert (settings.by_socket, settings.token, settings.app_token, settings.client) == (True, "xoxb-1", "xapp-1", None)


def test_http_needs_the_signing_secret_in_place_of_the_app_token(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, "SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET")
    settings = read_settings(config(transport="http"))

    assert settings is not None
    assert (settings.by_socket, settings.signing_secret) == (False, "signing")


def test_teams_that_install_the_app_need_no_bot_token(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, "SLACK_APP_TOKEN", "SLACK_CLIENT_SECRET", "FOOTNOTE_SLACK_KEY")
    settings = read_settings(config(client_id=CLIENT, url=URL))

    assert settings is not None
    assert settings.client is not None
    assert (settings.client.id, settings.client.secret, settings.client.public_url) == (CLIENT, "client", URL)
    assert settings.has_keys


@pytest.mark.parametrize(
    ("given", "slack", "missing"),
    [
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, {}, [NO_APP_TOKEN]),
        ({"SLACK_APP_TOKEN": "xapp-1"}, {}, [NO_BOT_TOKEN]),
        ({"SLACK_BOT_TOKEN": "xapp-1", "SLACK_APP_TOKEN": "xoxb-1"}, {}, [WRONG_BOT_TOKEN, WRONG_APP_TOKEN]),
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, {"transport": "http"}, [NO_SIGNING_SECRET]),
        ({}, {"client_id": CLIENT}, [NO_APP_TOKEN, NO_CLIENT_SECRET, NO_KEY, NO_PUBLIC_URL]),
        ({}, {"client_id": CLIENT, "transport": "http"}, [NO_SIGNING_SECRET, NO_CLIENT_SECRET, NO_KEY, NO_PUBLIC_URL]),
    ],
)
def test_everything_that_is_missing_stands_in_one_message(
    given: dict[str, str], slack: dict[str, Any], missing: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, **given)
    said = problems(config(**slack))

    assert said == f"Slack can't be used: {'; '.join(missing)}. See docs/slack.md for each step."


def test_a_worker_alone_needs_only_what_it_posts_with(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, "SLACK_BOT_TOKEN")
    assert read_settings(config(), hears=False) is not None
    assert problems(config(client_id=CLIENT), hears=False).count(NO_KEY) == 1
    give(monkeypatch, "FOOTNOTE_SLACK_KEY")
    assert read_settings(config(client_id=CLIENT), hears=False) is not None


def test_secrets_come_from_files_too_and_are_never_shown(tmp_path: Path) -> None:
    files = {"token_file": "xoxb-1", "app_token_file": "xapp-1", "client_secret_file": "hidden", "key_file": KEY}
    for name, secret in files.items():
        (tmp_path / name).write_text(f"{secret}\n", encoding="utf-8")
    settings = read_settings(config(client_id=CLIENT, url=URL, **{name: tmp_path / name for name in files}))

    assert settings is not None
    assert settings.token == "xoxb-1"
    assert not any(secret in repr(settings) for secret in files.values())


@pytest.mark.parametrize("between", [",", "\n", " ,\n ", ",,"])
def test_several_keys_stand_between_commas_or_on_lines(between: str, monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, FOOTNOTE_SLACK_KEY=f"new{between}old")

    assert config().slack_keys() == ["new", "old"]


def test_a_manifest_over_http_needs_an_address_that_slack_takes() -> None:
    assert public_address("https://notes.example/", by_socket=False) == URL
    for url, words in [
        (None, "Set web.public_url, or use --url"),
        ("http://notes.example", "It must begin with https://"),
        ("notes.example", "it must be an address like"),
        ("https://notes.example/path", "without a path"),
    ]:
        with pytest.raises(BadInput, match=words):
            public_address(url, by_socket=False)


def test_in_socket_mode_an_address_is_left_out_where_slack_takes_none() -> None:
    assert public_address(None, by_socket=True) is None
    assert public_address("http://10.0.0.1:8420", by_socket=True) is None
    assert public_address(URL, by_socket=True) == URL
