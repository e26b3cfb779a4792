"""What the Slack adapter is built from; bot/wiring/slack.py puts it together."""

from dataclasses import dataclass

from bot.showing.platform_parts import PlatformParts
from bot.slackbot.teams import Teams
from bot.slackbot.words import COMMAND


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackParts(PlatformParts):
    """`command` is the slash command's name in the manifest."""

    teams: Teams
    command: str = COMMAND
