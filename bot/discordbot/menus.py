"""What can be done with any message: ask about it, or keep it as an answer."""

import re
from typing import Any

import discord
from discord import app_commands, ui

from bot.discordbot.errors import POST, understood
from bot.discordbot.interactions import Desk, jump_link, notice, show
from bot.discordbot.translate import to_talk, to_text
from bot.presentation.action_names import find_answer
from bot.presentation.answer_actions import AnswerActions, PlatformMessage
from core.errors import AccessDenied, BadInput, FootnoteError
from core.service.commands import Question

ASK_ABOUT = "Ask about this"
KEEP = "Keep as answer"
# Names of forms and their field: `{kind}@{channel}/{message}`; they work after a restart, as buttons do.
ABOUT_FORM = "fnform:about"
KEEP_FORM = "fnform:keep"
FIELD = "fnfield:question"
_FORM = re.compile(rf"(?P<kind>{ABOUT_FORM}|{KEEP_FORM})@(?P<channel>\d{{1,20}})/(?P<message>\d{{1,20}})")
QUESTION_LENGTH = 2_000


def bind(tree: app_commands.CommandTree[Any], desk: Desk) -> None:
    """Both menus; keeping needs somewhere to keep."""

    async def ask_about(interaction: discord.Interaction, message: discord.Message) -> None:
        await _open_form(interaction, message, ABOUT_FORM, ASK_ABOUT, "What do you want to know about it?")

    async def keep(interaction: discord.Interaction, message: discord.Message) -> None:
        await _keep(desk, interaction, message)

    tree.add_command(app_commands.ContextMenu(name=ASK_ABOUT, callback=ask_about))
    if desk.parts.keeping is not None:
        tree.add_command(app_commands.ContextMenu(name=KEEP, callback=keep))


async def submit(desk: Desk, interaction: discord.Interaction, form: str, text: str) -> None:
    """A form was sent: `form` is its name, `text` what stands in its field."""
    try:
        kind, channel_id, message_id = _read_form(form)
        if channel_id != interaction.channel_id:  # who acts here need not be able to see what stands elsewhere
            raise AccessDenied("This form is for a message of another channel: choose the message there.")
        message = await _fetch(desk, channel_id, message_id)
        if kind == ABOUT_FORM:
            await desk.ask(interaction, Question(text=text), about=to_talk(message, _me(desk)))
        else:
            await _store(desk, interaction, message, question=text)
    except FootnoteError as error:
        await show(interaction, notice(str(error)))


def _read_form(name: str) -> tuple[str, int, int]:
    """The kind of a form, the channel and the message that it is about. BadInput for a form that is not ours."""
    found = _FORM.fullmatch(name)
    if found is None:
        raise BadInput("This form is from an earlier version: choose the message again.")
    return found["kind"], int(found["channel"]), int(found["message"])


def text_of(data: Any) -> str:
    """What stands in the form's field, from the interaction's payload."""
    for row in data.get("components", ()):
        for field in [row.get("component"), *row.get("components", ())]:
            if field and field.get("custom_id") == FIELD:
                return str(field.get("value", ""))
    return ""


async def _keep(desk: Desk, interaction: discord.Interaction, message: discord.Message) -> None:
    """Of our own answers the question is known; of people's, it is asked for."""
    try:
        place = await desk.place_of(interaction)
        question = await AnswerActions(desk.parts).question_behind(place, _said(desk, interaction, message))
        if question is None:
            await _open_form(interaction, message, KEEP_FORM, KEEP, "Which question does it answer?")
        else:
            await _store(desk, interaction, message, question=question)
    except FootnoteError as error:
        await show(interaction, notice(str(error)))


async def _store(desk: Desk, interaction: discord.Interaction, message: discord.Message, *, question: str) -> None:
    with understood(POST):
        await interaction.response.defer(ephemeral=True, thinking=True)
    place, said = await desk.place_of(interaction), _said(desk, interaction, message)
    by = interaction.user.display_name
    await show(interaction, notice(await AnswerActions(desk.parts).keep(place, said, question=question, by=by)))


def _said(desk: Desk, interaction: discord.Interaction, message: discord.Message) -> PlatformMessage:
    is_ours = message.author.id == _me(desk)
    return PlatformMessage(
        text=to_text(message, _me(desk)),
        link=jump_link(interaction.guild_id, str(message.channel.id), str(message.id)),
        is_ours=is_ours,
        is_direct=interaction.guild_id is None,
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
    with understood(POST):
        await interaction.response.send_modal(form)


async def _fetch(desk: Desk, channel_id: int, message_id: int) -> discord.Message:
    channel = (await desk.platform.places.thread(channel_id)).channel
    with understood("read the message"):
        return await channel.fetch_message(message_id)


def _me(desk: Desk) -> int:
    return desk.client.user.id if desk.client.user is not None else 0
