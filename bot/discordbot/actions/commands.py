"""Slash commands, made from core's command table; completions come from core, too."""

import inspect
import io
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import discord
from discord import app_commands

from bot.discordbot.actions.handler import InteractionHandler, guarded, in_time, notice, report_fault, show
from bot.discordbot.delivery.errors import POST, RENAME, translated_errors
from bot.discordbot.events.translate import PLATFORM, TITLE_LENGTH, jump_link
from bot.discordbot.rendering.components import DiscordPost, LinkButton, PartView, Row
from bot.discordbot.rendering.texts import text_post, threads_view
from bot.presentation.answer_buttons import help_menu
from bot.presentation.markdown import link_target
from bot.presentation.platform_text import OPEN_SOURCE, OPEN_THREAD, to_thread_page
from core.domain.conversation import Conversation
from core.domain.incoming import ThreadAddress
from core.errors import FootnoteError
from core.features.additions import LIBRARY
from core.work.commands import GIVEN, Command, CommandResult, Option, OptionKind, ThreadRow

HELP_LENGTH = 100  # characters of a description, Discord's limit
MAX_CHOICES = 25  # of a completion, Discord's limit
CHOICE_LENGTH = 100  # characters of a choice's name and value, Discord's limit
MAX_URL = 512  # characters of a button's address, Discord's limit
NEW_CONVERSATION = "Mention me in a channel, or use /ask there. Each question in a channel starts a conversation."

_TYPES: Mapping[OptionKind, type] = {OptionKind.NUMBER: int, OptionKind.FLAG: bool}
# Commands that post a question: everyone sees it, and so the sign that it is in progress.
_ASKING = frozenset({"ask", "summary"})
_COMPLETED = frozenset({OptionKind.ADDED, OptionKind.DOCUMENT, OptionKind.JOURNAL, OptionKind.THREAD})
Completion = Callable[[discord.Interaction, str], Coroutine[Any, Any, list[app_commands.Choice[str]]]]
_log = logging.getLogger(__name__)


def bind(tree: app_commands.CommandTree[Any], handler: InteractionHandler) -> None:
    """Add every command of the table as a slash command."""
    for row in handler.parts.commands.table.values():
        if row.name != LIBRARY:  # it has subcommands (additions.py)
            tree.add_command(to_slash(row, handler))
    tree.error(report_fault)


def to_slash(row: Command, handler: InteractionHandler) -> app_commands.Command[Any, ..., Any]:
    async def run(interaction: discord.Interaction, **values: object) -> None:
        # a flag is `true` or `false`
        given = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in values.items()
            if value is not None
        }
        await guarded(interaction, run_command(handler, interaction, row.name, given))

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
            command.autocomplete(option.name)(completion_of(row, option.name, handler))
    return command


async def run_command(
    handler: InteractionHandler, interaction: discord.Interaction, name: str, options: Mapping[str, str]
) -> None:
    """Run a command of the table and show its result. Raises core errors."""
    is_public = name in _ASKING and options.get("private") != GIVEN
    running = handler.parts.commands.run(await handler.call(interaction, name, options))
    result = await in_time(interaction, running, ephemeral=not is_public)
    if result.ask is not None:
        await handler.ask(interaction, result.ask)
    elif result.file is not None:
        file = discord.File(io.BytesIO(result.file.data), filename=result.file.name)
        with translated_errors(POST):
            if interaction.response.is_done():
                await interaction.followup.send(file=file, ephemeral=True)
            else:
                await interaction.response.send_message(file=file, ephemeral=True)
    else:
        post, is_public = await _to_post(handler, interaction, options, result)
        await handler.note(interaction, await show(interaction, post, public=is_public), result)
    if result.renamed is not None:
        await _rename_thread(handler, result.renamed)


