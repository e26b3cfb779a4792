"""Buttons and menus. Their action names hold everything they need, so they work after a restart.

Only questions and shared answers are public; any other result is shown to the person who pressed. Core errors are
raised for `InteractionHandler.guarded`.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from bot.presentation.action_names import ActionName, Verb, post_id
from bot.presentation.answer_actions import NO_ACTION, AnswerActions
from bot.presentation.answer_text import reference_rows
from bot.slackbot.actions.commands import open_form, threads_post
from bot.slackbot.actions.interaction_context import Act, whereabouts
from bot.slackbot.actions.interaction_handler import Desk
from bot.slackbot.events.translate import CHANNEL_ITSELF, thread_address
from bot.slackbot.rendering import blocks
from bot.slackbot.rendering.answers import RenderOptions, passages_view, render_answer
from bot.slackbot.rendering.blocks import View
from bot.slackbot.rendering.drafts import how_view
from bot.slackbot.rendering.lists import references_post, said_message
from core.answering.answers.stored import stored_ids, to_answer
from core.answering.steps.sharing import SHARED, Sharing
from core.domain.answer import AnswerStatus
from core.domain.conversation import Conversation, Message, ThreadAddress, message_key
from core.domain.features import Rating
from core.domain.jobs import Job
from core.domain.service import InboxEntry, InboxStatus, Receipt
from core.errors import BadInput, FootnoteError, NotFound

LOADING_SECONDS = 1.0  # a modal has to be open within three; what is read longer comes into it afterwards
PASSAGES = "Passages"  # titles of the modals while they are read for
HOW = "How it was answered"
LOADING = "I am reading: one moment."
SHARED_NOW = "Shared with the channel."
SHARED_BEFORE = "This answer was shared with the channel before."


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


async def share(desk: Desk, act: Act, name: ActionName) -> None:
    """Show a private answer to its channel, once. Raises core errors where it can't be shown there."""
    conversation, answer = await AnswerActions(desk.parts).answer(await desk.place(act), act.person, name.id)
    channel = replace(conversation.address, thread=CHANNEL_ITSELF)
    sharing = Sharing(conversations=desk.parts.conversations, corpus=desk.parts.corpus, access=desk.parts.access)
    await sharing.answer_for(channel, act.person, answer.id)  # before anybody sees that there is something
    key = await _free_key(desk, channel, answer.id)
    receipt = await _post(desk, act, conversation, answer, key) if key is not None else None
    if receipt is not None and not receipt.accepted:
        await desk.say(act, receipt.decision.sentence)
        return
    is_shown = await _without_button(desk, act, conversation, answer)
    if receipt is None or receipt.repeated:
        await desk.say(act, SHARED_BEFORE)
    elif not is_shown or act.is_direct:
        await desk.say(act, SHARED_NOW)


async def _free_key(desk: Desk, channel: ThreadAddress, answer_id: str) -> str | None:
    """The event key of this sharing; None: it is shared already, or about to be. What came to nothing is tried anew."""
    number = 1
    while True:
        key = message_key(channel, f"shared-{answer_id}-{number}")
        entry = await desk.parts.entries.find(key)
        if entry is None:
            return key
        if await _stands(desk, entry):
            return None
        number += 1


async def _stands(desk: Desk, entry: InboxEntry) -> bool:
    """Not so what a gate or the scope refused, what failed, and what was deleted since."""
    if entry.status is not InboxStatus.DONE:
        return not entry.status.is_final
    try:
        _, shown = await desk.parts.conversations.message(stored_ids(entry.incoming).answer, entry.workspace)
    except NotFound:
        return False
    return shown.status == AnswerStatus.ANSWERED.value


async def _post(desk: Desk, act: Act, conversation: Conversation, answer: Message, key: str) -> Receipt:
    """What is not taken in, or was by another press, does not stay as a message that nobody answers."""
    place = conversation.address
    question = await AnswerActions(desk.parts).question_of(conversation, answer) or conversation.title
    name = await desk.people.name(act.team, act.person)
    there = replace(act, channel=place.channel, thread=CHANNEL_ITSELF)
    ts = await desk.post(there, said_message(name, question, does="shares"))
    is_taken = False
    try:
        asked = await desk.bare(there, thread_address(place.workspace, place.channel, ts), ts)
        metadata = {**asked.metadata, SHARED: answer.id}
        receipt = await desk.parts.inbox.receive(replace(asked, text=question, event_key=key, metadata=metadata))
        is_taken = receipt.accepted and not receipt.repeated
    finally:
        if not is_taken:
            await desk.take_back(there, place.channel, ts)
    return receipt


async def _without_button(desk: Desk, act: Act, conversation: Conversation, answer: Message) -> bool:
    """The private answer as it was, but with nothing left to share; False where Slack does not take it any more."""
    jobs = await _jobs_of(desk, conversation, answer)
    key = str(jobs[0].input.get("message_key") or "") if jobs else ""
    options = RenderOptions(
        post_id=post_id(key) if key else answer.id,
        link=lambda citation: desk.parts.link(citation, conversation.address),
    )
    return await desk.replace(act, render_answer(to_answer(answer, jobs), options).parts[-1])


async def _jobs_of(desk: Desk, conversation: Conversation, answer: Message) -> list[Job]:
    """How an answer was made; empty where that is not kept any more."""
    if answer.job_id is None:
        return []
    try:
        return await desk.parts.jobs.tree(answer.job_id, conversation.address.workspace)
    except NotFound:
        return []
