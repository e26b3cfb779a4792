"""Slash commands, made from core's one table: its names, options and helps; completions come from core, too."""

import inspect
import io
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import discord
from discord import app_commands

from bot.discordbot.errors import POST, understood
from bot.discordbot.interactions import Desk, in_time, jump_link, notice, show
from bot.discordbot.layout import DiscordPost, LinkButton, PartView, Row
from bot.discordbot.render_lists import ThreadItem, text_view, threads_view
from bot.discordbot.translate import PLATFORM, TITLE_LENGTH, is_private
from bot.presentation.rendering import link_target
from core.domain.conversation import Conversation, ThreadAddress
from core.domain.features import ExportedFile
from core.errors import FootnoteError
from core.service.commands import Command, CommandResult, Option, OptionKind, ThreadRow
from core.service.commands.threads import PAGE_ROWS
from core.work.commands import GIVEN

HELP_LENGTH = 100  # characters of a description, Discord's limit
MOST_CHOICES = 25  # of a completion, Discord's limit
CHOICE_LENGTH = 100  # characters of a choice's name and value, Discord's limit
MAX_URL = 512  # characters of a button's address, Discord's limit
WRONG = "Something went wrong inside Footnote: try again, or tell who runs it."

_TYPES: Mapping[OptionKind, type] = {OptionKind.NUMBER: int, OptionKind.FLAG: bool}
# Their questions are shown to everybody: so is the sign that they are being worked on.
_ASKING = frozenset({"ask", "summary"})
_COMPLETED = frozenset({OptionKind.DOCUMENT, OptionKind.JOURNAL, OptionKind.THREAD})
Completion = Callable[[discord.Interaction, str], Coroutine[Any, Any, list[app_commands.Choice[str]]]]
_log = logging.getLogger(__name__)


def bind(tree: app_commands.CommandTree[Any], desk: Desk) -> None:
    """Every command of the table as a slash command."""
    for row in desk.parts.commands.table.values():
        tree.add_command(to_slash(row, desk))
    tree.error(tell_fault)


def to_slash(row: Command, desk: Desk) -> app_commands.Command[Any, ..., Any]:
    async def run(interaction: discord.Interaction, **values: object) -> None:
        given = {name: _to_text(value) for name, value in values.items() if value is not None}
        await run_command(desk, interaction, row.name, given)

    helps = {option.name: option.help[:HELP_LENGTH] for option in row.options}
    choices = {
        option.name: [app_commands.Choice(name=choice, value=choice) for choice in option.choices]
        for option in row.options
        if option.kind is OptionKind.CHOICE
    }
    run.__signature__ = _signature(row.options)  # type: ignore[attr-defined]  # discord.py reads options from it
    command: app_commands.Command[Any, ..., Any] = app_commands.command(
        name=row.name, description=row.help[:1].upper() + row.help[1:HELP_LENGTH]
    )(app_commands.choices(**choices)(app_commands.describe(**helps)(run)))
    for option in row.options:
        if option.kind in _COMPLETED:
            command.autocomplete(option.name)(_completion(row, option, desk))
    return command


async def run_command(desk: Desk, interaction: discord.Interaction, name: str, options: Mapping[str, str]) -> None:
    """Run a command of the table and show what it gives; its errors are sentences for the one who gave it."""
    try:
        is_public = name in _ASKING and options.get("private") != GIVEN
        running = desk.parts.commands.run(await desk.call(interaction, name, options))
        await _show(desk, interaction, options, await in_time(interaction, running, ephemeral=not is_public))
    except FootnoteError as error:
        await show(interaction, notice(str(error)))


async def _show(
    desk: Desk, interaction: discord.Interaction, options: Mapping[str, str], result: CommandResult
) -> None:
    if result.ask is not None:
        await desk.ask(interaction, result.ask)
        return
    if result.file is not None:
        await _hand_over(interaction, result.file)
    elif result.rows and isinstance(result.rows[0], ThreadRow):
        await show(interaction, threads_post(interaction, options, result))
    elif result.citation is not None:
        link = desk.parts.link(result.citation, await desk.place_of(interaction))
        await show(interaction, linked_post(result.text, "Open the source", link))
    elif result.open_conversation is not None and result.renamed is None:
        await show(interaction, _opened(interaction, result.open_conversation))
    else:
        place = await desk.place_of(interaction) if result.citations else None
        addresses = {item.number: link_target(desk.parts.link(item, place)) for item in result.citations if place}
        await show(interaction, text_view(_told(interaction, result), addresses), public=result.is_public)
    if result.renamed is not None:
        await _rename_thread(desk, result.renamed)


