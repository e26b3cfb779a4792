"""What the Slack adapter is built from; bot/slack_wiring.py puts it together."""

from dataclasses import dataclass

from bot.platform_parts import PlatformParts
from bot.slackbot.teams import Teams

COMMAND = "/footnote"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackParts(PlatformParts):
    """`command` is the slash command's name in the manifest."""

    teams: Teams
    command: str = COMMAND
