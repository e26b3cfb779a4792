"""Commands on Slack: `/footnote NAME ...`, `@footnote NAME ...` and forms, and the display of their results.

`/footnote` without a name shows help. A form asks for missing options.
"""

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from bot.presentation.action_names import Verb
from bot.presentation.answer_buttons import action_name, help_menu
from bot.presentation.markdown import clip, link_target
from bot.presentation.platform_text import OPEN_SOURCE, OPEN_THREAD, to_thread_page
from bot.slackbot.actions import additions, home
from bot.slackbot.actions.interaction_handler import (
    ACKNOWLEDGE_SECONDS,
    InteractionContext,
    InteractionHandler,
    encode_origin,
)
from bot.slackbot.delivery.files import FILES
from bot.slackbot.events.command_text import COMMAND, format_command_names
from bot.slackbot.events.teams import PLATFORM
from bot.slackbot.events.translate import CHANNEL_ITSELF, link_to, message_links, to_text
from bot.slackbot.rendering.blocks import (
    MAX_OPTION_VALUE,
    MAX_OPTIONS,
    Element,
    SlackPost,
    View,
    actions,
    button,
    menu,
    option,
)
from bot.slackbot.rendering.forms import FORM_OVER, MAX_LABEL_OF_INPUT, read_form, to_form
from bot.slackbot.rendering.lists import notice_message, text_post, threads_message
from bot.slackbot.web_api import CLOSED, SEND_FILES, call
from core.domain.conversation import Conversation
from core.domain.features import ExportedFile
from core.domain.incoming import Attachment
from core.domain.service import CommandLine, Receipt
from core.errors import BadInput, FootnoteError, NotFound
from core.work.commands import Command, CommandResult, ThreadRow

ALIKE = 0.8  # share of letters from which a word counts as a misspelt command
ASKED = "To ask a question, use `/ask QUESTION`."
LACKING = "Add {options} after /{name}, or fill in the form."
FILL_IN = "Fill in the form"
_LINE = re.compile(r"/?(\S+)\s*(.*)", re.DOTALL)
LINK = "link"  # action of buttons that only open an address
NEW = "To start a new conversation, mention me in a channel or send me a direct message."
SENT = "I sent you the file as a direct message."
# Commands whose results quote documents and people: names in them aren't commands.
_QUOTING = frozenset({"search", "page", "source", "jobs", "facts", "extract"})
# Commands whose results the home tab shows.
_CHANGING = frozenset({"position", "settings", "rename", "delete", "threads"})
_log = logging.getLogger(__name__)
# Later errors are sent as a message, as Slack no longer waits for the form.
_FIELD_SECONDS = ACKNOWLEDGE_SECONDS * 0.8


async def run_slash(handler: InteractionHandler, ctx: InteractionContext, text: str) -> None:
    """Run the text behind `/footnote`, or ask it; open a form for missing options."""
    line = read_line(text)
    if ctx.is_direct and ctx.channel != await handler.direct_channel(ctx):  # of two people, where the bot can't post
        ctx = replace(ctx, channel="", thread=CHANNEL_ITSELF)
    if is_question(text, line.name, handler.parts.commands.table):
        line = read_line(f"ask {text}")
    if additions.is_addition(line):
        await additions.run_slash(handler, ctx, line)
    else:
        await _run(handler, ctx, line, is_typed=False)


async def run_typed(
    handler: InteractionHandler, ctx: InteractionContext, line: CommandLine, attachments: Sequence[Attachment] = ()
) -> None:
    """Run a command in a message. Missing options are asked for by a button, as only a press can open a form."""
    if line.name == COMMAND.strip("/"):  # typed in a thread, where Slack has no slash commands
        line = read_line(line.argument)
    if additions.is_addition(line):
        await additions.run_typed(handler, ctx, line, attachments)
    else:
        await _run(handler, ctx, line, is_typed=True)


def read_line(text: str) -> CommandLine:
    """Parse `NAME ARGUMENT`, with or without a slash; empty text means help. Slack escapes & < > in it."""
    found = _LINE.fullmatch(to_text({"text": text}, {}, ""))
    if found is None:
        return CommandLine(name="help", argument="")
    return CommandLine(name=found[1].lower(), argument=found[2].strip())


