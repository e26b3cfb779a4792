"""The assistant pane: its greeting, suggested questions, and the titles of its threads.

A thread of the pane belongs to the person's direct channel with the bot, and has the channel's scope.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from bot.slackbot.actions.interaction_handler import InteractionContext, InteractionHandler
from bot.slackbot.delivery.surfaces import PROMPTS, suggest
from bot.slackbot.events.command_text import format_command_names
from bot.slackbot.events.translate import thread_address
from bot.slackbot.rendering.lists import notice_message
from bot.slackbot.web_api import READ, call
from core.domain.answer import Provenance
from core.domain.corpus import Document, SearchScope
from core.errors import FootnoteError
from core.work.commands import CommandResult

MOST_PROMPTS = 4  # Slack's limit
CHANNEL_ENTITY = "slack#/types/channel_id"
GREETING = "Ask me about your documents. My answers link to the exact passages they come from."
READS = "Here I can read {count} from {sources}."
NAMED = 3  # named sources
_LOOKED_AT = 5  # first messages of a thread, searched for a greeting
_log = logging.getLogger(__name__)


async def greet(handler: InteractionHandler, ctx: InteractionContext) -> None:
    """Greet a person who opened the pane, once, and suggest questions. Raises core errors."""
    scope = await handler.scope(ctx)
    documents = await handler.parts.corpus.list_readable(scope)
    if not await _is_greeted(handler, ctx):
        reason = (await handler.parts.commands.run(await handler.call(ctx, "sources"))).notice
        greeting = name_commands(handler, ctx, reason) if reason else _greeting(documents)
        named = Provenance(sources=tuple(dict.fromkeys(item.source_id for item in documents)))
        ts = await handler.post(ctx, notice_message(greeting))
        await handler.note(ctx, [f"{ctx.channel}/{ts}"], CommandResult(text=greeting, rests_on=named))
    await _suggest(handler, ctx, documents, scope)


async def on_context_changed(handler: InteractionHandler, ctx: InteractionContext, context: Mapping[str, Any]) -> None:
    """Suggest questions about the channel that the person now views, as far as they may be read in the pane.

    Raises core errors.
    """
    beside = str(context.get("channel_id") or "")
    if not beside or context.get("team_id") not in (None, ctx.team.id):
        return
    here = await handler.scope(ctx)
    there = await handler.parts.access.scope(here.workspace, thread_address(here.workspace, beside, ""))
    documents = await handler.parts.corpus.list_readable(here)
    near = [item for item in documents if there.allows(item)]
    if not await _suggest(handler, ctx, near, here):
        await _suggest(handler, ctx, documents, here)


async def on_opened(
    handler: InteractionHandler, ctx: InteractionContext, entities: Sequence[Mapping[str, Any]]
) -> None:
    """Suggest questions to a person who opened the bot's messages, in an app with the agent view. Raises core errors.

    `entities` are what the person looks at: hints for the suggestions, never proof of access.
    """
    if handler.platform.sessions.is_agent(ctx.team) is False:
        return
    beside = next((str(one.get("value")) for one in entities if one.get("type") == CHANNEL_ENTITY), "")
    scope = await handler.scope(ctx)
    if beside:
        await on_context_changed(handler, ctx, {"channel_id": beside})
    else:
        await _suggest(handler, ctx, await handler.parts.corpus.list_readable(scope), scope)


async def _suggest(
    handler: InteractionHandler, ctx: InteractionContext, documents: Sequence[Document], scope: SearchScope
) -> bool:
    """Suggest questions about some of the documents; return whether there are any."""
    questions = await handler.parts.suggestions.about(documents, scope, MOST_PROMPTS)
    if questions:
        await suggest(ctx.team, ctx.channel, ctx.thread, [*questions], handler.parts.pause)
        named = CommandResult(text="", rests_on=Provenance(documents=tuple(questions.values())))
        await handler.note(ctx, [f"{PROMPTS}/{ctx.channel},{ctx.thread}"], named)
    return bool(questions)


def name_commands(handler: InteractionHandler, ctx: InteractionContext, sentence: str) -> str:
    """Return a sentence of core with its commands named as people enter them there."""
    return format_command_names(sentence, handler.parts.commands.table, in_thread=bool(ctx.thread))


def _greeting(documents: Sequence[Document]) -> str:
    readable = [item for item in documents if item.revision is not None]
    names = sorted({item.source for item in readable})
    named = [*names[:NAMED], *([f"{len(names) - NAMED} more"] if len(names) > NAMED else [])]
    sources = " and ".join(filter(None, [", ".join(named[:-1]), named[-1]]))
    count = "1 document" if len(readable) == 1 else f"{len(readable)} documents"
    return f"{GREETING} {READS.format(count=count, sources=sources)}"


async def _is_greeted(handler: InteractionHandler, ctx: InteractionContext) -> bool:
    """Return whether the thread has a message from the bot below Slack's first one; False if that can't be read."""
    try:
        replies = await call(
            READ,
            lambda: ctx.team.client.conversations_replies(channel=ctx.channel, ts=ctx.thread, limit=_LOOKED_AT),
            retry_seconds=0.0,
        )
    except FootnoteError as error:
        _log.info("It is unknown whether the thread %s was greeted: %s", ctx.thread, error)
        return False
    below = [item for item in replies.get("messages") or () if item.get("ts") != ctx.thread]
    return any(item.get("user") == ctx.team.bot_user_id for item in below)
