"""Commands for conversations: list, open, rename, delete and export them; show, stop and explain running questions."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from core.access.scopes import Access
from core.answering.answers.stored import stored_ids
from core.answering.redaction import Histories, basis_of, readable_steps
from core.domain.conversation import Conversation
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.jobs import Job
from core.domain.service import InboxEntry, InboxStatus
from core.errors import AccessDenied, BadInput, InvalidState, NotFound
from core.features.export import FORMATS, export_conversation
from core.ports import CorpusRepository
from core.ports.service import InboxStore
from core.service.commands.library import last_answer
from core.service.inbox import COMMAND
from core.service.jobs import Jobs
from core.text.notation import is_number, took
from core.work.commands import (
    Command,
    CommandCall,
    CommandResult,
    Option,
    OptionKind,
    ThreadRow,
    current,
    readable_by,
    required,
)
from core.work.conversations import Conversations

PAGE_ROWS = 10
SHORT_ID = 8  # characters of an id in a list: enough to tell a workspace's conversations apart
ACTIONS = ("list", "open", "resume", "rename", "delete", "export")
WHOSE = ("mine", "here", "all")
LOOKED_THROUGH = 50  # newest messages in which an open question or a decision is looked for
# Deleting a thread waits this long for its answers to stop.
ENDING_PAUSE_SECONDS = 0.05
ENDING_TRIES = 60
CANNOT_READ = "I can't tell that you may read this conversation's thread. Open the thread, and use the command there."
_PROGRESS = {
    InboxStatus.REFUSED: "",
    InboxStatus.QUEUED: "It's queued.",
    InboxStatus.RUNNING: "I'm working on it.",
    InboxStatus.DONE: "Its answer is posted.",
    InboxStatus.CANCELLED: "It was stopped.",
}

_THREAD = Option(name="thread", help="ID, or number in the list", kind=OptionKind.THREAD)
_TITLE = Option(name="title", help="the new title", required=True)
_FORMAT = Option(name="format", help="what to export it as", kind=OptionKind.CHOICE, choices=tuple(FORMATS))
_OPTIONS = (
    Option(name="action", help="what to do", kind=OptionKind.CHOICE, choices=ACTIONS),
    _THREAD,
    replace(_TITLE, required=False),
    _FORMAT,
    Option(name="show", help="which ones to list", kind=OptionKind.CHOICE, choices=WHOSE),
    Option(name="page", help="of the list, from 1", kind=OptionKind.NUMBER),
)


class RunningQuestions:
    """The questions that a service is processing; without a service, commands that need it are absent.

    `stop` is Worker.cancel.
    """

    def __init__(self, entries: InboxStore, stop: Callable[[str, str, bool], Awaitable[object]]) -> None:
        self._entries = entries
        self._stop = stop

    async def open_in(self, workspace: str, address: ThreadAddress) -> list[InboxEntry]:
        """Return a thread's waiting and running questions, newest first."""
        found = await self._entries.recent(workspace, address=address, limit=LOOKED_THROUGH)
        return [entry for entry in found if not entry.status.is_final]

    async def newest_open(self, workspace: str, author: str, address: ThreadAddress | None) -> InboxEntry | None:
        """The author's newest question that has not ended: in the thread, else in its channel (None: anywhere)."""
        found = await self._by(workspace, author, address)
        return next((entry for entry in found if not entry.status.is_final), None)

    async def newest(self, workspace: str, author: str, address: ThreadAddress | None) -> InboxEntry | None:
        """The author's newest message with the decision about it, looked for in the same order; no commands."""
        found = await self._by(workspace, author, address)
        return next((entry for entry in found if entry.decision.code != COMMAND.code), None)

    async def stop(self, entry: InboxEntry, by: str, *, is_moderator: bool = False) -> None:
        """Stop an answer; its post shows that. InvalidState if it has ended, AccessDenied for another person."""
        await self._stop(entry.message_key, by, is_moderator)

    async def end_all(self, workspace: str, address: ThreadAddress) -> None:
        """Stop all answers of a thread and wait for their end. InvalidState when they do not end."""
        for _ in range(ENDING_TRIES):
            waiting = await self.open_in(workspace, address)
            if not waiting:
                return
            for entry in waiting:
                if entry.cancelled_by is None:
                    await self._stop(entry.message_key, entry.incoming.author, False)
            await asyncio.sleep(ENDING_PAUSE_SECONDS)
        raise InvalidState("I'm still answering in this thread. Stop the answer first, then delete.")

    async def _by(self, workspace: str, author: str, address: ThreadAddress | None) -> list[InboxEntry]:
        """Return an author's newest messages: the thread's first, then the channel's."""
        found = await self._entries.recent(workspace, author=author, limit=LOOKED_THROUGH)
        if address is None:
            return found
        place = (address.platform, address.channel)
        near = [entry for entry in found if (entry.address.platform, entry.address.channel) == place]
        return sorted(near, key=lambda entry: entry.address != address)


