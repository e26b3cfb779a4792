"""Commands on Slack: `/footnote NAME ...`, `@footnote NAME ...` and forms, and the display of their results.

`/footnote` without a name shows help. A form asks for missing options.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from bot.presentation.action_names import ActionName, Verb, to_action_name
from bot.presentation.markdown import clip, link_target
from bot.slackbot.actions import assistant_pane as pane
from bot.slackbot.actions import home
from bot.slackbot.actions.home import listed
from bot.slackbot.actions.interaction_context import Act, whereabouts
from bot.slackbot.actions.interaction_handler import ACKNOWLEDGE_SECONDS, Desk
from bot.slackbot.events.command_text import in_slack_words
from bot.slackbot.events.translate import PLATFORM, is_private, link_to, to_text
from bot.slackbot.rendering.blocks import (
    MAX_OPTION_VALUE,
    MAX_OPTIONS,
    Element,
    SlackPost,
    View,
    actions,
    button,
)
from bot.slackbot.rendering.forms import (
    FORM_OVER,
    MAX_LABEL_OF_INPUT,
    read_form,
    to_form,
    to_option,
)
from bot.slackbot.rendering.lists import notice_message, text_post, threads_message
from bot.slackbot.web_api import CLOSED, call
from core.domain.conversation import Conversation
from core.domain.features import ExportedFile
from core.domain.service import CommandLine
from core.errors import BadInput, FootnoteError, NotFound
from core.service.commands import Command, CommandResult, ThreadRow
from core.service.commands.threads import PAGE_ROWS

HELP = "help"
ASKED = "To ask a question, write it behind `/ask`."
LACKING = "/{name} needs {options}: write that behind it, or pack_items in the form."
FILL_IN = "Fill in the form"
# Asks for what a command lacks, with what was given already.
_Lacking: TypeAlias = Callable[[Desk, Act, Command, Mapping[str, str]], Awaitable[None]]
_LINE = re.compile(r"/?(\S+)\s*(.*)", re.DOTALL)
SEND_FILES = "send files"  # the end of “I am not allowed to …”
LINK = "link"  # the action of buttons that only lead somewhere
OPEN_SOURCE = "Open the source"
GO_THERE = "Go there"
NEW = "Mention me in a channel, or write to me: what you ask there begins a conversation of its own."
SENT = "I have sent you the file as a direct message."
HEADINGS = {"mine": "Your conversations", "here": "Conversations of this channel"}
# What these show are words of documents and people: nothing in them is a command's name.
_QUOTING = frozenset({"search", "page", "source", "jobs", "facts", "extract"})
# What these change stands on the home tab.
_CHANGING = frozenset({"position", "settings", "rename", "delete", "threads"})
_log = logging.getLogger(__name__)
# A field is marked while Slack waits; what is found out later is told in a message.
_FIELD_SECONDS = ACKNOWLEDGE_SECONDS * 0.8


async def run_slash(desk: Desk, act: Act, text: str) -> None:
    """What stands behind `/footnote`. What it lacks is asked for in a form."""
    line = read_line(text)
    await _run(desk, act, line, _open_form, behind=_hint(desk, line))


async def run_typed(desk: Desk, act: Act, line: CommandLine) -> None:
    """A command in a message: only who presses a button can be shown a form."""
    if line.name == desk.parts.command.strip("/"):  # typed where Slack has no slash commands
        line = read_line(line.argument)
    await _run(desk, act, line, _offer_form, behind=_hint(desk, line))


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
            await run_command(desk, act, line.name, options)
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
    sentence = to_words(desk, act, LACKING.format(name=command.name, options=missing))
    form = to_action_name(ActionName(verb=Verb.FORM, id=command.name))
    post = SlackPost(parts=(notice_message(sentence),))
    await desk.show(act, with_button(post, button(FILL_IN, form, style="primary")))


async def run_command(desk: Desk, act: Act, name: str, options: Mapping[str, str]) -> None:
    """Run a command of the table and show what it gives. Raises core errors, BadInput for an unknown command."""
    result = await desk.parts.commands.run(await desk.call(act, name, options))
    await show_result(desk, act, name, options, result)


async def show_result(desk: Desk, act: Act, name: str, options: Mapping[str, str], result: CommandResult) -> None:
    """What a command gave: shown, asked, handed over. Raises core errors."""
    if result.ask is not None:
        await desk.ask(act, result.ask)
    elif result.file is not None:
        await _hand_over(desk, act, result.file, is_public=result.is_public)
    elif result.rows and isinstance(result.rows[0], ThreadRow):
        await desk.show(act, threads_post(act, options, result))
    elif result.citation is not None:
        link = desk.parts.link(result.citation, await desk.place(act))
        await desk.show(act, linked_post(text_post(result.text), OPEN_SOURCE, link))
    elif result.open_conversation is not None and result.renamed is None:
        await desk.show(act, _opened(desk, act, result.open_conversation))
    else:
        await _show_text(desk, act, name, result)
    if result.renamed is not None:
        desk.spawn(pane.name_thread(desk, act, result.renamed))
    if name in _CHANGING and not act.channel:  # it was done in the home tab, which shows how things were
        desk.spawn(home.refresh(desk, act))


async def tell(desk: Desk, act: Act, sentence: str) -> None:
    """One of core's sentences for the one who acted, with commands as they are given on Slack."""
    await desk.say(act, to_words(desk, act, sentence))


def to_words(desk: Desk, act: Act, text: str) -> str:
    """A text of core's with commands as they are given where somebody acted."""
    parts = desk.parts
    return in_slack_words(text, parts.commands.table, in_thread=bool(act.thread), command=parts.command)


