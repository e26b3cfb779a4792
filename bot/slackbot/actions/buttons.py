"""Buttons and menus. Their action names hold everything they need, so they work after a restart.

Only questions and shared answers are public; any other result is shown to the person who pressed. Core errors are
raised for `InteractionHandler.guarded`.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from bot.presentation.action_names import ActionName, Verb, post_id
from bot.presentation.answer_actions import NO_ACTION, AnswerActions, PlatformMessage
from bot.presentation.answer_buttons import HOW_LABEL, chosen_action
from bot.presentation.answer_text import reference_rows
from bot.slackbot.actions import additions
from bot.slackbot.actions.commands import open_form, run_command, threads_post
from bot.slackbot.actions.home import follow_question
from bot.slackbot.actions.interaction_handler import InteractionContext, InteractionHandler, encode_origin
from bot.slackbot.events.manifest import ADD_DOCUMENTS
from bot.slackbot.events.translate import CHANNEL_ITSELF, thread_address
from bot.slackbot.rendering import blocks
from bot.slackbot.rendering.answers import RenderOptions, passages_view, render_answer
from bot.slackbot.rendering.blocks import View
from bot.slackbot.rendering.drafts import how_view
from bot.slackbot.rendering.lists import references_post, said_message
from core.answering.answers.settled import to_answer
from core.answering.answers.stored import stored_ids
from core.answering.steps.private_answers import SHARED, Sharing
from core.domain.answer import AnswerStatus, Provenance
from core.domain.conversation import Conversation, Message
from core.domain.features import Rating
from core.domain.incoming import ThreadAddress, message_key
from core.domain.jobs import Job
from core.domain.service import InboxEntry, InboxStatus, Receipt
from core.errors import BadInput, FootnoteError, NotFound
from core.work.commands import CommandResult

LOADING_SECONDS = 1.0  # Slack closes the trigger after 3
SOURCES = "Sources"  # title of the modal while it loads
LOADING = "Loading. One moment."
SHARED_NOW = "Shared with the channel."
SHARED_BEFORE = "This answer is already shared with the channel."


async def press(
    handler: InteractionHandler, ctx: InteractionContext, name: ActionName, values: tuple[str, ...]
) -> None:
    """Run the action of a button, or of a menu with its `values`. Raises core errors."""
    actions = AnswerActions(handler.parts)
    place, reader = await handler.address_of(ctx), ctx.person
    if name.verb is Verb.MORE and values:
        name = chosen_action(name, values[0]) or name
    if name.verb in (Verb.PASSAGES, Verb.HOW, Verb.REFERENCES) and not ctx.is_ephemeral:
        await handler.require_open(ctx)
    match name.verb:
        case Verb.PASSAGES:
            await _show_view(handler, ctx, SOURCES, _passages(handler, ctx, name))
        case Verb.HOW:
            await _show_view(handler, ctx, HOW_LABEL, _how(handler, ctx, name))
        case Verb.REFERENCES:
            answer = await actions.references(place, reader, name.id)
            basis = answer.rests_on or Provenance()
            shown = CommandResult(text="", citations=answer.citations, rests_on=basis)
            await handler.show(ctx, references_post(reference_rows(answer)), result=shown)
        case Verb.RATE | Verb.UP | Verb.DOWN:
            await handler.say(ctx, await actions.rate(place, reader, name.id, _rating(name, values)))
        case Verb.STOP:
            is_admin = await handler.people.is_admin(ctx.team, reader)
            await handler.say(ctx, await actions.stop(place, reader, name.id, is_moderator=is_admin))
        case Verb.ASK | Verb.CHOOSE:
            wanted = values[0] if values and name.verb is Verb.CHOOSE else str(name.n)
            await handler.ask(ctx, await actions.offered_question(place, reader, name.id, name.verb, wanted))
        case Verb.AGAIN:
            asker = await handler.people.name(ctx.team, reader)
            await handler.say(ctx, await actions.ask_again(place, reader, asker, name.id))
        case Verb.SHARE:
            await share(handler, ctx, name)
        case Verb.HELP:
            await run_command(handler, ctx, "help", {"topic": values[0]} if values else {})
        case Verb.MUTE:
            await run_command(handler, ctx, "mute", {})
        case Verb.KEEP:
            await handler.say(ctx, await _keep(handler, ctx, name))
        case Verb.PAGE:
            await _turn(handler, ctx, name)
        case Verb.ADD | Verb.DISMISS | Verb.UNDO | Verb.ADDFILES | Verb.ASKFILES:
            await additions.press(handler, ctx, name)
        case Verb.FORM if name.id == ADD_DOCUMENTS:
            await additions.open_form(handler, ctx)
        case Verb.FORM if name.id == "ask" and values:
            receipt = await run_command(handler, ctx, name.id, {"question": values[0]})
            handler.spawn(follow_question(handler, ctx, receipt))
        case Verb.FORM:
            await open_form(handler, ctx, name.id)
        case _:
            raise BadInput(NO_ACTION)


async def _keep(handler: InteractionHandler, ctx: InteractionContext, name: ActionName) -> str:
    said = PlatformMessage(
        text="",
        link=ctx.team.permalink(ctx.channel, ctx.message_ts, ctx.thread),
        is_ours=True,
        is_direct=ctx.is_direct,
        id=ctx.message_ts,
        answer_id=name.id,
    )
    author_name = await handler.people.name(ctx.team, ctx.person)
    return await AnswerActions(handler.parts).propose(
        await handler.address_of(ctx), said, author=ctx.person, author_name=author_name
    )


async def _passages(handler: InteractionHandler, ctx: InteractionContext, name: ActionName) -> View:
    shown = await AnswerActions(handler.parts).passages(await handler.address_of(ctx), ctx.person, name.id)
    return passages_view(shown.answer, shown.around, shown.links, page=name.n or 1)


async def _how(handler: InteractionHandler, ctx: InteractionContext, name: ActionName) -> View:
    return how_view(await AnswerActions(handler.parts).steps(await handler.address_of(ctx), ctx.person, name.id))


async def _show_view(
    handler: InteractionHandler, ctx: InteractionContext, title: str, reading: Coroutine[Any, Any, View]
) -> None:
    """Show a modal, or update the open one. If reading takes long, open a placeholder first."""
    task = asyncio.ensure_future(reading)
    try:
        if ctx.view_id:
            await handler.update(ctx, ctx.view_id, _here(ctx, await task))
            return
        done, _ = await asyncio.wait({task}, timeout=LOADING_SECONDS)
        if done:
            await handler.open(ctx, _here(ctx, task.result()))
            return
        view_id = await handler.open(ctx, _words(title, LOADING))
        try:
            view = await task
        except FootnoteError as error:
            view = _words(title, str(error))
        await handler.update(ctx, view_id, _here(ctx, view))
    finally:
        task.cancel()


def _here(ctx: InteractionContext, view: View) -> View:
    return {**view, "private_metadata": encode_origin(ctx)}


def _words(title: str, sentence: str) -> View:
    return blocks.modal(title, [blocks.context(sentence)])


def _rating(name: ActionName, values: tuple[str, ...]) -> Rating:
    """Return the rating of a pair of buttons (by value) or of a single button (by verb)."""
    told = values[0] if values and name.verb is Verb.RATE else name.verb.value
    if told not in set(Rating):
        raise BadInput(NO_ACTION)
    return Rating(told)


async def _turn(handler: InteractionHandler, ctx: InteractionContext, name: ActionName) -> None:
    """Replace a list by another page of it; if the message can't be replaced, show a new one."""
    options = {"show": name.id, "page": str(name.n or 1)}
    result = await handler.parts.commands.run(await handler.call(ctx, "threads", options))
    post = threads_post(ctx, options, result)
    if not await handler.replace(ctx, post.parts[0]):
        await handler.show(ctx, post)


