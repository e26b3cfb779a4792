"""Adding documents: the shortcuts, the form, `/footnote library add`, and files that are sent without a question.

A request is stored before Slack's acknowledgement. Its file is fetched afterwards, by the flow that also posts
(bot/presentation/additions.py).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.presentation.action_names import ActionName, Verb
from bot.presentation.additions import ADD_TO_LIBRARY, AdditionView, chosen_readers
from bot.presentation.answer_buttons import ActionButton, Emphasis, action_name
from bot.presentation.platform_text import default_question
from bot.slackbot.actions.interaction_handler import InteractionContext, InteractionHandler, encode_origin
from bot.slackbot.delivery.additions import FILE
from bot.slackbot.delivery.files import find_file
from bot.slackbot.events.manifest import ADD_DOCUMENTS
from bot.slackbot.events.translate import (
    FILES_ALONE,
    TEAM,
    Event,
    file_name,
    files_in,
    is_stub,
    links_in,
    people_in,
    to_incoming,
)
from bot.slackbot.rendering.blocks import FLAVOUR, View
from bot.slackbot.rendering.forms import ADDRESS, FILES, READERS, addition_form, read_fields, read_files
from bot.slackbot.rendering.lists import addition_message, notice_message
from bot.slackbot.web_api import READ, call
from core.domain.incoming import Attachment, IncomingMessage, event_key, message_key
from core.domain.service import CommandLine
from core.errors import BadInput, NotFound

LIBRARY = "library"  # the command
MOST_LINKS = 10  # of one message
NOTHING_TO_ADD = "This message has no files and no links. Choose another one, or use Add documents."
NOTHING_CHOSEN = "Choose a file, or enter a link."
ADD_WHAT = "Add a link after `/library add`, or choose *Add to the library* in the menu of a message with files."
GONE = "This message was deleted. Send the files again."
_ADD = re.compile(r"add(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A file of Slack's, or a link."""

    name: str = ""
    file: str = ""  # its id
    url: str = ""

    @property
    def id(self) -> str:
        return self.file or self.url


async def add_message(handler: InteractionHandler, ctx: InteractionContext, message: Event) -> None:
    """Add the files of a message, or else its links, in its thread."""
    there = replace(ctx, thread=str(message.get("thread_ts") or message.get("ts") or ""))
    links = [Wanted(url=link) for link in links_in(message)[:MOST_LINKS]]
    wanted = await _files(handler, ctx, files_in(message)) or links
    if not wanted:
        raise BadInput(NOTHING_TO_ADD)
    await _request(handler, there, wanted, ctx.trigger_id)


async def open_form(handler: InteractionHandler, ctx: InteractionContext) -> None:
    await handler.open(ctx, addition_form(ADD_DOCUMENTS, encode_origin(ctx)))


def is_ours(view: View) -> bool:
    return view.get("callback_id") == ADD_DOCUMENTS


async def submit(handler: InteractionHandler, ctx: InteractionContext, view: View) -> Mapping[str, str] | None:
    """Handle a submitted form; return errors by block, or None to close it."""
    fields = read_fields(view)
    url = fields.get(ADDRESS, "")
    wanted = [*([Wanted(url=url)] if url else []), *await _files(handler, ctx, read_files(view))]
    if not wanted:
        return {FILES: NOTHING_CHOSEN}
    try:
        await _request(handler, ctx, wanted, str(view.get("id") or ctx.trigger_id), fields.get(READERS, ""))
    except BadInput as error:
        return {ADDRESS: str(error)}
    return None


def is_addition(line: CommandLine) -> bool:
    """Return whether a command is `library add`; the rest of `library` is in the table of commands."""
    return line.name == LIBRARY and _ADD.fullmatch(line.argument.strip()) is not None


async def run_slash(handler: InteractionHandler, ctx: InteractionContext, line: CommandLine) -> None:
    """Add the links behind `/footnote library add`; open the form without any."""
    links = _links_behind(line)
    if links:
        await _request(handler, ctx, links, ctx.trigger_id)
    else:
        await open_form(handler, ctx)


async def run_typed(
    handler: InteractionHandler, ctx: InteractionContext, line: CommandLine, attachments: Sequence[Attachment]
) -> None:
    """Add the links and files of `@footnote library add`."""
    files = [Wanted(name=item.name, file=item.reference.partition("/")[2]) for item in attachments]
    wanted = [*files, *_links_behind(line)]
    if not wanted:
        raise BadInput(ADD_WHAT)
    await _request(handler, ctx, wanted, ctx.message_ts)


