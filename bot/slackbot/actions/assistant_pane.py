"""The assistant pane: its greeting, suggested questions, and the titles of its threads.

A thread of the pane belongs to the person's direct channel with the bot, and reads what that channel may read.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

from bot.slackbot.actions.interaction_context import InteractionContext
from bot.slackbot.actions.interaction_handler import InteractionHandler
from bot.slackbot.events.teams import PLATFORM
from bot.slackbot.events.translate import thread_address
from bot.slackbot.rendering.lists import notice_message
from bot.slackbot.web_api import READ, call
from core.domain.conversation import ThreadAddress
from core.domain.corpus import Document, Page, SearchScope
from core.errors import FootnoteError
from core.features.kept_answers import KEPT_SOURCE
from core.ports import CorpusRepository
from core.text.words import content_words, shorten

SUGGEST = "suggest questions"  # completes “I'm not allowed to …”
NAME = "name the thread"
MOST_PROMPTS = 4  # Slack's limit
MAX_TITLE = 200  # characters; Slack documents no limit, and shows fewer
TRY = "Try one of these"
GREETING = "Ask me about your documents. My answers link to the exact passages they come from."
READS = "Here I can read {count} from {sources}."
EMPTY = "I can't read any documents here yet. Your Footnote admin can add some with “footnote ingest PATH”."
NAMED = 3  # named sources
_LOOKED_AT = 5  # first messages of a thread, searched for a greeting
_log = logging.getLogger(__name__)
MOST_TRIED = 12  # documents
PAGES_TRIED = 3  # per document; section names are on the first pages
NAME_LENGTH = 48  # characters of a title
# Headings without a meaning outside their document.
_BARE = re.compile(
    r"(?:(?:page|chapter|part|section|book|appendix)?\s*[\divxlc.]*|(?:table of )?contents|index|preface|introduction)",
    re.IGNORECASE,
)


async def greet(handler: InteractionHandler, ctx: InteractionContext) -> None:
    """Greet a person who opened the pane, once, and suggest questions. Raises core errors."""
    scope = await _scope(handler, ctx)
    documents = await handler.parts.corpus.list_readable(scope)
    if not await _is_greeted(handler, ctx):
        await handler.post(ctx, notice_message(_greeting(documents)))
    await _suggest(handler, ctx, await example_questions(documents, handler.parts.corpus, scope, MOST_PROMPTS))


async def on_context_changed(handler: InteractionHandler, ctx: InteractionContext, context: Mapping[str, Any]) -> None:
    """Suggest questions about the channel that the person now views, as far as they may be read in the pane.

    Raises core errors.
    """
    beside = str(context.get("channel_id") or "")
    if not beside or context.get("team_id") not in (None, ctx.team.id):
        return
    here = await _scope(handler, ctx)
    there = await handler.parts.access.scope(here.workspace, thread_address(here.workspace, beside, ""))
    documents = await handler.parts.corpus.list_readable(here)
    near = [item for item in documents if item.source_id in there.sources]
    questions = await example_questions(near, handler.parts.corpus, here, MOST_PROMPTS)
    await _suggest(
        handler, ctx, questions or await example_questions(documents, handler.parts.corpus, here, MOST_PROMPTS)
    )


async def give_title(handler: InteractionHandler, ctx: InteractionContext, address: ThreadAddress, title: str) -> None:
    """Set the title under which the pane lists a thread. Failures are logged, and threads elsewhere are ignored."""
    if address.platform != PLATFORM or not address.channel.startswith("D") or not address.thread:
        return
    try:
        await call(
            NAME,
            lambda: ctx.team.client.assistant_threads_setTitle(
                channel_id=address.channel, thread_ts=address.thread, title=title[:MAX_TITLE]
            ),
            pause=handler.parts.pause,
        )
    except FootnoteError as error:  # also for threads of the direct channel outside the pane
        _log.info("The thread %s keeps its name: %s", address, error)


async def _suggest(handler: InteractionHandler, ctx: InteractionContext, questions: list[str]) -> None:
    if questions:
        await call(
            SUGGEST,
            lambda: ctx.team.client.assistant_threads_setSuggestedPrompts(
                channel_id=ctx.channel,
                thread_ts=ctx.thread,
                title=TRY,
                prompts=[{"title": question, "message": question} for question in questions],
            ),
            pause=handler.parts.pause,
        )


def _greeting(documents: Sequence[Document]) -> str:
    readable = [item for item in documents if item.revision is not None]
    if not readable:
        return EMPTY
    names = sorted({item.source for item in readable})
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    count = "1 document" if len(readable) == 1 else f"{len(readable)} documents"
    return f"{GREETING} {READS.format(count=count, sources=_listed([*names[:NAMED], *more]))}"


def _listed(names: list[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


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


async def _scope(handler: InteractionHandler, ctx: InteractionContext) -> SearchScope:
    address = await handler.address_of(ctx)
    return await handler.parts.access.scope(address.workspace, address, reader=ctx.person)


async def example_questions(
    documents: Sequence[Document], corpus: CorpusRepository, scope: SearchScope, most: int
) -> list[str]:
    """Return at most `most` questions, each about another document in the scope: newest first, sources in turn."""
    readable = [item for item in documents if _is_readable(item, scope)]
    found: list[str] = []
    for document in _in_turn(readable)[:MOST_TRIED]:
        section = await _section(corpus, document, scope)
        title = shorten(document.title, NAME_LENGTH)
        if section is not None:
            found.append(f"What does “{title}” say about “{shorten(section, NAME_LENGTH)}”?")
        if len(found) == most:
            break
    return found


def _is_readable(document: Document, scope: SearchScope) -> bool:
    return document.revision is not None and document.source_id in scope.sources and document.source != KEPT_SOURCE


async def _section(corpus: CorpusRepository, document: Document, scope: SearchScope) -> str | None:
    """Return the first readable heading that says more than the document's title, or None."""
    for number in range(1, PAGES_TRIED + 1):
        page = await corpus.find_page(document.id, number, scope)
        if page is None:
            return None
        for heading in _headings(page):
            if not _BARE.fullmatch(heading.strip()) and content_words(heading) - content_words(document.title):
                return heading
    return None


def _headings(page: Page) -> Sequence[str]:
    return [*(heading.title for heading in page.headings), page.title]


def _in_turn(documents: Sequence[Document]) -> list[Document]:
    newest = sorted(documents, key=_age)
    sources = {item.source: [other for other in newest if other.source == item.source] for item in newest}
    return [item for item in chain.from_iterable(zip_longest(*sources.values())) if item is not None]


def _age(document: Document) -> float:
    return -document.crawled_at.timestamp() if document.crawled_at is not None else 0.0