async def share(handler: InteractionHandler, ctx: InteractionContext, name: ActionName) -> None:
    """Show a private answer to its channel, once. Raises core errors."""
    conversation, answer = await AnswerActions(handler.parts).answer(await handler.address_of(ctx), ctx.person, name.id)
    channel = replace(conversation.address, thread=CHANNEL_ITSELF)
    sharing = Sharing(
        conversations=handler.parts.conversations, corpus=handler.parts.corpus, access=handler.parts.access
    )
    await sharing.answer_for(
        channel, ctx.person, answer.id
    )  # checks access before the message shows that an answer exists
    key = await _free_key(handler, channel, answer.id)
    receipt = await _post(handler, ctx, conversation, answer, key) if key is not None else None
    if receipt is not None and not receipt.accepted:
        await handler.say(ctx, receipt.decision.sentence)
        return
    is_shown = await _hide_share_button(handler, ctx, conversation, answer)
    if receipt is None or receipt.repeated:
        await handler.say(ctx, SHARED_BEFORE)
    elif not is_shown or ctx.is_direct:
        await handler.say(ctx, SHARED_NOW)


async def _free_key(handler: InteractionHandler, channel: ThreadAddress, answer_id: str) -> str | None:
    """Return an unused event key for this sharing, or None if the answer is shared or about to be."""
    number = 1
    while True:
        key = message_key(channel, f"shared-{answer_id}-{number}")
        entry = await handler.parts.entries.find(key)
        if entry is None:
            return key
        if await _took_effect(handler, entry):
            return None
        number += 1