def is_question(text: str, name: str, commands: Collection[str]) -> bool:
    """Return whether the text behind `/footnote` is a question: its first word, `name`, is no command.

    A name that is only misspelt (“serch dragons”) gets the advice of unknown commands.
    """
    said = text.strip()
    if not said or said.startswith("/") or name in commands or additions.is_addition(read_line(text)):
        return False
    return said.endswith("?") or (" " in said and not get_close_matches(name, commands, n=1, cutoff=ALIKE))


async def _run(handler: InteractionHandler, ctx: InteractionContext, line: CommandLine, *, is_typed: bool) -> None:
    command = handler.parts.commands.table.get(line.name)
    try:
        options = command.parse(command.options, line.argument) if command is not None else {}
        required = [item.name for item in command.options if item.required] if command is not None else []
        missing = [f"“{name}”" for name in required if not options.get(name, "").strip()]
        if not missing:
            await run_command(handler, ctx, line.name, options)
        elif is_typed:
            sentence = LACKING.format(name=line.name, options=" and ".join(missing))
            form = button(FILL_IN, action_name(Verb.FORM, line.name), style="primary")
            await handler.show(ctx, with_button(_notice(format_text(handler, ctx, sentence)), form))
        else:
            await open_form(handler, ctx, line.name, options)
    except FootnoteError as error:
        was_question = line.argument and command is None
        await handler.say(ctx, f"{error} {ASKED}" if was_question else str(error))


async def run_command(
    handler: InteractionHandler, ctx: InteractionContext, name: str, options: Mapping[str, str]
) -> Receipt | None:
    """Run a command; show its result, send its file, or ask its question and return the receipt.

    Raises core errors, BadInput for an unknown command.
    """
    result = await handler.parts.commands.run(await handler.call(ctx, name, options))
    if result.ask is not None:
        return await handler.ask(ctx, result.ask)
    if result.file is not None:
        await _hand_over(handler, ctx, result, result.file)
    elif result.rows and isinstance(result.rows[0], ThreadRow):
        await handler.show(ctx, threads_post(ctx, options, result), result=result)
    elif result.citation is not None:
        link = handler.parts.link(result.citation, await handler.address_of(ctx), "")
        await handler.show(ctx, linked_post(text_post(result.text), OPEN_SOURCE, link), result=result)
    elif result.open_conversation is not None and result.renamed is None:
        await handler.show(ctx, _opened(handler, ctx, result.open_conversation))
    else:
        await _show_text(handler, ctx, name, result)
    if result.renamed is not None:
        handler.spawn(handler.platform.sessions.name_thread(ctx.team, result.renamed.address, result.renamed.title))
    if name in _CHANGING and not ctx.channel:  # run in the home tab, which now shows old values
        handler.spawn(home.refresh(handler, ctx))
    return None


def format_text(handler: InteractionHandler, ctx: InteractionContext, text: str) -> str:
    """Return a text of core with its commands named as a person enters them there."""
    return format_command_names(text, handler.parts.commands.table, in_thread=bool(ctx.thread))


def threads_post(ctx: InteractionContext, options: Mapping[str, str], result: CommandResult) -> SlackPost:
    """Return a page of the list of conversations, with buttons to the other pages."""
    page = to_thread_page(result, options, lambda address: link_to(address, ctx.team))
    return SlackPost(parts=(threads_message(page),))


def linked_post(post: SlackPost, label: str, link: str | None) -> SlackPost:
    """Add a button that opens `link`, if Slack accepts that address."""
    target = link_target(link)
    return post if target is None else with_button(post, {**button(label, LINK), "url": target})


def with_button(post: SlackPost, element: Element) -> SlackPost:
    *parts, last = post.parts
    return SlackPost(parts=(*parts, replace(last, blocks=(*last.blocks, actions(element)))))


async def _show_text(handler: InteractionHandler, ctx: InteractionContext, name: str, result: CommandResult) -> None:
    """Show a text result; if the bot may not post a public one, show it only to the person."""
    text = NEW if result.start_new and result.deleted is None else result.text
    address = await handler.address_of(ctx) if result.citations else None
    addresses = {
        item.number: link_target(handler.parts.link(item, address, "")) for item in result.citations if address
    } | message_links(result.messages, ctx.team)
    post = text_post(text if name in _QUOTING else format_text(handler, ctx, text), addresses)
    if (offered := help_menu(result)) is not None:
        post = with_button(post, menu(offered.placeholder, offered.name, offered.options))
    try:
        await handler.show(ctx, post, public=result.is_public, result=result)
    except CLOSED as error:
        if not result.is_public:
            raise
        _log.info("The result of /%s is only shown to its author: %s", name, error)
        await handler.show(ctx, post, result=result)


