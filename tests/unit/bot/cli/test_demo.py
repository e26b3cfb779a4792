"""The demo keeps to itself, whatever the configuration and the environment name."""

import pytest

from bot.cli.demo import _demo_settings
from bot.config import Config
from bot.config.sections import SlackConfig, WebConfig
from bot.config.slack import is_on


def test_no_chat_platform_hears_of_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISCORD_TOKEN", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"):
        monkeypatch.setenv(name, "of the team's own bot")
    configured = Config(slack=SlackConfig(client_id="1.2"), web=WebConfig(port=0))
    demo = _demo_settings(configured)

    assert is_on(configured)
    assert not is_on(demo)
    assert demo.discord_token() is None
