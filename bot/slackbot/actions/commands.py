"""Commands on Slack: `/footnote NAME ...`, `@footnote NAME ...` and forms, and the display of their results.

`/footnote` without a name shows help. A form asks for missing options.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from bot.presentation.action_names import ActionName, Verb, to_action_name
from bot.presentation.rendering import clip, link_target
from bot.slackbot.actions import assistant_pane as pane
from bot.slackbot.actions import home
from bot.slackbot.actions.home import listed
from bot.slackbot.actions.interaction_context import InteractionContext, encode_origin
from bot.slackbot.actions.interaction_handler import ACKNOWLEDGE_SECONDS, InteractionHandler
from bot.slackbot.events.command_text import COMMAND, format_command_names
from bot.slackbot.events.teams import PLATFORM
from bot.slackbot.events.translate import is_private, link_to, to_text
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
_Lacking: TypeAlias = Callable[[InteractionHandler, InteractionContext, Command, Mapping[str, str]], Awaitable[None]]
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


async def run_slash(handler: InteractionHandler, ctx: InteractionContext, text: str) -> None:
    """What stands behind `/footnote`. What it lacks is asked for in a form."""
    line = read_line(text)
    await _run(handler, ctx, line, _open_form, behind=_hint(handler, line))


async def run_typed(handler: InteractionHandler, ctx: InteractionContext, line: CommandLine) -> None:
    """A command in a message: only who presses a button can be shown a form."""
    if line.name == COMMAND.strip("/"):  # typed where Slack has no slash commands
        line = read_line(line.argument)
    await _run(handler, ctx, line, _offer_form, behind=_hint(handler, line))


def read_line(text: str) -> CommandLine:
    """`NAME ARGUMENT`, with or without a slash; nothing is help. Slack escapes & < > in it."""
    found = _LINE.fullmatch(to_text({"text": text}, {}, ""))
    return (
        CommandLine(name=found[1].lower(), argument=found[2].strip()) if found else CommandLine(name=HELP, argument="")
    )


async def _run(
    handler: InteractionHandler, ctx: InteractionContext, line: CommandLine, lacking: _Lacking, behind: str = ""
) -> None:
    """`behind` is told with an error."""
    try:
        command = handler.parts.commands.table.get(line.name)
        options = command.parse(command.options, line.argument) if command is not None else {}
        if command is not None and _lacks(command, options):
            await lacking(handler, ctx, command, options)
        else:
            await run_command(handler, ctx, line.name, options)
    except FootnoteError as error:
        await tell(handler, ctx, f"{error}{behind}")


def _hint(handler: InteractionHandler, line: CommandLine) -> str:
    """For what was probably a question."""
    return f" {ASKED}" if line.argument and line.name not in handler.parts.commands.table else ""


def _lacks(command: Command, options: Mapping[str, str]) -> list[str]:
    return [item.name for item in command.options if item.required and not options.get(item.name, "").strip()]


async def _open_form(
    handler: InteractionHandler, ctx: InteractionContext, command: Command, options: Mapping[str, str]
) -> None:
    await open_form(handler, ctx, command.name, options)


async def _offer_form(
    handler: InteractionHandler, ctx: InteractionContext, command: Command, options: Mapping[str, str]
) -> None:
    missing = " and ".join(f"“{name}”" for name in _lacks(command, options))
    sentence = to_words(handler, ctx, LACKING.format(name=command.name, options=missing))
    form = to_action_name(ActionName(verb=Verb.FORM, id=command.name))
    post = SlackPost(parts=(notice_message(sentence),))
    await handler.show(ctx, with_button(post, button(FILL_IN, form, style="primary")))


async def run_command(
    handler: InteractionHandler, ctx: InteractionContext, name: str, options: Mapping[str, str]
) -> None:
    """Run a command of the table and show what it gives. Raises core errors, BadInput for an unknown command."""
    result = await handler.parts.commands.run(await handler.call(ctx, name, options))
    await show_result(handler, ctx, name, options, result)


async def show_result(
    handler: InteractionHandler, ctx: InteractionContext, name: str, options: Mapping[str, str], result: CommandResult
) -> None:
    """What a command gave: shown, asked, handed over. Raises core errors."""
    if result.ask is not None:
        await handler.ask(ctx, result.ask)
    elif result.file is not None:
        await _hand_over(handler, ctx, result.file, is_public=result.is_public)
    elif result.rows and isinstance(result.rows[0], ThreadRow):
        await handler.show(ctx, threads_post(ctx, options, result))
    elif result.citation is not None:
        link = handler.parts.link(result.citation, await handler.place(ctx))
        await handler.show(ctx, linked_post(text_post(result.text), OPEN_SOURCE, link))
    elif result.open_conversation is not None and result.renamed is None:
        await handler.show(ctx, _opened(handler, ctx, result.open_conversation))
    else:
        await _show_text(handler, ctx, name, result)
    if result.renamed is not None:
        handler.spawn(pane.name_thread(handler, ctx, result.renamed))
    if name in _CHANGING and not ctx.channel:  # it was done in the home tab, which shows how things were
        handler.spawn(home.refresh(handler, ctx))


async def tell(handler: InteractionHandler, ctx: InteractionContext, sentence: str) -> None:
    """One of core's sentences for the one who acted, with commands as they are given on Slack."""
    await handler.say(ctx, to_words(handler, ctx, sentence))


