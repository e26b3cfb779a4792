"""What the Slack adapter is built from; bot/wiring/slack.py puts it together."""

from dataclasses import dataclass

from bot.presentation.platform_parts import PlatformParts
from bot.slackbot.teams import Teams

COMMAND = "/footnote"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackParts(PlatformParts):
    """`command` is the slash command's name in the manifest."""

    teams: Teams
    command: str = COMMAND
