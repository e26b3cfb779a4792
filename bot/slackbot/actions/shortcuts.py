"""Shortcuts in a message's menu: ask about it, or keep it as an answer.

Forms hold the message's `ts` in their metadata, so that they work after a restart.
"""

from collections.abc import Mapping
from dataclasses import replace

from bot.presentation import platform_text
from bot.presentation.action_names import find_answer
from bot.presentation.answer_actions import AnswerActions, PlatformMessage
from bot.slackbot.actions.interaction_handler import (
    InteractionContext,
    InteractionHandler,
    decode_origin,
    encode_origin,
)
from bot.slackbot.events.directory import WAIT_SECONDS
from bot.slackbot.events.manifest import ASK_ABOUT, KEEP_ANSWER
from bot.slackbot.events.translate import Event, author_of, people_in, to_talk, to_text
from bot.slackbot.rendering import blocks
from bot.slackbot.rendering.blocks import View
from bot.slackbot.rendering.forms import input_field, read_fields
from bot.slackbot.web_api import READ, call
from core.errors import BadInput, NotFound
from core.work.commands import Question

FIELD = "question"  # id of the form's block and of its field
NO_WORDS = "This message has no text to ask about. Choose another one."
_TITLES = {ASK_ABOUT: platform_text.ASK_ABOUT, KEEP_ANSWER: platform_text.KEEP_ANSWER}
_LABELS = {ASK_ABOUT: platform_text.ASK_ABOUT_QUESTION, KEEP_ANSWER: platform_text.KEEP_ANSWER_QUESTION}


async def ask_about(handler: InteractionHandler, ctx: InteractionContext, message: Event) -> None:
    """Open the form for a question about a message."""
    await handler.open(ctx, _form(ASK_ABOUT, ctx, message))


async def keep_answer(handler: InteractionHandler, ctx: InteractionContext, message: Event) -> None:
    """Keep a message as an answer. A form asks for the question, unless the bot knows it."""
    question = await AnswerActions(handler.parts).question_behind(
        await handler.address_of(ctx), await _said(handler, ctx, message)
    )
    if question is None:
        await handler.open(ctx, _form(KEEP_ANSWER, ctx, message))
    else:
        await _store(handler, ctx, message, question)


def is_ours(view: View) -> bool:
    return view.get("callback_id") in _TITLES


async def submit(handler: InteractionHandler, ctx: InteractionContext, view: View) -> Mapping[str, str] | None:
    """Handle a submitted form; return errors by block, or None to close it."""
    kind, text = str(view.get("callback_id")), read_fields(view).get(FIELD, "")
    if not any(character.isalnum() for character in text):
        return {FIELD: "Write a question first."}
    message = await _fetch(handler, ctx, decode_origin(view).get("message", ""))
    if kind == ASK_ABOUT:
        names = await handler.people.names(ctx.team, people_in(message))
        about = to_talk(message, names, ctx.team.bot_user_id)
        if not about.text.strip():
            raise BadInput(NO_WORDS)
        await handler.ask(ctx, Question(text=text), about=about)
    else:
        await _store(handler, ctx, message, text)
    return None


async def _store(handler: InteractionHandler, ctx: InteractionContext, message: Event, question: str) -> None:
    name = await handler.people.name(ctx.team, ctx.person, wait_seconds=WAIT_SECONDS)  # Slack waits for the form
    place = await handler.address_of(ctx)
    said, actions = await _said(handler, ctx, message), AnswerActions(handler.parts)
    await handler.say(ctx, await actions.keep(place, said, question=question, author=ctx.person, author_name=name))


async def _said(handler: InteractionHandler, ctx: InteractionContext, message: Event) -> PlatformMessage:
    is_own = author_of(message) == ctx.team.bot_user_id or message.get("bot_id") == ctx.team.bot_id
    names, author = await handler.people.names(ctx.team, people_in(message)), author_of(message)
    return PlatformMessage(
        text=to_text(message, names, ctx.team.bot_user_id),
        link=ctx.team.permalink(ctx.channel, str(message["ts"]), str(message.get("thread_ts") or "")),
        is_ours=is_own,
        is_direct=ctx.is_direct,
        id=str(message["ts"]),
        by="" if is_own else author,
        by_name="" if is_own else await handler.people.name(ctx.team, author, wait_seconds=WAIT_SECONDS),
        answer_id=find_answer(message.get("blocks") or ()) if is_own else None,
    )


def _form(kind: str, ctx: InteractionContext, message: Event) -> View:
    """Return a form that acts in the message's thread."""
    ts = str(message.get("ts") or "")
    there = replace(ctx, thread=str(message.get("thread_ts") or ts))
    field = {"type": "plain_text_input", "multiline": True, "max_length": platform_text.QUESTION_LENGTH}
    return blocks.modal(
        _TITLES[kind],
        [input_field(FIELD, _LABELS[kind], field)],
        close="Cancel",
        submit=blocks.plain("Ask" if kind == ASK_ABOUT else "Keep"),
        callback_id=kind,
        private_metadata=encode_origin(there, message=ts),
    )


async def _fetch(handler: InteractionHandler, ctx: InteractionContext, ts: str) -> Event:
    """Return the current message. Raises NotFound if it was deleted, AccessDenied if the bot isn't in its channel."""
    if not (ctx.channel and ctx.thread and ts):
        raise BadInput(platform_text.OLD_FORM)
    read = ctx.team.client.conversations_replies
    reply = await call(
        READ, lambda: read(channel=ctx.channel, ts=ctx.thread, oldest=ts, latest=ts, inclusive=True, limit=2)
    )
    found = [one for one in reply["messages"] if one.get("ts") == ts and one.get("subtype") != "tombstone"]
    if not found:
        raise NotFound("This message was deleted. Choose another one.")
    return dict(found[0])
