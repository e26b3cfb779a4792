"""Commands on Slack: core's one table, by `/footnote NAME ...` and by `@footnote NAME ...` in messages.

`/footnote` alone gives help. What a command lacks is asked for in its form. Nothing here raises core errors: they are
sentences for the one who gave the command, with commands named as they are given there.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from bot.presentation.action_names import ActionName, Verb, to_action_name
from bot.slackbot import results
from bot.slackbot.blocks import button
from bot.slackbot.forms import open_form
from bot.slackbot.interaction_context import Act
from bot.slackbot.interactions import Desk
from bot.slackbot.layout import SlackPost
from bot.slackbot.render_lists import notice_message
from bot.slackbot.results import tell
from bot.slackbot.translate import to_text
from core.domain.service import CommandLine
from core.errors import FootnoteError
from core.service.commands import Command

__all__ = ["read_line", "run_command", "run_slash", "run_typed", "tell"]

HELP = "help"
ASKED = "To ask a question, write it behind `/ask`."
LACKING = "/{name} needs {options}: write that behind it, or fill in the form."
FILL_IN = "Fill in the form"

# Asks for what a command lacks, with what was given already.
_Lacking: TypeAlias = Callable[[Desk, Act, Command, Mapping[str, str]], Awaitable[None]]
_LINE = re.compile(r"/?(\S+)\s*(.*)", re.DOTALL)


async def run_slash(desk: Desk, act: Act, text: str) -> None:
    """What stands behind `/footnote`. What it lacks is asked for in a form."""
    line = read_line(text)
    await _run(desk, act, line, _open_form, behind=_hint(desk, line))


async def run_typed(desk: Desk, act: Act, line: CommandLine) -> None:
    """A command in a message: only who presses a button can be shown a form."""
    if line.name == desk.parts.command.strip("/"):  # typed where Slack has no slash commands
        line = read_line(line.argument)
    await _run(desk, act, line, _offer_form, behind=_hint(desk, line))


async def run_command(desk: Desk, act: Act, name: str, options: Mapping[str, str]) -> None:
    """A command with its options, as buttons have them."""
    try:
        await results.run_command(desk, act, name, options)
    except FootnoteError as error:
        await tell(desk, act, str(error))


def read_line(text: str) -> CommandLine:
    """`NAME ARGUMENT`, with or without a slash; nothing is help. Slack escapes & < > in it."""
    found = _LINE.fullmatch(to_text({"text": text}, {}, ""))
    return (
        CommandLine(name=found[1].lower(), argument=found[2].strip()) if found else CommandLine(name=HELP, argument="")
    )


async def _run(desk: Desk, act: Act, line: CommandLine, lacking: _Lacking, behind: str = "") -> None:
    """`behind` is told with an error."""
    try:
        command = desk.parts.commands.table.get(line.name)
        options = command.parse(command.options, line.argument) if command is not None else {}
        if command is not None and _lacks(command, options):
            await lacking(desk, act, command, options)
        else:
            await results.run_command(desk, act, line.name, options)
    except FootnoteError as error:
        await tell(desk, act, f"{error}{behind}")


def _hint(desk: Desk, line: CommandLine) -> str:
    """For what was probably a question."""
    return f" {ASKED}" if line.argument and line.name not in desk.parts.commands.table else ""


def _lacks(command: Command, options: Mapping[str, str]) -> list[str]:
    return [item.name for item in command.options if item.required and not options.get(item.name, "").strip()]


async def _open_form(desk: Desk, act: Act, command: Command, options: Mapping[str, str]) -> None:
    await open_form(desk, act, command.name, options)


async def _offer_form(desk: Desk, act: Act, command: Command, options: Mapping[str, str]) -> None:
    missing = " and ".join(f"“{name}”" for name in _lacks(command, options))
    sentence = results.to_words(desk, act, LACKING.format(name=command.name, options=missing))
    form = to_action_name(ActionName(verb=Verb.FORM, id=command.name))
    post = SlackPost(parts=(notice_message(sentence),))
    await desk.show(act, results.with_button(post, button(FILL_IN, form, style="primary")))