async def offer(handler: InteractionHandler, ctx: InteractionContext, incoming: IncomingMessage) -> None:
    """Offer to add the files of a direct message without a question, in its thread."""
    names = ", ".join(FLAVOUR.plain(item.name) for item in incoming.attachments)
    id = ctx.message_ts.replace(".", "-")
    buttons = (
        ActionButton(label=ADD_TO_LIBRARY, name=action_name(Verb.ADDFILES, id), emphasis=Emphasis.PRIMARY),
        ActionButton(label="Ask about it", name=action_name(Verb.ASKFILES, id)),
    )
    text = f"Add {names} to the library, so that answers can cite it? Or ask about it, only in this thread."
    await handler.post(ctx, addition_message(AdditionView(text=text, buttons=buttons)))


async def press(handler: InteractionHandler, ctx: InteractionContext, name: ActionName) -> None:
    """Run a button of an offer or of an addition's post. Raises core errors."""
    if name.verb in (Verb.ADDFILES, Verb.ASKFILES):
        await _take_offer(handler, ctx, name)
        return
    await handler.additions.press(
        name.verb,
        name.id,
        ctx.team.workspace,
        by=ctx.person,
        by_name=await handler.people.name(ctx.team, ctx.person),
        is_permitted=(await handler.people.roles(ctx.team, ctx.person)).may_add,
    )


async def _take_offer(handler: InteractionHandler, ctx: InteractionContext, name: ActionName) -> None:
    """Add the offered files, or ask about them; then the offer has no more buttons."""
    ts = name.id.replace("-", ".")
    there = replace(ctx, thread=ctx.thread or ts)
    read = ctx.team.client.conversations_history
    reply = await call(READ, lambda: read(channel=ctx.channel, latest=ts, oldest=ts, inclusive=True, limit=1))
    message = next((dict(one) for one in reply["messages"] if one.get("ts") == ts), {})
    if not message.get("files"):
        raise NotFound(GONE)
    if name.verb is Verb.ADDFILES:
        await _request(handler, there, await _files(handler, ctx, files_in(message)), ts)
        said = "Adding it to the library."
    else:
        await _ask_about(handler, there, message)
        said = "Looking into it."
    await handler.replace(ctx, notice_message(said))


async def _ask_about(handler: InteractionHandler, ctx: InteractionContext, message: Event) -> None:
    """Ask about the files' contents, as a later version of the message that had no question."""
    names = await handler.people.names(ctx.team, people_in(message))
    sent = to_incoming(
        {**message, "channel": ctx.channel}, team=ctx.team, in_our_thread=False, names=names, commands=()
    )
    if sent is None:
        raise NotFound(GONE)
    receipt = await handler.parts.inbox.receive(
        replace(
            sent,
            text=default_question(sent.attachments, None),
            event_key=event_key(sent.address, str(message["ts"]), "asked"),
            metadata={key: value for key, value in sent.metadata.items() if key != FILES_ALONE},
        )
    )
    if not receipt.accepted:
        await handler.say(ctx, receipt.decision.sentence)


async def _files(
    handler: InteractionHandler, ctx: InteractionContext, files: Iterable[Mapping[str, Any]]
) -> list[Wanted]:
    """Return the files with their names, which Slack doesn't tell of files of another company."""
    found = []
    for file in files:
        id = str(file["id"])
        name = (await find_file(ctx.team, id, handler.parts.pause)).name if is_stub(file) else file_name(file)
        found.append(Wanted(name=name, file=id))
    return found


def _links_behind(line: CommandLine) -> list[Wanted]:
    found = _ADD.fullmatch(line.argument.strip())
    return [Wanted(url=word.strip("<>")) for word in ((found and found[1]) or "").split()[:MOST_LINKS]]


async def _request(
    handler: InteractionHandler, ctx: InteractionContext, wanted: Sequence[Wanted], event: str, readers: str = ""
) -> None:
    """Store a request for each file and link, and begin with them.

    `event` names the interaction on Slack, `readers` is a ReadersChoice, if one was made.
    """
    await handler.require_open(ctx)
    address = await handler.address_of(ctx)
    name = await handler.people.name(ctx.team, ctx.person)
    is_permitted = (await handler.people.roles(ctx.team, ctx.person)).may_add
    for item in wanted:
        addition, is_new = await handler.parts.additions.request(
            f"{message_key(address, event)}:{item.id}",
            address,
            author=ctx.person,
            author_name=name,
            is_permitted=is_permitted,
            name=item.name,
            url=item.url,
            readers=chosen_readers(readers, address.channel, ctx.person, is_direct=address.channel.startswith("D")),
            details={TEAM: ctx.team.id, **({FILE: item.file} if item.file else {})},
        )
        if is_new:
            await handler.additions.begin(addition)
