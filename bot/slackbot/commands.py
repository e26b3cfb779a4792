"""Commands on Slack: core's one table, by `/footnote NAME ...` and by `@footnote NAME ...` in messages."""

from collections.abc import Mapping

from bot.slackbot.acts import Act
from bot.slackbot.interactions import Desk
from core.commands import CommandResult
from core.domain.inbox import CommandLine


async def run_slash(desk: Desk, act: Act, text: str) -> None:
    """What stands behind `/footnote`: a command of the table, or help. What it lacks is asked for in a form."""
    raise NotImplementedError


async def run_typed(desk: Desk, act: Act, line: CommandLine) -> None:
    """A command in a message: where it lacks something, a button opens the form."""
    raise NotImplementedError


async def run_command(desk: Desk, act: Act, name: str, options: Mapping[str, str]) -> None:
    """Run a command of the table and show what it gives; its errors are sentences for the one who gave it."""
    raise NotImplementedError


async def show_result(desk: Desk, act: Act, name: str, options: Mapping[str, str], result: CommandResult) -> None:
    """What a command gave: shown, asked, handed over. Raises core errors."""
    raise NotImplementedError


async def tell(desk: Desk, act: Act, sentence: str) -> None:
    """One of core's sentences for the one who acted, with commands as they are given on Slack."""
    raise NotImplementedError
