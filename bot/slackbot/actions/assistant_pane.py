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
from bot.slackbot.web_api import POST, READ, call
from core.domain.conversation import Conversation, ThreadAddress
from core.domain.corpus import Document, Page, SearchScope
from core.errors import FootnoteError
from core.features.kept_answers import KEPT_SOURCE
from core.ports import CorpusRepository
from core.text.words import content_words, shorten

SUGGEST = "suggest questions"  # the ends of “I am not allowed to …”
NAME = "name the thread"
MOST_PROMPTS = 4  # Slack's limit
MAX_TITLE = 200  # characters; Slack names no limit, and shows less
TRY = "Try one of these"
GREETING = "Ask me what your documents say: I answer with footnotes that lead to the very passages."
READS = "I can read {count} here, of {sources}."
EMPTY = "Nothing can be read here yet: whoever runs me adds documents with “footnote ingest PATH”."
NAMED = 3  # sources that the greeting names
_LOOKED_AT = 5  # first messages of a thread among which a greeting is looked for
_log = logging.getLogger(__name__)
MOST_TRIED = 12  # documents looked into
PAGES_TRIED = 3  # of each: a section's name stands on its first pages, or it has none
NAME_LENGTH = 48  # characters of a title, so that a question reads well on one line
# Headings that say nothing to whoever does not know the document.
_BARE = re.compile(
    r"(?:(?:page|chapter|part|section|book|appendix)?\s*[\divxlc.]*|(?:table of )?contents|index|preface|introduction)",
    re.IGNORECASE,
)


async def greet(handler: InteractionHandler, ctx: InteractionContext) -> None:
    """A pane was opened: say what can be asked here. An event that comes again changes nothing. Raises core errors."""
    scope = await _scope(handler, ctx)
    documents = await handler.parts.corpus.list_readable(scope)
    if not await _is_greeted(handler, ctx):
        message = notice_message(_greeting(documents))
        await call(
            POST,
            lambda: ctx.team.client.chat_postMessage(
                channel=ctx.channel,
                thread_ts=ctx.thread,
                text=message.text,
                blocks=[dict(block) for block in message.blocks],
                unfurl_links=False,
                unfurl_media=False,
            ),
            pause=handler.parts.pause,
        )
    await _suggest(handler, ctx, await example_questions(documents, handler.parts.corpus, scope, MOST_PROMPTS))


async def on_context_changed(handler: InteractionHandler, ctx: InteractionContext, context: Mapping[str, Any]) -> None:
    """Another channel was opened beside the pane: suggest what is read there, as far as it is read here, too.

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


async def name_thread(handler: InteractionHandler, ctx: InteractionContext, conversation: Conversation) -> None:
    """Let the pane list a conversation's thread under its title."""
    await give_title(handler, ctx, conversation.address, conversation.title)


async def give_title(handler: InteractionHandler, ctx: InteractionContext, address: ThreadAddress, title: str) -> None:
    """Let the pane list a thread under a title. Threads elsewhere have no names on Slack.

    It goes on as it was where that fails: nothing hangs on a name.
    """
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
    except FootnoteError as error:  # also threads of the direct channel that no pane began
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
    """Whether something of ours stands in the thread, below the message that Slack begins a pane with in our name.

    Where that can't be told, it is greeted: twice is no harm.
    """
    try:
        replies = await call(
            READ,
            lambda: ctx.team.client.conversations_replies(channel=ctx.channel, ts=ctx.thread, limit=_LOOKED_AT),
            patience_seconds=0.0,
        )
    except FootnoteError as error:
        _log.info("Whether the thread %s was greeted is not known: %s", ctx.thread, error)
        return False
    below = [item for item in replies.get("messages") or () if item.get("ts") != ctx.thread]
    return any(item.get("user") == ctx.team.bot_user_id for item in below)


async def _scope(handler: InteractionHandler, ctx: InteractionContext) -> SearchScope:
    place = await handler.place(ctx)
    return await handler.parts.access.scope(place.workspace, place, reader=ctx.person)


async def example_questions(
    documents: Sequence[Document], corpus: CorpusRepository, scope: SearchScope, most: int
) -> list[str]:
    """At most `most`, each about another of these documents; of several sources in turn, newest documents first.

    Nothing is named that the scope does not read.
    """
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
    """The first heading that says more than the document's title; None where none does, or may be read yet."""
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
    """One of each source, then the next one of each."""
    newest = sorted(documents, key=_age)
    sources = {item.source: [other for other in newest if other.source == item.source] for item in newest}
    return [item for item in chain.from_iterable(zip_longest(*sources.values())) if item is not None]


def _age(document: Document) -> float:
    return -document.crawled_at.timestamp() if document.crawled_at is not None else 0.0
