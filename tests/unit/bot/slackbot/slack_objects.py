"""Teams and messages as Slack's events tell of them."""

from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.slackbot.events.teams import Team

ME, ADA, BEN = "U0BOT", "U0ADA", "U0BEN"
NAMES = {ADA: "Ada", BEN: "Ben"}


def a_team(**changed: Any) -> Team:
    given: dict[str, Any] = {
        "id": "T1",
        "name": "acme",
        "workspace": "house",
        "bot_user_id": ME,
        "bot_id": "B0BOT",
        "client": AsyncWebClient(token="xoxb-1"),
        "token": "xoxb-1",
        "url": "https://acme.slack.com/",
    }
    return Team(**{**given, **changed})


def a_message(text: str = f"<@{ME}> where is the key?", **changed: Any) -> dict[str, Any]:
    """Said in a channel by Ada."""
    told = {
        "type": "message",
        "channel": "C1",
        "channel_type": "channel",
        "user": ADA,
        "text": text,
        "ts": "1700000000.000100",
    }
    return {**told, **changed}