async def _took_effect(handler: InteractionHandler, entry: InboxEntry) -> bool:
    """Return whether a sharing took effect: it wasn't refused, didn't fail, and its answer wasn't deleted."""
    if entry.status is not InboxStatus.DONE:
        return not entry.status.is_final
    try:
        _, shown = await handler.parts.conversations.message(stored_ids(entry.incoming).answer, entry.workspace)
    except NotFound:
        return False
    return shown.status == AnswerStatus.ANSWERED.value


async def _post(
    handler: InteractionHandler, ctx: InteractionContext, conversation: Conversation, answer: Message, key: str
) -> Receipt:
    """Post the sharer's message and queue the answer below it; delete it if the inbox refuses the answer."""
    place = conversation.address
    question = await AnswerActions(handler.parts).question_of(conversation, answer) or conversation.title
    name = await handler.people.name(ctx.team, ctx.person)
    there = replace(ctx, channel=place.channel, thread=CHANNEL_ITSELF)
    ts = await handler.post(there, said_message(name, question, does="shares"))
    is_taken = False
    try:
        thread = thread_address(place.workspace, place.channel, ts)
        asked = await handler.build_message(there, thread, ts, {SHARED: answer.id})
        receipt = await handler.parts.inbox.receive(replace(asked, text=question, event_key=key))
        is_taken = receipt.accepted and not receipt.repeated
    finally:
        if not is_taken:
            await handler.take_back(there, place.channel, ts)
    if is_taken:
        await handler.note(replace(there, thread=ts), [f"{place.channel}/{ts}"])
    return receipt


async def _hide_share_button(
    handler: InteractionHandler, ctx: InteractionContext, conversation: Conversation, answer: Message
) -> bool:
    """Show the private answer again without its share button; return whether Slack accepted that."""
    jobs = await _jobs_of(handler, conversation, answer)
    key = str(jobs[0].input.get("message_key") or "") if jobs else ""
    options = RenderOptions(
        post_id=post_id(key) if key else answer.id,
        link=lambda citation: handler.parts.link(citation, conversation.address, answer.id),
    )
    return await handler.replace(ctx, render_answer(to_answer(answer, jobs), options).parts[-1])


async def _jobs_of(handler: InteractionHandler, conversation: Conversation, answer: Message) -> list[Job]:
    """Return the jobs behind an answer; empty if they have expired."""
    if answer.job_id is None:
        return []
    try:
        return await handler.parts.jobs.tree(answer.job_id, conversation.address.workspace)
    except NotFound:
        return []