async def _to_post(
    handler: InteractionHandler, interaction: discord.Interaction, options: Mapping[str, str], result: CommandResult
) -> tuple[DiscordPost, bool]:
    """Return a command's result, and whether everyone may see it."""
    if result.rows and isinstance(result.rows[0], ThreadRow):
        return threads_post(interaction, options, result), False
    if result.citation is not None:
        link = handler.parts.link(result.citation, await handler.address_of(interaction), "")
        return linked_post(result.text, OPEN_SOURCE, link), False
    if result.open_conversation is not None and result.renamed is None:
        return _opened(interaction, result.open_conversation), False
    addresses: dict[int, str | None] = {}
    if result.citations:
        address = await handler.address_of(interaction)
        addresses = {item.number: link_target(handler.parts.link(item, address, "")) for item in result.citations}
    addresses |= handler.platform.message_links(result.messages)
    if result.start_new and result.deleted is None:
        return notice(NEW_CONVERSATION), result.is_public
    post, menu = text_post(result.text, addresses), help_menu(result)
    return (_with_row(post, Row(items=(menu,))) if menu is not None else post), result.is_public


def threads_post(interaction: discord.Interaction, options: Mapping[str, str], result: CommandResult) -> DiscordPost:
    """Return a page of the list of conversations."""
    page = to_thread_page(result, options, lambda address: _link_to(interaction, address))
    return DiscordPost(parts=(threads_view(page),))


def linked_post(text: str, label: str, link: str | None) -> DiscordPost:
    """Return a text with a button to an address, if Discord accepts the address."""
    post = text_post(text)
    if link is None or len(link) > MAX_URL:
        return post
    return _with_row(post, Row(items=(LinkButton(label=label, url=link),)))


def _with_row(post: DiscordPost, row: Row) -> DiscordPost:
    *parts, last = post.parts
    return DiscordPost(parts=(*parts, PartView(blocks=(*last.blocks, row))))


def _link_to(interaction: discord.Interaction, address: ThreadAddress) -> str | None:
    """Return the address of a thread, which may be on another server; None if it is private or not on Discord."""
    if address.platform != PLATFORM or address.private_to is not None:
        return None
    channel = interaction.client.get_channel(int(address.channel))
    guild = channel.guild.id if isinstance(channel, discord.abc.GuildChannel) else None
    return jump_link(guild, address.thread or address.channel)


def _opened(interaction: discord.Interaction, conversation: Conversation) -> DiscordPost:
    """Return the way to a conversation: Discord can't move people into a thread."""
    address, title = conversation.address, conversation.title
    if address.platform != PLATFORM:
        return notice(f"“{title}” isn't on Discord. Continue it on {address.platform}.")
    if address.private_to is not None:
        return notice(f"To continue “{title}”, use /ask with “private” in its channel.")
    return linked_post(f"Continue “{title}” in its thread.", OPEN_THREAD, _link_to(interaction, address))


async def _rename_thread(handler: InteractionHandler, conversation: Conversation) -> None:
    """Rename the thread of a renamed conversation, if the bot may."""
    address = conversation.address
    if address.platform != PLATFORM or address.private_to is not None or not address.thread:
        return
    try:
        channel = (await handler.platform.destinations.thread(int(address.thread))).channel
        if isinstance(channel, discord.Thread) and channel.name != conversation.title:
            with translated_errors(RENAME):
                await channel.edit(name=conversation.title[:TITLE_LENGTH])
    except FootnoteError as error:
        _log.info("The thread of %s was not renamed: %s", conversation.id, error)


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


def completion_of(row: Command, option: str, handler: InteractionHandler) -> Completion:
    """Return a function that completes an option of a row."""

    async def complete(interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
        try:
            call = await handler.call(interaction, row.name)
            found = await handler.parts.commands.complete(call, option, current)
        except FootnoteError as error:  # the command itself will show it
            _log.info("No completions: %s", error)
            return []
        fitting = [item for item in found if len(item.value) <= CHOICE_LENGTH]
        return [
            app_commands.Choice(name=item.label[:CHOICE_LENGTH], value=item.value) for item in fitting[:MAX_CHOICES]
        ]

    return complete