def threads_post(interaction: discord.Interaction, options: Mapping[str, str], result: CommandResult) -> DiscordPost:
    """A page of the list of conversations; its buttons give the same list's other pages."""
    rows = [row for row in result.rows if isinstance(row, ThreadRow)]
    shown = options.get("show") or "mine"
    view = threads_view(
        [_listed(row, interaction) for row in rows],
        list_id=shown,
        page=result.page,
        pages=result.pages,
        first=(result.page - 1) * PAGE_ROWS + 1,
        heading={"mine": "Your conversations", "here": "Conversations of this channel"}.get(shown, "Conversations"),
    )
    return DiscordPost(parts=(view,))


def linked_post(text: str, label: str, link: str | None) -> DiscordPost:
    """A text with a button to an address, where there is one that Discord takes."""
    *parts, last = text_view(text).parts
    if link is not None and len(link) <= MAX_URL:
        last = PartView(blocks=(*last.blocks, Row(items=(LinkButton(label=label, url=link),))))
    return DiscordPost(parts=(*parts, last))


def _listed(row: ThreadRow, interaction: discord.Interaction) -> ThreadItem:
    is_reachable = row.address.platform == PLATFORM and not is_private(row.address)
    return ThreadItem(
        title=row.title or "(no title)",
        detail=f"last used {row.last_used_at:%Y-%m-%d %H:%M} UTC",
        url=_link_to(interaction, row.address) if is_reachable else None,
    )


def _link_to(interaction: discord.Interaction, address: ThreadAddress) -> str:
    """Into the server that the thread is in, which need not be the one where the command was given."""
    channel = interaction.client.get_channel(int(address.channel))
    guild = channel.guild.id if isinstance(channel, discord.abc.GuildChannel) else None
    return jump_link(guild, address.thread or address.channel)


def _told(interaction: discord.Interaction, result: CommandResult) -> str:
    """A result in words that fit Discord, where a thread is a conversation."""
    if result.start_new and result.deleted is None:
        return (
            "Mention me in a channel, or use /ask there: each question in a channel begins a conversation of its own."
        )
    return result.text


def _opened(interaction: discord.Interaction, conversation: Conversation) -> DiscordPost:
    """Discord has no way to move people into a thread: they are shown the way."""
    address = conversation.address
    if address.platform != PLATFORM:
        return notice(f"“{conversation.title}” is not on Discord but on {address.platform}: go on there.")
    if is_private(address):
        return notice(f"“{conversation.title}” goes on with /ask and “private” in its channel.")
    link = _link_to(interaction, address)
    return linked_post(f"“{conversation.title}” goes on in its thread.", "Go there", link)


async def _hand_over(interaction: discord.Interaction, handed: ExportedFile) -> None:
    file = discord.File(io.BytesIO(handed.data), filename=handed.name)
    with understood(POST):
        if interaction.response.is_done():
            await interaction.followup.send(file=file, ephemeral=True)
        else:
            await interaction.response.send_message(file=file, ephemeral=True)


async def _rename_thread(desk: Desk, conversation: Conversation) -> None:
    """The thread of a renamed conversation gets the name, too, where that is allowed."""
    address = conversation.address
    if address.platform != PLATFORM or is_private(address) or not address.thread:
        return
    try:
        channel = (await desk.platform.places.thread(int(address.thread))).channel
        if isinstance(channel, discord.Thread) and channel.name != conversation.title:
            with understood("rename the thread"):
                await channel.edit(name=conversation.title[:TITLE_LENGTH])
    except FootnoteError as error:
        _log.info("The thread of %s keeps its name: %s", conversation.id, error)


def _signature(options: tuple[Option, ...]) -> inspect.Signature:
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("interaction", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=discord.Interaction)
    ]
    for option in options:
        kind: Any = _TYPES.get(option.kind, str)
        default = inspect.Parameter.empty if option.required else None
        annotation = kind if option.required else kind | None
        parameters.append(inspect.Parameter(option.name, keyword, default=default, annotation=annotation))
    return inspect.Signature(parameters)


def _completion(row: Command, option: Option, desk: Desk) -> Completion:
    async def complete(interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
        try:
            call = await desk.call(interaction, row.name)
            found = await desk.parts.commands.complete(call, option.name, current)
        except FootnoteError as error:  # a list can't show a sentence; the command itself will
            _log.info("Nothing completed: %s", error)
            return []
        fitting = [item for item in found if len(item.value) <= CHOICE_LENGTH]
        return [
            app_commands.Choice(name=item.label[:CHOICE_LENGTH], value=item.value) for item in fitting[:MOST_CHOICES]
        ]

    return complete


def _to_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


async def tell_fault(interaction: discord.Interaction, error: Exception) -> None:
    """A fault of ours: people get a sentence, the log gets the rest."""
    _log.error("A command, a button or a form failed", exc_info=error)
    try:
        await show(interaction, notice(WRONG))
    except FootnoteError as refused:
        _log.info("Nobody could be told: %s", refused)