def threads_post(act: Act, options: Mapping[str, str], result: CommandResult) -> SlackPost:
    """A page of the list of conversations; its buttons give the same list's other pages."""
    rows = [row for row in result.rows if isinstance(row, ThreadRow)]
    shown = options.get("show") or "mine"
    message = threads_message(
        [listed(row, act.team) for row in rows],
        list_id=shown,
        page=result.page,
        pages=result.pages,
        first=(result.page - 1) * PAGE_ROWS + 1,
        heading=HEADINGS.get(shown, "Conversations"),
    )
    return SlackPost(parts=(message,))


def linked_post(post: SlackPost, label: str, link: str | None) -> SlackPost:
    """A post with a button to an address, where there is one that Slack takes."""
    target = link_target(link)
    return post if target is None else with_button(post, {**button(label, LINK), "url": target})


def with_button(post: SlackPost, element: Element) -> SlackPost:
    """A post with a button at its end."""
    *parts, last = post.parts
    return SlackPost(parts=(*parts, replace(last, blocks=(*last.blocks, actions(element)))))


async def _show_text(desk: Desk, act: Act, name: str, result: CommandResult) -> None:
    """What everybody should see is shown to the one who acted alone where the bot may not post: it was done."""
    text = NEW if result.start_new and result.deleted is None else result.text
    place = await desk.place(act) if result.citations else None
    addresses = {item.number: link_target(desk.parts.link(item, place)) for item in result.citations if place}
    post = text_post(text if name in _QUOTING else to_words(desk, act, text), addresses)
    try:
        await desk.show(act, post, public=result.is_public)
    except CLOSED as error:
        if not result.is_public:
            raise
        _log.info("What /%s did is told to who did it alone: %s", name, error)
        await desk.show(act, post)


def _opened(desk: Desk, act: Act, conversation: Conversation) -> SlackPost:
    """Slack has no way to move people into a thread: they are shown the way."""
    address, title = conversation.address, conversation.title
    if address.platform != PLATFORM:
        return _notice(f"“{title}” is not on Slack but on {address.platform}: go on there.")
    if is_private(address):
        command = to_words(desk, act, "/ask")
        return _notice(f"“{title}” goes on with `{command} … --private` in its channel.")
    return linked_post(_notice(f"“{title}” goes on in its thread."), GO_THERE, link_to(address, act.team))


def _notice(sentence: str) -> SlackPost:
    return SlackPost(parts=(notice_message(sentence),))


async def _hand_over(desk: Desk, act: Act, file: ExportedFile, *, is_public: bool) -> None:
    """A file is for the one who asked for it, in their direct channel; for everybody in the thread if it is public."""
    stays = is_public or act.is_direct
    channel = act.channel if stays and act.channel else await desk.direct(act)
    thread = act.thread if stays else ""
    await call(
        SEND_FILES,
        lambda: act.team.client.files_upload_v2(
            filename=file.name, title=file.name, file=file.data, channel=channel, thread_ts=thread or None
        ),
        pause=desk.parts.pause,
    )
    if not stays:
        await desk.say(act, SENT)


async def open_form(desk: Desk, act: Act, command_name: str, values: Mapping[str, str] | None = None) -> None:
    """Show the form of a command; one that has nothing to pack_items in is run. NotFound for an unknown command."""
    command = desk.parts.commands.table.get(command_name)
    if command is None:
        raise NotFound(FORM_OVER)
    if command.options:
        await desk.open(act, to_form(command, whereabouts(act), values))
    else:
        await run_command(desk, act, command.name, {})


async def submit(desk: Desk, act: Act, view: View) -> Mapping[str, str] | None:
    """Run the command of a form. What is wrong, by the block of its field; None: the form may close.

    An error that is about one field is shown there; any other, and one that comes late, is a message.
    """
    began = desk.parts.clock.monotonic()
    name, values = read_form(view)
    try:
        await run_command(desk, act, name, values)
    except FootnoteError as error:
        sentence = to_words(desk, act, str(error))
        field = _field_of(error, desk.parts.commands.table.get(name), values)
        if field is not None and desk.parts.clock.monotonic() - began < _FIELD_SECONDS:
            return {field: clip(sentence, MAX_LABEL_OF_INPUT)}
        await desk.say(act, sentence)
    return None


async def suggest(desk: Desk, act: Act, body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The options for what somebody typed so far in a form's menu, as Slack takes them; none where nothing fits."""
    try:
        name, _ = read_form(body.get("view") or {})
        call = await desk.call(act, name)
        found = await desk.parts.commands.complete(call, str(body.get("action_id")), str(body.get("value") or ""))
    except FootnoteError as error:  # a menu can't show a sentence; the form will
        _log.info("Nothing completed: %s", error)
        return ()
    fitting = [item for item in found if 0 < len(item.value) <= MAX_OPTION_VALUE]
    return [to_option(item.label, item.value) for item in fitting[:MAX_OPTIONS]]


def _field_of(error: FootnoteError, command: Command | None, values: Mapping[str, str]) -> str | None:
    """The field that an error is about: errors quote what is wrong, and only they can say so.

    Where several are quoted, the last one, as what comes behind is chosen for what stands before.
    """
    if command is None or not isinstance(error, BadInput | NotFound):
        return None
    quoted = [
        option.name
        for option in command.options
        if (value := values.get(option.name)) and (repr(value) in str(error) or f"“{value}”" in str(error))
    ]
    return quoted[-1] if quoted else None
