"""Buttons and menus under answers. What is pressed says by its name what it means, so that a restart changes nothing.

Everything but a new question is shown to the one who pressed alone.
"""

from collections.abc import Mapping

import discord

from bot.discordbot.commands import threads_post
from bot.discordbot.errors import POST, understood
from bot.discordbot.interactions import Desk, in_time, notice, show
from bot.discordbot.layout import DiscordPost
from bot.discordbot.render_lists import text_view
from bot.discordbot.render_passages import passages_view
from bot.discordbot.render_running import how_view
from bot.discordbot.render_sources import PLAIN
from bot.discordbot.views import to_view
from bot.presentation.action_names import ActionName, Verb
from bot.presentation.answer_actions import NO_ACTION, AnswerActions
from bot.presentation.answer_text import references_markdown
from core.domain.features import Rating
from core.errors import FootnoteError

_RATINGS: Mapping[Verb, Rating] = {Verb.UP: Rating.UP, Verb.DOWN: Rating.DOWN}


async def press(desk: Desk, interaction: discord.Interaction, pressed: ActionName, values: tuple[str, ...]) -> None:
    """Do what a button means, or a menu with its `values`; errors are sentences for the one who pressed."""
    try:
        match pressed.verb:
            case Verb.PASSAGES:
                await show(interaction, await in_time(interaction, _passages(desk, interaction, pressed)))
            case Verb.UP | Verb.DOWN:
                await show(interaction, await in_time(interaction, _rate(desk, interaction, pressed)))
            case Verb.HOW:
                await show(interaction, await in_time(interaction, _how(desk, interaction, pressed)))
            case Verb.REFERENCES:
                await show(interaction, await in_time(interaction, _references(desk, interaction, pressed)))
            case Verb.STOP:
                await show(interaction, await in_time(interaction, _stop(desk, interaction, pressed)))
            case Verb.AGAIN:
                await show(interaction, await in_time(interaction, _again(desk, interaction, pressed)))
            case Verb.ASK | Verb.CHOOSE:
                await _ask(desk, interaction, pressed, values)
            case Verb.PAGE:
                await _turn(desk, interaction, pressed)
            case _:
                await show(interaction, notice(NO_ACTION))
    except FootnoteError as error:
        await show(interaction, notice(str(error)))


async def _passages(desk: Desk, interaction: discord.Interaction, pressed: ActionName) -> DiscordPost:
    place = await desk.place_of(interaction)
    shown = await AnswerActions(desk.parts).passages(place, str(interaction.user.id), pressed.id)
    return passages_view(shown.answer, shown.around, shown.links)


async def _references(desk: Desk, interaction: discord.Interaction, pressed: ActionName) -> DiscordPost:
    place = await desk.place_of(interaction)
    answer = await AnswerActions(desk.parts).references(place, str(interaction.user.id), pressed.id)
    return text_view(references_markdown(answer, PLAIN.plain))


async def _rate(desk: Desk, interaction: discord.Interaction, pressed: ActionName) -> DiscordPost:
    place = await desk.place_of(interaction)
    rating = _RATINGS[pressed.verb]
    return notice(await AnswerActions(desk.parts).rate(place, str(interaction.user.id), pressed.id, rating))


async def _how(desk: Desk, interaction: discord.Interaction, pressed: ActionName) -> DiscordPost:
    place = await desk.place_of(interaction)
    return how_view(await AnswerActions(desk.parts).steps(place, str(interaction.user.id), pressed.id))


async def _stop(desk: Desk, interaction: discord.Interaction, pressed: ActionName) -> DiscordPost:
    place = await desk.place_of(interaction)
    return notice(await AnswerActions(desk.parts).stop(place, str(interaction.user.id), pressed.id))


async def _again(desk: Desk, interaction: discord.Interaction, pressed: ActionName) -> DiscordPost:
    place, person = await desk.place_of(interaction), interaction.user
    return notice(await AnswerActions(desk.parts).ask_again(place, str(person.id), person.display_name, pressed.id))


async def _ask(desk: Desk, interaction: discord.Interaction, pressed: ActionName, values: tuple[str, ...]) -> None:
    """Put a suggested question, or a choice, in the name of the one who pressed."""
    place = await desk.place_of(interaction)
    wanted = values[0] if values else str(pressed.n)
    actions = AnswerActions(desk.parts)
    await desk.ask(
        interaction, await actions.offered_question(place, str(interaction.user.id), pressed.id, pressed.verb, wanted)
    )


async def _turn(desk: Desk, interaction: discord.Interaction, pressed: ActionName) -> None:
    """Another page of a list, in place of the one shown."""
    options = {"show": pressed.id, "page": str(pressed.n or 1)}
    result = await desk.parts.commands.run(await desk.call(interaction, "threads", options))
    view = to_view(threads_post(interaction, options, result).parts[0])
    view.stop()
    with understood(POST):
        await interaction.response.edit_message(view=view)
