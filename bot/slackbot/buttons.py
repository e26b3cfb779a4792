"""Buttons and menus on Slack. What is pressed says by its name what it means, so that a restart changes nothing.

Everything but a question and a shared answer is shown to the one who pressed alone. Errors are raised: their sentences
are for that person (`Desk.guarded`).
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

from bot.presentation.action_names import ActionName, Verb
from bot.presentation.answer_actions import NO_ACTION, AnswerActions
from bot.presentation.answer_text import reference_rows
from bot.slackbot import blocks
from bot.slackbot.forms import open_form
from bot.slackbot.interaction_context import Act, whereabouts
from bot.slackbot.interactions import Desk
from bot.slackbot.layout import View
from bot.slackbot.render_passages import passages_view
from bot.slackbot.render_references import references_post
from bot.slackbot.render_running import how_view
from bot.slackbot.results import threads_post
from bot.slackbot.sharing import share
from core.domain.features import Rating
from core.errors import BadInput, FootnoteError

LOADING_SECONDS = 1.0  # a modal has to be open within three; what is read longer comes into it afterwards
PASSAGES = "Passages"  # titles of the modals while they are read for
HOW = "How it was answered"
LOADING = "I am reading: one moment."


async def press(desk: Desk, act: Act, name: ActionName, values: tuple[str, ...]) -> None:
    """Do what a button means, or a menu with its `values`. Raises core errors."""
    actions = AnswerActions(desk.parts)
    place, reader = await desk.place(act), act.person
    if name.verb in (Verb.PASSAGES, Verb.HOW, Verb.REFERENCES) and not act.is_ephemeral:
        await desk.require_open(act)
    match name.verb:
        case Verb.PASSAGES:
            await _show_view(desk, act, PASSAGES, _passages(desk, act, name))
        case Verb.HOW:
            await _show_view(desk, act, HOW, _how(desk, act, name))
        case Verb.REFERENCES:
            answer = await actions.references(place, reader, name.id)
            await desk.show(act, references_post(reference_rows(answer)))
        case Verb.RATE | Verb.UP | Verb.DOWN:
            await desk.say(act, await actions.rate(place, reader, name.id, _rating(name, values)))
        case Verb.STOP:
            await desk.say(act, await actions.stop(place, reader, name.id))
        case Verb.ASK | Verb.CHOOSE:
            wanted = values[0] if values and name.verb is Verb.CHOOSE else str(name.n)
            await desk.ask(act, await actions.offered_question(place, reader, name.id, name.verb, wanted))
        case Verb.AGAIN:
            asker = await desk.people.name(act.team, reader)
            await desk.say(act, await actions.ask_again(place, reader, asker, name.id))
        case Verb.SHARE:
            await share(desk, act, name)
        case Verb.PAGE:
            await _turn(desk, act, name)
        case Verb.FORM:
            await open_form(desk, act, name.id)
        case _:
            raise BadInput(NO_ACTION)


async def _passages(desk: Desk, act: Act, name: ActionName) -> View:
    shown = await AnswerActions(desk.parts).passages(await desk.place(act), act.person, name.id)
    return passages_view(shown.answer, shown.around, shown.links, page=name.n or 1)


async def _how(desk: Desk, act: Act, name: ActionName) -> View:
    return how_view(await AnswerActions(desk.parts).steps(await desk.place(act), act.person, name.id))


async def _show_view(desk: Desk, act: Act, title: str, reading: Coroutine[Any, Any, View]) -> None:
    """A modal with what is read; in a modal, its next content. Where reading takes long, it is open before."""
    task = asyncio.ensure_future(reading)
    try:
        if act.view_id:
            await desk.update(act, act.view_id, _here(act, await task))
            return
        done, _ = await asyncio.wait({task}, timeout=LOADING_SECONDS)
        if done:
            await desk.open(act, _here(act, task.result()))
            return
        view_id = await desk.open(act, _words(title, LOADING))
        try:
            view = await task
        except FootnoteError as error:
            view = _words(title, str(error))
        await desk.update(act, view_id, _here(act, view))
    finally:
        task.cancel()


def _here(act: Act, view: View) -> View:
    """A view whose buttons know where it was opened."""
    return {**view, "private_metadata": whereabouts(act)}


def _words(title: str, sentence: str) -> View:
    return blocks.modal(title, [blocks.context(sentence)])


def _rating(name: ActionName, values: tuple[str, ...]) -> Rating:
    """Of a pair of buttons by the value, of one button by its verb."""
    told = values[0] if values and name.verb is Verb.RATE else name.verb.value
    if told not in set(Rating):
        raise BadInput(NO_ACTION)
    return Rating(told)


async def _turn(desk: Desk, act: Act, name: ActionName) -> None:
    """Another page of a list, in place of the one shown; where that is gone, as a new one."""
    options = {"show": name.id, "page": str(name.n or 1)}
    result = await desk.parts.commands.run(await desk.call(act, "threads", options))
    post = threads_post(act, options, result)
    if not await desk.replace(act, post.parts[0]):
        await desk.show(act, post)
