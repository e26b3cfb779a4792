"""Buttons and menus below posts. Their custom ids name their actions, so they also work after a restart.

Only the person who pressed one sees the result, except for a new question.
"""

from typing import Any, TypeAlias

import discord
from discord import ui

from bot.discordbot.actions import additions
from bot.discordbot.actions.commands import run_command, threads_post
from bot.discordbot.actions.handler import InteractionHandler, guarded, in_time, may_moderate, notice, show
from bot.discordbot.delivery.errors import POST, translated_errors
from bot.discordbot.events.translate import jump_link
from bot.discordbot.rendering.answers import PLAIN, passages_post
from bot.discordbot.rendering.components import DiscordPost, PartView, more_row, to_view
from bot.discordbot.rendering.texts import steps_post, text_post
from bot.presentation.action_names import PATTERN, ActionName, Verb, read_action_name
from bot.presentation.answer_actions import NO_ACTION, PlatformMessage
from bot.presentation.answer_buttons import chosen_action
from bot.presentation.answer_text import references_markdown
from core.domain.features import Rating

Control: TypeAlias = ui.Button[Any] | ui.Select[Any]


def bind(client: discord.Client, handler: InteractionHandler) -> None:
    """Answer the buttons and menus of all our posts, also of earlier processes."""

    class AnswerControl(ui.DynamicItem[Control], template=PATTERN):
        """A button or menu, recognised by its custom id."""

        @classmethod
        async def from_custom_id(
            cls, interaction: discord.Interaction, item: ui.Item[Any], match: object, /
        ) -> "AnswerControl":
            return cls(item)  # type: ignore[arg-type]  # items with a custom id are buttons and menus

        async def callback(self, interaction: discord.Interaction) -> None:
            name = read_action_name(self.custom_id)
            values = self.item.values if isinstance(self.item, ui.Select) else []
            if name is not None:
                await guarded(interaction, press(handler, interaction, name, values))

    client.add_dynamic_items(AnswerControl)


async def press(
    handler: InteractionHandler, interaction: discord.Interaction, name: ActionName, values: list[str]
) -> None:
    """Run the action of a button, or of a menu with its `values`. Raises core errors."""
    if name.verb is Verb.MORE and values:
        name = chosen_action(name, values[0]) or name
    match name.verb:
        case Verb.MUTE:
            await run_command(handler, interaction, "mute", {})
        case Verb.ASK | Verb.CHOOSE:
            address = await handler.address_of(interaction)
            place = values[0] if values and name.verb is Verb.CHOOSE else str(name.n)
            question = await handler.answers.offered_question(
                address, str(interaction.user.id), name.id, name.verb, place
            )
            await handler.ask(interaction, question)
        case Verb.ADD | Verb.DISMISS | Verb.UNDO:
            await additions.press(handler, interaction, name)
        case Verb.HELP:
            await run_command(handler, interaction, "help", {"topic": values[0]} if values else {})
        case Verb.PAGE:
            await _turn_page(handler, interaction, name)
        case _:
            await show(interaction, await in_time(interaction, _result(handler, interaction, name)))


async def _result(handler: InteractionHandler, interaction: discord.Interaction, name: ActionName) -> DiscordPost:
    """Return the post that answers a button."""
    address, person, answers = await handler.address_of(interaction), interaction.user, handler.answers
    reader = str(person.id)
    match name.verb:
        case Verb.PASSAGES:
            shown = await answers.passages(address, reader, name.id)
            return passages_post(shown.answer, shown.around, shown.links)
        case Verb.MORE:
            return await _more(handler, interaction, name)
        case Verb.KEEP:
            return notice(await _keep(handler, interaction, name))
        case Verb.REFERENCES:
            return text_post(references_markdown(await answers.references(address, reader, name.id), PLAIN.plain))
        case Verb.UP | Verb.DOWN:
            return notice(await answers.rate(address, reader, name.id, Rating(name.verb.value)))
        case Verb.HOW:
            return steps_post(await answers.steps(address, reader, name.id))
        case Verb.STOP:
            return notice(await answers.stop(address, reader, name.id, is_moderator=may_moderate(interaction)))
        case Verb.AGAIN:
            return notice(await answers.ask_again(address, reader, person.display_name, name.id))
        case _:
            return notice(NO_ACTION)


async def _more(handler: InteractionHandler, interaction: discord.Interaction, name: ActionName) -> DiscordPost:
    """Return the menu behind ⋯."""
    reader = str(interaction.user.id)
    address = await handler.address_of(interaction)
    shown, is_private = await handler.answers.offers(address, reader, name.id)
    return DiscordPost(parts=(PartView(blocks=(more_row(shown, is_private=is_private, thread=address.thread),)),))


async def _keep(handler: InteractionHandler, interaction: discord.Interaction, name: ActionName) -> str:
    channel = str(interaction.channel_id)
    said = PlatformMessage(
        text="",
        link=jump_link(interaction.guild_id, channel, channel),
        is_ours=True,
        is_direct=interaction.guild_id is None,
        id=name.id,
        is_closed=isinstance(interaction.channel, discord.Thread) and interaction.channel.is_private(),
        answer_id=name.id,
    )
    address = await handler.address_of(interaction)
    return await handler.answers.propose(
        address, said, author=str(interaction.user.id), author_name=interaction.user.display_name
    )


async def _turn_page(handler: InteractionHandler, interaction: discord.Interaction, name: ActionName) -> None:
    """Replace a list by another page of it."""
    options = {"show": name.id, "page": str(name.n or 1)}
    result = await handler.parts.commands.run(await handler.call(interaction, "threads", options))
    with translated_errors(POST):
        await interaction.response.edit_message(view=to_view(threads_post(interaction, options, result).parts[0]))
