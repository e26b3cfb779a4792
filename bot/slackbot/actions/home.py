"""The app's home tab: a field for questions, the person's conversations, and the sources of their direct channel."""

import asyncio
import logging
from dataclasses import replace

from bot.presentation.answer_text import ThreadItem
from bot.presentation.platform_text import to_thread_item
from bot.slackbot.actions.assistant_pane import name_commands
from bot.slackbot.actions.interaction_handler import InteractionContext, InteractionHandler
from bot.slackbot.delivery.surfaces import HOME, publish_home
from bot.slackbot.events.translate import link_to
from bot.slackbot.rendering.lists import Home, home_view
from core.domain.answer import Provenance
from core.domain.service import TO_THE_END, Receipt
from core.errors import AccessDenied, FootnoteError
from core.features.review import INBOX
from core.work.commands import CommandResult, SourceRow, ThreadRow

EXAMPLES = 3
FOLLOWED_SECONDS = 600  # a later answer is under Messages, as all are
_log = logging.getLogger(__name__)


async def show_home(handler: InteractionHandler, ctx: InteractionContext, *, answered: str = "") -> None:
    """Publish the home tab; `answered` is the address of the answer to the last question that was asked there."""
    channel = ctx.channel if ctx.is_direct else await handler.direct_channel(ctx)
    here = replace(ctx, channel=channel, thread="", message_ts="")
    shown, rests_on = await build_home(handler, here)
    asked = handler.home_asked.get((ctx.team.id, ctx.person), "")
    view = home_view(replace(shown, asked=asked, answered=answered))
    await publish_home(ctx.team, ctx.person, view, handler.parts.pause)
    await handler.note(here, [f"{HOME}/{ctx.person}"], CommandResult(text="", rests_on=rests_on, quotes_people=True))


async def refresh(handler: InteractionHandler, ctx: InteractionContext, *, answered: str = "") -> None:
    """Publish the home tab after a change. If that fails, it is stale until the person opens it again."""
    try:
        await show_home(handler, ctx, answered=answered)
    except FootnoteError as error:
        _log.info("The home tab of %s is stale: %s", ctx.person, error)


async def follow_question(handler: InteractionHandler, ctx: InteractionContext, receipt: Receipt | None) -> None:
    """Empty the field after a question was asked there, and link its answer unless another is asked before that."""
    person = ctx.team.id, ctx.person
    asked = handler.home_asked[person] = f"{handler.parts.clock.now().timestamp():.6f}"
    await refresh(handler, ctx)
    if receipt is None or not receipt.accepted:
        return
    answer = handler.platform.answered(receipt.message_key)
    await asyncio.wait({answer}, timeout=FOLLOWED_SECONDS)
    link = link_to(answer.result(), ctx.team) if answer.done() else None
    if link and handler.home_asked[person] == asked:
        await refresh(handler, ctx, answered=link)


async def build_home(handler: InteractionHandler, ctx: InteractionContext) -> tuple[Home, Provenance]:
    """Return the content of the home tab, and its provenance; `ctx` is in the person's direct channel."""
    scope = await handler.scope(ctx)
    documents = await handler.parts.corpus.list_readable(scope)
    threads, sources = [await _run(handler, ctx, name) for name in ("threads", "sources")]
    more_threads = 0
    if threads.pages > 1:
        last_page = await _run(handler, ctx, "threads", threads.pages)
        more_threads = (threads.pages - 2) * len(threads.rows) + len(last_page.rows)
    rows = [row for row in threads.rows if isinstance(row, ThreadRow)]
    readable = [row for row in sources.rows if isinstance(row, SourceRow)]
    examples = await handler.parts.suggestions.about(documents, scope, EXAMPLES)
    inbox = await _inbox(handler, ctx)
    shown = Home(
        threads=[_thread(row, ctx) for row in rows],
        more_threads=more_threads,
        sources=readable,
        positions=[
            f"{item.title}: {'to the end' if last == TO_THE_END else f'up to page {last}'}"
            for item in documents
            if (last := scope.positions.get(item.id)) is not None
        ],
        examples=[*examples],
        notice=name_commands(handler, ctx, sources.notice),
        inbox=_lines(name_commands(handler, ctx, inbox.text)),
    )
    read = (*examples.values(), *scope.positions, *sources.basis.documents, *inbox.basis.documents)
    lists = (*sources.basis.sources, *inbox.basis.sources)
    return shown, Provenance(documents=tuple(dict.fromkeys(read)), sources=tuple(dict.fromkeys(lists)))


def _thread(row: ThreadRow, ctx: InteractionContext) -> ThreadItem:
    used = row.last_used_at
    return replace(to_thread_item(row, link_to(row.address, ctx.team)), detail=f"{used.day} {used:%B}")


async def _inbox(handler: InteractionHandler, ctx: InteractionContext) -> CommandResult:
    """Return a reviewer's inbox; an empty text for other people."""
    if INBOX not in handler.parts.commands.table:
        return CommandResult(text="")
    try:
        return await _run(handler, ctx, INBOX)
    except AccessDenied:
        return CommandResult(text="")


def _lines(shown: str) -> list[str]:
    return [line.strip().removeprefix("- ").replace("`", "") for line in shown.splitlines() if line.strip()]


async def _run(handler: InteractionHandler, ctx: InteractionContext, name: str, page: int = 1) -> CommandResult:
    options = {"page": str(page)} if page > 1 else {}
    return await handler.parts.commands.run(await handler.call(ctx, name, options))
