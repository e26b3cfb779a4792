"""Forms made from a command's options, and what is completed in them."""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.slackbot.acts import Act
from bot.slackbot.interactions import Desk
from bot.slackbot.layout import View
from core.commands import Command


def to_form(command: Command, metadata: str, values: Mapping[str, str] | None = None) -> View:
    """The modal of a command; `values` are filled in already. Pure."""
    raise NotImplementedError


async def open_form(desk: Desk, act: Act, command_name: str, values: Mapping[str, str] | None = None) -> None:
    """Show the form of a command of the table. Raises core errors, NotFound for an unknown command."""
    raise NotImplementedError


async def submit(desk: Desk, act: Act, view: View) -> Mapping[str, str] | None:
    """Run the command of a form. What is wrong, by the block of its field; None or empty: the form may close."""
    raise NotImplementedError


async def suggest(desk: Desk, act: Act, body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The options for what somebody typed so far in a form's menu, as Slack takes them."""
    raise NotImplementedError
