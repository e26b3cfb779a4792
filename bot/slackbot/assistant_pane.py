"""The assistant pane: what can be asked there, and the names of its threads.

A pane's thread is one of the person's direct channel with the bot, and reads what that channel may read.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from bot.slackbot.calls import call
from bot.slackbot.errors import POST, READ
from bot.slackbot.examples import example_questions
from bot.slackbot.interaction_context import Act
from bot.slackbot.interactions import Desk
from bot.slackbot.render_lists import notice_message
from bot.slackbot.translate import PLATFORM, thread_address
from core.domain.conversation import Conversation, ThreadAddress
from core.domain.corpus import Document, SearchScope
from core.errors import FootnoteError

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


async def greet(desk: Desk, act: Act) -> None:
    """A pane was opened: say what can be asked here. An event that comes again changes nothing. Raises core errors."""
    scope = await _scope(desk, act)
    documents = await desk.parts.corpus.list_readable(scope)
    if not await _is_greeted(desk, act):
        message = notice_message(_greeting(documents))
        await call(
            POST,
            lambda: act.team.client.chat_postMessage(
                channel=act.channel,
                thread_ts=act.thread,
                text=message.text,
                blocks=[dict(block) for block in message.blocks],
                unfurl_links=False,
                unfurl_media=False,
            ),
            pause=desk.parts.pause,
        )
    await _suggest(desk, act, await example_questions(documents, desk.parts.corpus, scope, MOST_PROMPTS))


async def look_elsewhere(desk: Desk, act: Act, context: Mapping[str, Any]) -> None:
    """Another channel was opened beside the pane: suggest what is read there, as far as it is read here, too.

    Raises core errors.
    """
    beside = str(context.get("channel_id") or "")
    if not beside or context.get("team_id") not in (None, act.team.id):
        return
    here = await _scope(desk, act)
    there = await desk.parts.access.scope(here.workspace, thread_address(here.workspace, beside, ""))
    documents = await desk.parts.corpus.list_readable(here)
    near = [item for item in documents if item.source_id in there.sources]
    questions = await example_questions(near, desk.parts.corpus, here, MOST_PROMPTS)
    await _suggest(desk, act, questions or await example_questions(documents, desk.parts.corpus, here, MOST_PROMPTS))


async def name_thread(desk: Desk, act: Act, conversation: Conversation) -> None:
    """Let the pane list a conversation's thread under its title."""
    await give_title(desk, act, conversation.address, conversation.title)


async def give_title(desk: Desk, act: Act, address: ThreadAddress, title: str) -> None:
    """Let the pane list a thread under a title. Threads elsewhere have no names on Slack.

    It goes on as it was where that fails: nothing hangs on a name.
    """
    if address.platform != PLATFORM or not address.channel.startswith("D") or not address.thread:
        return
    try:
        await call(
            NAME,
            lambda: act.team.client.assistant_threads_setTitle(
                channel_id=address.channel, thread_ts=address.thread, title=title[:MAX_TITLE]
            ),
            pause=desk.parts.pause,
        )
    except FootnoteError as error:  # also threads of the direct channel that no pane began
        _log.info("The thread %s keeps its name: %s", address, error)


async def _suggest(desk: Desk, act: Act, questions: list[str]) -> None:
    if questions:
        await call(
            SUGGEST,
            lambda: act.team.client.assistant_threads_setSuggestedPrompts(
                channel_id=act.channel,
                thread_ts=act.thread,
                title=TRY,
                prompts=[{"title": question, "message": question} for question in questions],
            ),
            pause=desk.parts.pause,
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


async def _is_greeted(desk: Desk, act: Act) -> bool:
    """Whether something of ours stands in the thread, below the message that Slack begins a pane with in our name.

    Where that can't be told, it is greeted: twice is no harm.
    """
    try:
        replies = await call(
            READ,
            lambda: act.team.client.conversations_replies(channel=act.channel, ts=act.thread, limit=_LOOKED_AT),
            patience_seconds=0.0,
        )
    except FootnoteError as error:
        _log.info("Whether the thread %s was greeted is not known: %s", act.thread, error)
        return False
    below = [item for item in replies.get("messages") or () if item.get("ts") != act.thread]
    return any(item.get("user") == act.team.bot_user_id for item in below)


async def _scope(desk: Desk, act: Act) -> SearchScope:
    place = await desk.place(act)
    return await desk.parts.access.scope(place.workspace, place, reader=act.person)
