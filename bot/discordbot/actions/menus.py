"""Actions on any message, by its context menu: ask about it, or keep it as an answer.

A form's custom id is `{kind}@{channel}/{message}`, so a form also works after a restart.
"""

from typing import Any

import discord
from discord import app_commands, ui

from bot.discordbot.actions.handler import InteractionHandler, guarded, notice, show
from bot.discordbot.delivery.errors import POST, translated_errors
from bot.discordbot.events.translate import jump_link, to_talk, to_text
from bot.presentation.action_names import find_answer
from bot.presentation.answer_actions import PlatformMessage
from bot.presentation.platform_text import (
    ASK_ABOUT,
    ASK_ABOUT_QUESTION,
    KEEP_ANSWER,
    KEEP_ANSWER_QUESTION,
    OLD_FORM,
    QUESTION_LENGTH,
)
from core.errors import AccessDenied, BadInput
from core.work.commands import Question

ABOUT_FORM = "fnform:about"
KEEP_FORM = "fnform:keep"
FIELD = "fnfield:question"


def bind(tree: app_commands.CommandTree[Any], handler: InteractionHandler) -> None:
    """Add both menus; the second only if answers can be kept."""

    async def ask_about(interaction: discord.Interaction, message: discord.Message) -> None:
        await _open_form(interaction, message, ABOUT_FORM, ASK_ABOUT, ASK_ABOUT_QUESTION)

    async def keep(interaction: discord.Interaction, message: discord.Message) -> None:
        await guarded(interaction, _keep(handler, interaction, message))

    tree.add_command(app_commands.ContextMenu(name=ASK_ABOUT, callback=ask_about))
    if handler.parts.keeping is not None:
        tree.add_command(app_commands.ContextMenu(name=KEEP_ANSWER, callback=keep))


async def submit(handler: InteractionHandler, interaction: discord.Interaction) -> None:
    """Answer a form; its errors are shown to its sender."""
    await guarded(interaction, _submit(handler, interaction))


async def _submit(handler: InteractionHandler, interaction: discord.Interaction) -> None:
    data: Any = interaction.data
    kind, channel_id, message_id = _read_form(data["custom_id"])
    if channel_id != interaction.channel_id:  # the sender may not be able to see the other channel
        raise AccessDenied("This form is for a message of another channel. Choose the message there.")
    text = next(item["component"]["value"] for item in data["components"] if item["component"]["custom_id"] == FIELD)
    channel = (await handler.platform.destinations.thread(channel_id)).channel
    with translated_errors("read the message"):
        message = await channel.fetch_message(message_id)
    if kind == ABOUT_FORM:
        await handler.ask(interaction, Question(text=text), about=to_talk(message, _me(handler)))
    else:
        await _store(handler, interaction, message, question=text)


def _read_form(name: str) -> tuple[str, int, int]:
    """Return a form's kind, channel and message. Raises BadInput for an unknown form."""
    kind, _, place = name.partition("@")
    channel, _, message = place.partition("/")
    if kind not in (ABOUT_FORM, KEEP_FORM) or not (channel.isdecimal() and message.isdecimal()):
        raise BadInput(OLD_FORM)
    return kind, int(channel), int(message)


async def _keep(handler: InteractionHandler, interaction: discord.Interaction, message: discord.Message) -> None:
    """Keep one of the bot's answers with its question; for a message of a person, ask which question it answers."""
    address = await handler.address_of(interaction)
    question = await handler.answers.question_behind(address, _to_platform_message(handler, interaction, message))
    if question is None:
        await _open_form(interaction, message, KEEP_FORM, KEEP_ANSWER, KEEP_ANSWER_QUESTION)
    else:
        await _store(handler, interaction, message, question=question)


async def _store(
    handler: InteractionHandler, interaction: discord.Interaction, message: discord.Message, *, question: str
) -> None:
    with translated_errors(POST):
        await interaction.response.defer(ephemeral=True, thinking=True)
    address, kept = await handler.address_of(interaction), _to_platform_message(handler, interaction, message)
    author, name = str(interaction.user.id), interaction.user.display_name
    sentence = await handler.answers.keep(address, kept, question=question, author=author, author_name=name)
    await show(interaction, notice(sentence))


def _to_platform_message(
    handler: InteractionHandler, interaction: discord.Interaction, message: discord.Message
) -> PlatformMessage:
    is_ours = message.author.id == _me(handler)
    return PlatformMessage(
        text=to_text(message, _me(handler)),
        link=jump_link(interaction.guild_id, str(message.channel.id), str(message.id)),
        is_ours=is_ours,
        is_direct=interaction.guild_id is None,
        id=str(message.id),
        by="" if is_ours else str(message.author.id),
        by_name=message.author.display_name,
        is_closed=isinstance(interaction.channel, discord.Thread) and interaction.channel.is_private(),
        answer_id=find_answer(message.components) if is_ours else None,
    )


async def _open_form(
    interaction: discord.Interaction, message: discord.Message, kind: str, title: str, label: str
) -> None:
    form = ui.Modal(title=title, custom_id=f"{kind}@{message.channel.id}/{message.id}", timeout=None)
    field: ui.TextInput[ui.Modal] = ui.TextInput(
        custom_id=FIELD, style=discord.TextStyle.paragraph, max_length=QUESTION_LENGTH
    )
    form.add_item(ui.Label(text=label, component=field))
    with translated_errors(POST):
        await interaction.response.send_modal(form)


def _me(handler: InteractionHandler) -> int:
    return handler.client.user.id if handler.client.user is not None else 0
