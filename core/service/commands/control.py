"""Control commands: show, stop and explain questions. They never queue behind a question."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from core.answering.answers.stored import stored_ids
from core.domain.conversation import ThreadAddress
from core.domain.jobs import Job
from core.domain.service import InboxEntry, InboxStatus
from core.errors import BadInput, InvalidState, NotFound
from core.ports.service import InboxStore
from core.service.commands.library import last_answer
from core.service.inbox import COMMAND
from core.service.jobs import Jobs
from core.text.words import took
from core.work.commands import Command, CommandCall, CommandResult
from core.work.conversations import Conversations

_PROGRESS = {
    InboxStatus.REFUSED: "",
    InboxStatus.QUEUED: "It's queued.",
    InboxStatus.RUNNING: "I'm working on it.",
    InboxStatus.DONE: "Its answer is posted.",
    InboxStatus.CANCELLED: "It was stopped.",
}


LOOKED_THROUGH = 50  # newest messages in which an open question or a decision is looked for


# Deleting a thread waits this long for its answers to stop.
ENDING_PAUSE_SECONDS = 0.05


ENDING_TRIES = 60


class RunningQuestions(Protocol):
    """The questions that a service is processing; without a service, commands that need it are absent."""

    async def open_in(self, workspace: str, address: ThreadAddress) -> list[InboxEntry]:
        """Return a thread's waiting and running questions, newest first."""

    async def newest_open(self, workspace: str, author: str, address: ThreadAddress | None) -> InboxEntry | None:
        """The author's newest question that has not ended: in the thread, else in its channel (None: anywhere)."""

    async def newest(self, workspace: str, author: str, address: ThreadAddress | None) -> InboxEntry | None:
        """The author's newest message with the decision about it, looked for in the same order; no commands."""

    async def stop(self, entry: InboxEntry, by: str) -> None:
        """Stop an answer; its post shows that. InvalidState if it has ended, AccessDenied for another person."""

    async def end_all(self, workspace: str, address: ThreadAddress) -> None:
        """Stop all answers of a thread and wait for their end. InvalidState when they do not end."""


class ControlCommands:
    """/jobs everywhere; /stop and /why where a service has the questions in hand."""

    def __init__(self, conversations: Conversations, jobs: Jobs, questions: RunningQuestions | None) -> None:
        self._conversations = conversations
        self._jobs = jobs
        self._questions = questions

    @property
    def rows(self) -> tuple[Command, ...]:
        jobs = Command(
            name="jobs", usage="", help="show the steps of the current or last answer", run=self._how, control=True
        )
        if self._questions is None:
            return (jobs,)
        return (
            jobs,
            Command(name="stop", usage="", help="stop your newest question here", run=self._stop, control=True),
            Command(
                name="why", usage="", help="show what happened to your last message here", run=self._why, control=True
            ),
        )

    async def _how(self, call: CommandCall) -> CommandResult:
        """Show the open question of the thread, or the last answer."""
        waiting = (
            await self._questions.open_in(call.workspace, call.address) if self._questions and call.address else []
        )
        if not waiting:
            tree = await self._last(call)
            return CommandResult(text=_tree_text(tree) or "No steps were recorded for the last answer.")
        tree = await self._begun(waiting, call.workspace)
        return CommandResult(text=_tree_text(tree) or "It's queued. No steps have started yet.")

    async def _begun(self, waiting: Sequence[InboxEntry], workspace: str) -> Sequence[Job]:
        """The jobs of the oldest that has begun."""
        for entry in reversed(waiting):
            try:
                return await self._jobs.tree(stored_ids(entry.incoming).request, workspace)
            except NotFound:
                continue  # nothing was done for it yet
        return ()

    async def _last(self, call: CommandCall) -> Sequence[Job]:
        last = await last_answer(self._conversations, call)
        return await self._jobs.tree(last.job_id, call.workspace) if last.job_id else ()

    async def _stop(self, call: CommandCall) -> CommandResult:
        questions = self._require_questions()
        entry = await questions.newest_open(call.workspace, call.author, call.address)
        if entry is None:
            raise BadInput("You don't have a question in progress here.")
        await questions.stop(entry, call.author)
        return CommandResult(text="Stopping: the post of your question will say so.")

    async def _why(self, call: CommandCall) -> CommandResult:
        entry = await self._require_questions().newest(call.workspace, call.author, call.address)
        if entry is None:
            raise BadInput(
                "I haven't received a message from you here. Mention me to ask. If I still don't reply, ask an admin "
                "to check that I can read this channel."
            )
        return CommandResult(text=_why_text(entry))

    def _require_questions(self) -> RunningQuestions:
        if self._questions is None:
            raise RuntimeError("these commands are in the table of a running service only")
        return self._questions


