"""Buttons and menus under answers. What is pressed says by its name what it means, so that a restart changes nothing.

Everything but a new question is shown to the one who pressed alone.
"""

from collections.abc import Mapping

import discord

from bot.action_names import ActionName, Verb, post_id
from bot.discordbot.commands import threads_post
from bot.discordbot.errors import POST, understood
from bot.discordbot.interactions import Desk, in_time, notice, show
from bot.discordbot.layout import DiscordPost
from bot.discordbot.render_passages import Neighbours, passages_view
from bot.discordbot.render_running import how_view
from bot.discordbot.translate import is_private, private_reader
from bot.discordbot.views import to_view
from core.commands import Question
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import Conversation, Message, ThreadAddress
from core.domain.feedback import Rating
from core.domain.inbox import InboxEntry
from core.errors import AccessDenied, BadInput, FootnoteError, NotFound
from core.passages import surroundings
from core.stored_answers import stored_ids

NO_ACTION = "This button is from an earlier version: ask again."
_RATINGS: Mapping[Verb, Rating] = {Verb.UP: Rating.UP, Verb.DOWN: Rating.DOWN}
_THANKS = {
    Rating.UP: "Noted as helpful: thank you.",
    Rating.DOWN: "Noted as not helpful: thank you. Ask in other words, or look at how it was answered.",
}
LOOKED_THROUGH = 50  # newest messages of a thread among which a running question is looked for


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
            case Verb.STOP:
                await show(interaction, await in_time(interaction, _stop(desk, interaction, pressed)))
            case Verb.ASK | Verb.CHOOSE:
                await _ask(desk, interaction, pressed, values)
            case Verb.PAGE:
                await _turn(desk, interaction, pressed)
            case _:
                await show(interaction, notice(NO_ACTION))
    except FootnoteError as error:
        await show(interaction, notice(str(error)))


async def _passages(desk: Desk, interaction: discord.Interaction, pressed: ActionName) -> DiscordPost:
    conversation, message = await _answer(desk, interaction, pressed.id)
    scope = await desk.parts.access.scope(conversation.address.workspace, conversation.address)
    around = {item.number: await surroundings(item, desk.parts.corpus, scope) for item in message.citations}
    readable = tuple(item for item in message.citations if around[item.number].quote)
    if not readable:
        raise NotFound("The pages behind this answer can't be read here any more: ask again.")
    links = {item.number: desk.parts.link(item, conversation.address) for item in readable}
    return passages_view(
        Answer(status=AnswerStatus.ANSWERED, text=message.content, citations=readable),
        {number: Neighbours(before=item.before, behind=item.behind, note=item.note) for number, item in around.items()},
        {number: link for number, link in links.items() if link is not None},
    )


async def _rate(desk: Desk, interaction: discord.Interaction, pressed: ActionName) -> DiscordPost:
    conversation, message = await _answer(desk, interaction, pressed.id)
    rating = _RATINGS[pressed.verb]
    person = str(interaction.user.id)
    before = (await desk.parts.feedbacks.ratings_by(person, conversation)).get(message.id)
    given = None if before is rating else rating
    await desk.parts.feedbacks.rate(conversation, message.id, person, given)
    return notice(_THANKS[given] if given is not None else "Taken back.")


async def _how(desk: Desk, interaction: discord.Interaction, pressed: ActionName) -> DiscordPost:
    """The tree of an answer; of one in the making, as far as it is."""
    place = await desk.place_of(interaction)
    entry = await _entry(desk, interaction, pressed.id)
    if entry is not None:
        _require_reader(entry.address, interaction)
        return how_view(await desk.parts.jobs.tree(stored_ids(entry.incoming).request, place.workspace))
    _, message = await _answer(desk, interaction, pressed.id)
    if message.job_id is None:
        raise NotFound("No steps were recorded for this answer.")
    return how_view(await desk.parts.jobs.tree(message.job_id, place.workspace))


async def _stop(desk: Desk, interaction: discord.Interaction, pressed: ActionName) -> DiscordPost:
    entry = await _entry(desk, interaction, pressed.id)
    if entry is None or entry.status.is_final:
        raise NotFound("There is nothing to stop: this answer is done.")
    await desk.parts.worker.cancel(entry.message_key, str(interaction.user.id))
    return notice("Stopped.")


async def _ask(desk: Desk, interaction: discord.Interaction, pressed: ActionName, values: tuple[str, ...]) -> None:
    """Put a suggested question, or a choice, in the name of the one who pressed."""
    conversation, message = await _answer(desk, interaction, pressed.id)
    outcome = message.outcome
    offered = () if outcome is None else outcome.suggestions if pressed.verb is Verb.ASK else outcome.choices
    wanted = values[0] if values else str(pressed.n)
    if not wanted.isdecimal() or int(wanted) >= len(offered):
        raise BadInput(NO_ACTION)
    await desk.ask(interaction, Question(text=offered[int(wanted)], private=is_private(conversation.address)))


async def _turn(desk: Desk, interaction: discord.Interaction, pressed: ActionName) -> None:
    """Another page of a list, in place of the one shown."""
    options = {"show": pressed.id, "page": str(pressed.n or 1)}
    result = await desk.parts.commands.run(await desk.call(interaction, "threads", options))
    view = to_view(threads_post(interaction, options, result).parts[0])
    view.stop()
    with understood(POST):
        await interaction.response.edit_message(view=view)


async def _answer(desk: Desk, interaction: discord.Interaction, message_id: str) -> tuple[Conversation, Message]:
    """The answer of a post in this place. Of a private one only its reader may see more, wherever it came to."""
    place = await desk.place_of(interaction)
    conversation, message = await desk.parts.conversations.message(message_id, place.workspace)
    _require_reader(conversation.address, interaction)
    if conversation.address != place and not is_private(conversation.address):
        raise AccessDenied("This answer belongs to another thread: press the button there.")
    return conversation, message


def _require_reader(address: ThreadAddress, interaction: discord.Interaction) -> None:
    if is_private(address) and private_reader(address) != interaction.user.id:
        raise AccessDenied("This answer is for somebody else's eyes.")


async def _entry(desk: Desk, interaction: discord.Interaction, wanted: str) -> InboxEntry | None:
    """The question behind a post without a stored answer, whichever process works on it, or gave it up."""
    place = await desk.place_of(interaction)
    author = str(interaction.user.id)
    entries = await desk.parts.entries.recent(place.workspace, address=place, limit=LOOKED_THROUGH)
    entries += await desk.parts.entries.recent(place.workspace, author=author, limit=LOOKED_THROUGH)
    return next((entry for entry in entries if post_id(entry.message_key) == wanted), None)