def to_words(handler: InteractionHandler, ctx: InteractionContext, text: str) -> str:
    """A text of core's with commands as they are given where somebody acted."""
    parts = handler.parts
    return format_command_names(text, parts.commands.table, in_thread=bool(ctx.thread))


def threads_post(ctx: InteractionContext, options: Mapping[str, str], result: CommandResult) -> SlackPost:
    """A page of the list of conversations; its buttons give the same list's other pages."""
    rows = [row for row in result.rows if isinstance(row, ThreadRow)]
    shown = options.get("show") or "mine"
    message = threads_message(
        [listed(row, ctx.team) for row in rows],
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


async def _show_text(handler: InteractionHandler, ctx: InteractionContext, name: str, result: CommandResult) -> None:
    """What everybody should see is shown to the one who acted alone where the bot may not post: it was done."""
    text = NEW if result.start_new and result.deleted is None else result.text
    place = await handler.place(ctx) if result.citations else None
    addresses = {item.number: link_target(handler.parts.link(item, place)) for item in result.citations if place}
    post = text_post(text if name in _QUOTING else to_words(handler, ctx, text), addresses)
    try:
        await handler.show(ctx, post, public=result.is_public)
    except CLOSED as error:
        if not result.is_public:
            raise
        _log.info("What /%s did is told to who did it alone: %s", name, error)
        await handler.show(ctx, post)


def _opened(handler: InteractionHandler, ctx: InteractionContext, conversation: Conversation) -> SlackPost:
    """Slack has no way to move people into a thread: they are shown the way."""
    address, title = conversation.address, conversation.title
    if address.platform != PLATFORM:
        return _notice(f"“{title}” is not on Slack but on {address.platform}: go on there.")
    if is_private(address):
        command = to_words(handler, ctx, "/ask")
        return _notice(f"“{title}” goes on with `{command} … --private` in its channel.")
    return linked_post(_notice(f"“{title}” goes on in its thread."), GO_THERE, link_to(address, ctx.team))


def _notice(sentence: str) -> SlackPost:
    return SlackPost(parts=(notice_message(sentence),))


async def _hand_over(
    handler: InteractionHandler, ctx: InteractionContext, file: ExportedFile, *, is_public: bool
) -> None:
    """A file is for the one who asked for it, in their direct channel; for everybody in the thread if it is public."""
    stays = is_public or ctx.is_direct
    channel = ctx.channel if stays and ctx.channel else await handler.direct(ctx)
    thread = ctx.thread if stays else ""
    await call(
        SEND_FILES,
        lambda: ctx.team.client.files_upload_v2(
            filename=file.name, title=file.name, file=file.data, channel=channel, thread_ts=thread or None
        ),
        pause=handler.parts.pause,
    )
    if not stays:
        await handler.say(ctx, SENT)


async def open_form(
    handler: InteractionHandler, ctx: InteractionContext, command_name: str, values: Mapping[str, str] | None = None
) -> None:
    """Show the form of a command; one that has nothing to pack_items in is run. NotFound for an unknown command."""
    command = handler.parts.commands.table.get(command_name)
    if command is None:
        raise NotFound(FORM_OVER)
    if command.options:
        await handler.open(ctx, to_form(command, encode_origin(ctx), values))
    else:
        await run_command(handler, ctx, command.name, {})


async def submit(handler: InteractionHandler, ctx: InteractionContext, view: View) -> Mapping[str, str] | None:
    """Run the command of a form. What is wrong, by the block of its field; None: the form may close.

    An error that is about one field is shown there; any other, and one that comes late, is a message.
    """
    began = handler.parts.clock.monotonic()
    name, values = read_form(view)
    try:
        await run_command(handler, ctx, name, values)
    except FootnoteError as error:
        sentence = to_words(handler, ctx, str(error))
        field = _field_of(error, handler.parts.commands.table.get(name), values)
        if field is not None and handler.parts.clock.monotonic() - began < _FIELD_SECONDS:
            return {field: clip(sentence, MAX_LABEL_OF_INPUT)}
        await handler.say(ctx, sentence)
    return None


async def suggest(
    handler: InteractionHandler, ctx: InteractionContext, body: Mapping[str, Any]
) -> Sequence[Mapping[str, Any]]:
    """The options for what somebody typed so far in a form's menu, as Slack takes them; none where nothing fits."""
    try:
        name, _ = read_form(body.get("view") or {})
        call = await handler.call(ctx, name)
        found = await handler.parts.commands.complete(call, str(body.get("action_id")), str(body.get("value") or ""))
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