def _opened(handler: InteractionHandler, ctx: InteractionContext, conversation: Conversation) -> SlackPost:
    """Return where a conversation continues: Slack can't move people into a thread."""
    address, title = conversation.address, conversation.title
    if address.platform != PLATFORM:
        return _notice(f"“{title}” is on {address.platform}. Continue there.")
    if address.private_to is not None:
        command = format_text(handler, ctx, "/ask")
        return _notice(f"Continue “{title}” with `{command} … --private` in its channel.")
    return linked_post(_notice(f"Continue “{title}” in its thread."), OPEN_THREAD, link_to(address, ctx.team))


def _notice(sentence: str) -> SlackPost:
    return SlackPost(parts=(notice_message(sentence),))


async def _hand_over(
    handler: InteractionHandler, ctx: InteractionContext, result: CommandResult, file: ExportedFile
) -> None:
    """Send a file to the person's direct channel, or to the thread if it is public."""
    stays = result.is_public or ctx.is_direct
    channel = ctx.channel if stays and ctx.channel else await handler.direct_channel(ctx)
    thread = ctx.thread if stays else ""
    sent = await call(
        SEND_FILES,
        lambda: ctx.team.client.files_upload_v2(
            filename=file.name, title=file.name, file=file.data, channel=channel, thread_ts=thread or None
        ),
        pause=handler.parts.pause,
    )
    await handler.note(ctx, [f"{FILES}/{item['id']}" for item in sent.get("files") or ()], result)
    if not stays:
        await handler.say(ctx, SENT)


async def open_form(
    handler: InteractionHandler, ctx: InteractionContext, command_name: str, values: Mapping[str, str] | None = None
) -> None:
    """Open a command's form, or run a command without options. Raises NotFound for an unknown command."""
    command = handler.parts.commands.table.get(command_name)
    if command is None:
        raise NotFound(FORM_OVER)
    if command.options:
        await handler.open(ctx, to_form(command, encode_origin(ctx), values))
    else:
        await run_command(handler, ctx, command.name, {})


async def submit(handler: InteractionHandler, ctx: InteractionContext, view: View) -> Mapping[str, str] | None:
    """Run a form's command; return errors by block, or None to close the form.

    An error about one field is shown at the field. Other errors, and late ones, are sent as a message.
    """
    began = handler.parts.clock.monotonic()
    name, values = read_form(view)
    try:
        await run_command(handler, ctx, name, values)
    except FootnoteError as error:
        sentence = format_text(handler, ctx, str(error))
        field = _field_of(error, handler.parts.commands.table.get(name), values)
        if field is not None and handler.parts.clock.monotonic() - began < _FIELD_SECONDS:
            return {field: clip(sentence, MAX_LABEL_OF_INPUT)}
        await handler.say(ctx, sentence)
    return None


async def suggest(handler: InteractionHandler, ctx: InteractionContext, body: Mapping[str, Any]) -> list[Element]:
    """Return the options that match the input in a form's menu, as Slack takes them."""
    try:
        name, _ = read_form(body.get("view") or {})
        call = await handler.call(ctx, name, is_run=False)
        found = await handler.parts.commands.complete(call, str(body.get("action_id")), str(body.get("value") or ""))
    except FootnoteError as error:  # a menu can't show an error; the form will
        _log.info("Nothing completed: %s", error)
        return []
    fitting = [item for item in found if 0 < len(item.value) <= MAX_OPTION_VALUE]
    return [option(item.label, item.value) for item in fitting[:MAX_OPTIONS]]


def _field_of(error: FootnoteError, command: Command | None, values: Mapping[str, str]) -> str | None:
    """Return the field that an error quotes, the last one if it quotes several; None if it quotes none.

    A later field is usually chosen to match an earlier one.
    """
    if command is None or not isinstance(error, BadInput | NotFound):
        return None
    quoted = [
        option.name
        for option in command.options
        if (value := values.get(option.name)) and (repr(value) in str(error) or f"“{value}”" in str(error))
    ]
    return quoted[-1] if quoted else None