class ThreadCommands:
    """The rows of the table about conversations. `questions`: those in hand, where a service runs."""

    def __init__(
        self, conversations: Conversations, questions: RunningQuestions | None, histories: Histories, access: Access
    ) -> None:
        self._histories = histories
        self._access = access
        self._conversations = conversations
        self._questions = questions
        ways = (self._list, self._open, self._open, self._rename, self._delete, self._export)
        self._actions = dict(zip(ACTIONS, ways, strict=True))

    @property
    def rows(self) -> tuple[Command, ...]:
        return (
            Command(
                name="threads",
                usage="[mine|here|all] [PAGE] | open|resume|rename|delete|export ID",
                help="list conversations, or do something with one of them",
                run=self._threads,
                options=_OPTIONS,
                parse=parse_threads,
            ),
            Command(
                name="open",
                usage="ID or number",
                help="continue another conversation",
                run=self._open,
                options=(replace(_THREAD, required=True),),
            ),
            Command(name="new", usage="", help="start a new conversation", run=self._new),
            Command(name="rename", usage="TITLE", help="rename this conversation", run=self._rename, options=(_TITLE,)),
            Command(name="delete", usage="", help="delete this conversation", run=self._delete),
            Command(name="forget", usage="", help="delete this conversation (same as delete)", run=self._delete),
            Command(
                name="export",
                usage=f"[{'|'.join(FORMATS)}]",
                help="export this conversation as a file",
                run=self._export,
                options=(_FORMAT,),
            ),
        )

    async def visible(self, call: CommandCall, show: str = "") -> list[Conversation]:
        """Return the listable conversations, most recently used first: the caller's, the channel's, or all.

        Leaves out the caller's own of channels that they can no longer read.
        """
        show = show or ("all" if call.sees_all else "mine")
        if show not in WHOSE:
            raise BadInput(f"Unknown list {show!r}. Use {', '.join(WHOSE)}.")
        if show == "all" and not call.sees_all:
            raise AccessDenied("Conversations of other channels aren't listed here. Use /threads mine or here.")
        if show == "here" and call.address is None:
            raise BadInput("This isn't a channel. Use /threads mine or all.")
        owner = call.author if show == "mine" else None
        channel = ChannelAddress.of(call.address) if show == "here" and call.address else None
        found = await self._conversations.list_conversations(call.workspace, owner=owner, channel=channel)
        visible = [item for item in found if not item.is_channel_talk and may_see(call, item)]
        return await _without_closed(call, visible) if show == "here" else await self._in_open_channels(call, visible)

    async def _in_open_channels(self, call: CommandCall, found: list[Conversation]) -> list[Conversation]:
        """Drop those of channels that the caller can't read; of its thread that is asked before it is shown."""
        if call.sees_all or call.address is None:
            return found
        readable = {ChannelAddress.of(call.address): True}
        shown = []
        for item in found:
            address, channel = item.address, ChannelAddress.of(item.address)
            if address.private_to is None and channel not in readable and channel.platform == call.address.platform:
                anywhere = replace(address, thread="")
                readable[channel] = await self._access.reads(anywhere, call.address, call.author)
            if readable.get(channel, True):
                shown.append(item)
        return shown

    async def _threads(self, call: CommandCall) -> CommandResult:
        action = call.option("action") or "list"
        if action not in self._actions:
            raise BadInput(f"/threads can't {action!r}: use {', '.join(ACTIONS)}.")
        return await self._actions[action](call)

    async def _list(self, call: CommandCall) -> CommandResult:
        found = await self.visible(call, call.option("show"))
        pages = max(1, -(-len(found) // PAGE_ROWS))
        page = _page_number(call.option("page"), pages)
        first = (page - 1) * PAGE_ROWS
        shown = found[first : first + PAGE_ROWS]
        lines = [f"{first + number}. {_line(item)}" for number, item in enumerate(shown, start=1)]
        if pages > 1:
            lines.append(f"\nPage {page} of {pages}.")
        text = "\n".join(lines) or "No conversations yet. Ask a question to start one."
        return CommandResult(text=text, rows=tuple(map(_to_row, shown)), page=page, pages=pages)

    async def _open(self, call: CommandCall) -> CommandResult:
        wanted = required(call, "thread", "the id or the number of a conversation")
        conversation = await self._find(call, wanted)
        return CommandResult(text=f"Going on in “{conversation.title}”.", open_conversation=conversation)

    async def _new(self, call: CommandCall) -> CommandResult:
        return CommandResult(text="Your next question starts a new conversation.", start_new=True)

    async def _rename(self, call: CommandCall) -> CommandResult:
        found = await self._meant(call)
        _require_owner(call, found, "rename")
        renamed = await self._conversations.rename(found.id, call.workspace, call.option("title"))
        is_here = call.conversation is not None and found.id == call.conversation.id
        return CommandResult(
            text=f"Renamed to “{renamed.title}”.",
            open_conversation=renamed if is_here else None,
            renamed=renamed,
            is_public=is_here and found.address.private_to is None,
        )

    async def _delete(self, call: CommandCall) -> CommandResult:
        found = await self._meant(call)
        _require_owner(call, found, "delete")
        if self._questions is not None:
            await self._questions.end_all(call.workspace, found.address)
        await self._conversations.delete(found.id, call.workspace, by=call.author)
        is_here = call.conversation is not None and found.id == call.conversation.id
        return CommandResult(
            text=f"Deleted “{found.title}” with its messages.",
            start_new=is_here,
            deleted=found,
            is_public=is_here and found.address.private_to is None,
        )

    async def _export(self, call: CommandCall) -> CommandResult:
        meant = await self._readable(call, await self._meant(call))
        at = meant.address if meant.address.private_to == call.author else None
        scope = await readable_by(call, self._access, at)
        conversation, messages = await self._histories.show(meant.id, call.workspace, scope)
        file = await export_conversation(conversation, messages, call.option("format") or "markdown")
        text = f"“{conversation.title}” as a file: {file.name}"
        return CommandResult(text=text, file=file, rests_on=basis_of(messages), quotes_people=True)

    async def _readable(self, call: CommandCall, found: Conversation) -> Conversation:
        """Return a conversation in a thread that the caller reads now. AccessDenied for one that they left."""
        if call.sees_all or await self._access.reads(found.address, call.address, call.author):
            return found
        raise AccessDenied(CANNOT_READ)

    async def _meant(self, call: CommandCall) -> Conversation:
        """The conversation that the command names, else the one it was given in."""
        return await self._find(call, call.option("thread")) if call.option("thread") else current(call)

    async def _find(self, call: CommandCall, wanted: str) -> Conversation:
        """By its number in the list that /threads shows without a word behind it, its id, or how its id begins."""
        listed = await self.visible(call)
        if is_number(wanted) and 1 <= int(wanted) <= len(listed):
            return listed[int(wanted) - 1]
        near = [] if call.sees_all or call.address is None else await self.visible(call, "here")
        found = {item.id: item for item in (*listed, *near) if len(wanted) >= SHORT_ID and item.id.startswith(wanted)}
        if len(found) != 1:
            raise NotFound(f"No conversation {wanted!r} is visible from here. Use /threads to list them.")
        return found.popitem()[1]


def parse_threads(options: Sequence[Option], argument: str) -> Mapping[str, str]:
    """`[mine|here|all] [PAGE]`, or an action, the thread, and the title or the format."""
    words = argument.split()
    found: dict[str, str] = {}
    if words and words[0].lower() in ACTIONS[1:]:
        action = words.pop(0).lower()
        rest = {"rename": "title", "export": "format"}.get(action)
        found = {"action": action, "thread": words[0] if words else ""}
        if rest is not None and len(words) > 1:
            found[rest] = " ".join(words[1:])
        return found
    for word in words:
        name = "page" if word.isdigit() else "show"
        if name in found or (name == "show" and word.lower() not in (*WHOSE, "list")):
            raise BadInput(f"/threads doesn't accept {word!r}. Use mine, here, a page number or an action.")
        found[name] = "" if word.lower() == "list" else word.lower()
    return found


def may_see(call: CommandCall, conversation: Conversation) -> bool:
    """Whether the caller may see a channel's conversation: their own, or one that is not private."""
    reader = conversation.address.private_to
    return call.sees_all or reader is None or call.author in (reader, conversation.owner)


async def _without_closed(call: CommandCall, found: list[Conversation]) -> list[Conversation]:
    """Drop threads that not every channel member may read, except the caller's own and the current one."""
    if call.open_threads is None or call.sees_all:
        return found
    surely = {item.id for item in found if call.author == item.owner or item.address == call.address}
    if len(surely) == len(found):
        return found
    readable = await call.open_threads()
    return [item for item in found if item.id in surely or item.address.thread in readable]


def _require_owner(call: CommandCall, conversation: Conversation, what: str) -> None:
    if not (call.may_moderate or conversation.owner == call.author):
        raise call.refuse(f"Only a moderator or the person who started “{conversation.title}” can {what} it.")


def _page_number(text: str, pages: int) -> int:
    if not text:
        return 1
    if not is_number(text) or not 1 <= int(text) <= pages:
        raise BadInput(f"Page {text!r} doesn't exist. The list has {pages}.")
    return int(text)


def _to_row(conversation: Conversation) -> ThreadRow:
    return ThreadRow(
        id=conversation.id,
        title=conversation.title,
        owner=conversation.owner,
        message_count=conversation.message_count,
        last_used_at=conversation.last_message_at,
        address=conversation.address,
    )


def _line(item: Conversation) -> str:
    count = "1 message" if item.message_count == 1 else f"{item.message_count} messages"
    used = f"{item.last_message_at:%Y-%m-%d %H:%M} UTC"
    return f"{item.title or '(no title)'} ({item.address.platform}, {used}, {count}, `{item.id}`)"


def control_commands(
    conversations: Conversations,
    jobs: Jobs,
    questions: RunningQuestions | None,
    access: Access,
    corpus: CorpusRepository,
) -> Iterator[Command]:
    """Yield /jobs everywhere; /stop and /why where a service has the questions in hand."""

    async def how(call: CommandCall) -> CommandResult:
        if (waiting := await _open_steps(jobs, questions, call)) is not None:
            return CommandResult(text=waiting)
        last = await last_answer(conversations, call)
        tree = await jobs.tree(last.job_id, call.workspace) if last.job_id else []
        shown = await readable_steps(tree, last, await readable_by(call, access), corpus)
        text = _tree_text(shown) or "No steps were recorded for the last answer."
        return CommandResult(text=text, rests_on=basis_of([last]), quotes_people=True)

    help = "show the steps of the current or last answer"
    yield Command(name="jobs", usage="", help=help, run=how, control=True)
    if questions is not None:
        stop, why = partial(_stop, questions), partial(_why, questions)
        yield Command(
            name="stop", usage="", help="stop your newest question here; moderators: anybody's", run=stop, control=True
        )
        yield Command(name="why", usage="", help="show what happened to your last message here", run=why, control=True)


async def _open_steps(jobs: Jobs, questions: RunningQuestions | None, call: CommandCall) -> str | None:
    """Return the steps of the open question of the thread, the oldest that has begun; None without one."""
    waiting = await questions.open_in(call.workspace, call.address) if questions and call.address else []
    for entry in reversed(waiting):
        with suppress(NotFound):  # nothing was done for it yet
            tree = await jobs.tree(stored_ids(entry.incoming).request, call.workspace)
            if text := _tree_text(tree):
                return text
    return "It's queued. No steps have started yet." if waiting else None


async def _stop(questions: RunningQuestions, call: CommandCall) -> CommandResult:
    entry = await questions.newest_open(call.workspace, call.author, call.address)
    if call.may_moderate and call.address is not None and call.address.thread:
        entry = next(iter(await questions.open_in(call.workspace, call.address)), entry)
    if entry is None:
        raise BadInput("You don't have a question in progress here.")
    await questions.stop(entry, call.author, is_moderator=call.may_moderate)
    return CommandResult(text="Stopping. My reply to the question will show that it was stopped.")


async def _why(questions: RunningQuestions, call: CommandCall) -> CommandResult:
    entry = await questions.newest(call.workspace, call.author, call.address)
    if entry is None:
        raise BadInput(
            "I haven't received a message from you here. Mention me to ask. If I still don't reply, ask an admin to "
            "check that I can read this channel."
        )
    said = entry.incoming.text
    about = f" (“{said[:60]}{'…' if len(said) > 60 else ''}”)" if said else ""
    is_failed = entry.status is InboxStatus.FAILED
    progress = f"It failed: {entry.error or entry.final_error}" if is_failed else _PROGRESS[entry.status]
    text = f"Your message of {entry.created_at:%H:%M} UTC{about}: {entry.decision.sentence} {progress}"
    return CommandResult(text=f"{text.strip()} (`{entry.decision.code}`)")


def _tree_text(tree: Sequence[Job]) -> str:
    depth: dict[str, int] = {}
    rows = []
    for job in tree:
        depth[job.id] = depth.get(job.parent_id or "", -1) + 1
        spent = f", {took(job.duration_ms)}" if job.duration_ms is not None else ""
        cost = job.output.get("cost_dollars")
        spent += f", ${cost:.4f}" if isinstance(cost, float) else ""
        asked = job.input.get("query") or job.input.get("question") or ""
        rows.append(f"{'  ' * depth[job.id]}- {job.name}: {job.status.value}{spent} {asked}".rstrip())
    return "\n".join(rows)