def _why_text(entry: InboxEntry) -> str:
    said = entry.incoming.text
    about = f" (“{said[:60]}{'…' if len(said) > 60 else ''}”)" if said else ""
    progress = (
        f"It failed: {entry.error or entry.final_error}"
        if entry.status is InboxStatus.FAILED
        else _PROGRESS[entry.status]
    )
    text = f"Your message of {entry.created_at:%H:%M} UTC{about}: {entry.decision.sentence} {progress}"
    return f"{text.strip()} (`{entry.decision.code}`)"


def _tree_text(tree: Sequence[Job]) -> str:
    depth: dict[str, int] = {}
    rows = []
    for job in tree:
        depth[job.id] = depth.get(job.parent_id or "", -1) + 1
        spent = f", {took(job.duration_ms)}" if job.duration_ms is not None else ""
        asked = job.input.get("query") or job.input.get("question") or ""
        rows.append(f"{'  ' * depth[job.id]}- {job.name}: {job.status.value}{spent} {asked}".rstrip())
    return "\n".join(rows)


class ServiceQuestions:
    """RunningQuestions over the inbox and `stop`, which is Worker.cancel."""

    def __init__(self, entries: InboxStore, stop: Callable[[str, str], Awaitable[object]]) -> None:
        self._entries = entries
        self._stop = stop

    async def open_in(self, workspace: str, address: ThreadAddress) -> list[InboxEntry]:
        found = await self._entries.recent(workspace, address=address, limit=LOOKED_THROUGH)
        return [entry for entry in found if not entry.status.is_final]

    async def newest_open(self, workspace: str, author: str, address: ThreadAddress | None) -> InboxEntry | None:
        found = await self._by(workspace, author, address)
        return next((entry for entry in found if not entry.status.is_final), None)

    async def newest(self, workspace: str, author: str, address: ThreadAddress | None) -> InboxEntry | None:
        found = await self._by(workspace, author, address)
        return next((entry for entry in found if entry.decision.code != COMMAND.code), None)

    async def stop(self, entry: InboxEntry, by: str) -> None:
        await self._stop(entry.message_key, by)

    async def end_all(self, workspace: str, address: ThreadAddress) -> None:
        for _ in range(ENDING_TRIES):
            waiting = await self.open_in(workspace, address)
            if not waiting:
                return
            for entry in waiting:
                if entry.cancelled_by is None:
                    await self._stop(entry.message_key, entry.incoming.author)
            await asyncio.sleep(ENDING_PAUSE_SECONDS)
        raise InvalidState("I'm still answering in this thread. Stop the answer first, then delete.")

    async def _by(self, workspace: str, author: str, address: ThreadAddress | None) -> list[InboxEntry]:
        """Return an author's newest messages: the thread's first, then the channel's."""
        found = await self._entries.recent(workspace, author=author, limit=LOOKED_THROUGH)
        if address is None:
            return found
        here = [entry for entry in found if entry.address == address]
        near = [entry for entry in found if entry.address != address and _same_channel(entry.address, address)]
        return here + near


def _same_channel(one: ThreadAddress, other: ThreadAddress) -> bool:
    return (one.platform, one.channel) == (other.platform, other.channel)
