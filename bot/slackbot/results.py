"""What a command gave, shown on Slack: a text, a list with links, a file, a question that is asked."""

import logging
from collections.abc import Mapping
from dataclasses import replace

from bot.presentation.rendering import link_target
from bot.slackbot import assistant_pane as pane
from bot.slackbot import home
from bot.slackbot.blocks import Element, actions, button
from bot.slackbot.calls import call
from bot.slackbot.command_text import in_slack_words
from bot.slackbot.errors import CLOSED
from bot.slackbot.interaction_context import Act
from bot.slackbot.interactions import Desk
from bot.slackbot.layout import SlackPost
from bot.slackbot.lists import link_to, listed
from bot.slackbot.render_lists import notice_message, text_post, threads_message
from bot.slackbot.translate import PLATFORM, is_private
from core.domain.conversation import Conversation
from core.features.export import ExportedFile
from core.service.commands import CommandResult, ThreadRow
from core.service.commands.threads import PAGE_ROWS

SEND_FILES = "send files"  # the end of “I am not allowed to …”
LINK = "link"  # the action of buttons that only lead somewhere
OPEN_SOURCE = "Open the source"
GO_THERE = "Go there"
NEW = "Mention me in a channel, or write to me: what you ask there begins a conversation of its own."
SENT = "I have sent you the file as a direct message."
HEADINGS = {"mine": "Your conversations", "here": "Conversations of this channel"}

# What these show are words of documents and people: nothing in them is a command's name.
_QUOTING = frozenset({"search", "page", "source", "jobs", "facts", "extract"})
# What these change stands on the home tab.
_CHANGING = frozenset({"position", "settings", "rename", "delete", "threads"})
_log = logging.getLogger(__name__)


async def run_command(desk: Desk, act: Act, name: str, options: Mapping[str, str]) -> None:
    """Run a command of the table and show what it gives. Raises core errors, BadInput for an unknown command."""
    result = await desk.parts.commands.run(await desk.call(act, name, options))
    await show_result(desk, act, name, options, result)


async def show_result(desk: Desk, act: Act, name: str, options: Mapping[str, str], result: CommandResult) -> None:
    """What a command gave: shown, asked, handed over. Raises core errors."""
    if result.ask is not None:
        await desk.ask(act, result.ask)
    elif result.file is not None:
        await _hand_over(desk, act, result.file, is_public=result.is_public)
    elif result.rows and isinstance(result.rows[0], ThreadRow):
        await desk.show(act, threads_post(act, options, result))
    elif result.citation is not None:
        link = desk.parts.link(result.citation, await desk.place(act))
        await desk.show(act, linked_post(text_post(result.text), OPEN_SOURCE, link))
    elif result.open_conversation is not None and result.renamed is None:
        await desk.show(act, _opened(desk, act, result.open_conversation))
    else:
        await _show_text(desk, act, name, result)
    if result.renamed is not None:
        desk.spawn(pane.name_thread(desk, act, result.renamed))
    if name in _CHANGING and not act.channel:  # it was done in the home tab, which shows how things were
        desk.spawn(home.refresh(desk, act))


async def tell(desk: Desk, act: Act, sentence: str) -> None:
    """One of core's sentences for the one who acted, with commands as they are given on Slack."""
    await desk.say(act, to_words(desk, act, sentence))


def to_words(desk: Desk, act: Act, text: str) -> str:
    """A text of core's with commands as they are given where somebody acted."""
    parts = desk.parts
    return in_slack_words(text, parts.commands.table, in_thread=bool(act.thread), command=parts.command)


def threads_post(act: Act, options: Mapping[str, str], result: CommandResult) -> SlackPost:
    """A page of the list of conversations; its buttons give the same list's other pages."""
    rows = [row for row in result.rows if isinstance(row, ThreadRow)]
    shown = options.get("show") or "mine"
    message = threads_message(
        [listed(row, act.team) for row in rows],
        list_id=shown,
        page=result.page,
        pages=result.pages,
        first=(result.page - 1) * PAGE_ROWS + 1,
        heading=HEADINGS.get(shown, "Conversations"),
    )
    return SlackPost(parts=(message,))


def linked_post(post: SlackPost, label: str, link: str | None) -> SlackPost:
    """A post with a button to an address, where there is one that Slack takes."""
    target = link_target(link)
    return post if target is None else with_button(post, {**button(label, LINK), "url": target})


def with_button(post: SlackPost, element: Element) -> SlackPost:
    """A post with a button at its end."""
    *parts, last = post.parts
    return SlackPost(parts=(*parts, replace(last, blocks=(*last.blocks, actions(element)))))


async def _show_text(desk: Desk, act: Act, name: str, result: CommandResult) -> None:
    """What everybody should see is shown to the one who acted alone where the bot may not post: it was done."""
    text = NEW if result.start_new and result.deleted is None else result.text
    place = await desk.place(act) if result.citations else None
    addresses = {item.number: link_target(desk.parts.link(item, place)) for item in result.citations if place}
    post = text_post(text if name in _QUOTING else to_words(desk, act, text), addresses)
    try:
        await desk.show(act, post, public=result.is_public)
    except CLOSED as error:
        if not result.is_public:
            raise
        _log.info("What /%s did is told to who did it alone: %s", name, error)
        await desk.show(act, post)


def _opened(desk: Desk, act: Act, conversation: Conversation) -> SlackPost:
    """Slack has no way to move people into a thread: they are shown the way."""
    address, title = conversation.address, conversation.title
    if address.platform != PLATFORM:
        return _notice(f"“{title}” is not on Slack but on {address.platform}: go on there.")
    if is_private(address):
        command = to_words(desk, act, "/ask")
        return _notice(f"“{title}” goes on with `{command} … --private` in its channel.")
    return linked_post(_notice(f"“{title}” goes on in its thread."), GO_THERE, link_to(address, act.team))


def _notice(sentence: str) -> SlackPost:
    return SlackPost(parts=(notice_message(sentence),))


async def _hand_over(desk: Desk, act: Act, file: ExportedFile, *, is_public: bool) -> None:
    """A file is for the one who asked for it, in their direct channel; for everybody in the thread if it is public."""
    stays = is_public or act.is_direct
    channel = act.channel if stays and act.channel else await desk.direct(act)
    thread = act.thread if stays else ""
    await call(
        SEND_FILES,
        lambda: act.team.client.files_upload_v2(
            filename=file.name, title=file.name, file=file.data, channel=channel, thread_ts=thread or None
        ),
        pause=desk.parts.pause,
    )
    if not stays:
        await desk.say(act, SENT)
