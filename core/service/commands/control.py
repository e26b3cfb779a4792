"""Control commands: what is running, stop it, why was it decided so. They never wait behind a question."""

from collections.abc import Sequence

from core.answering.answers.stored import stored_ids
from core.domain.jobs import Job
from core.domain.service import InboxEntry, InboxStatus
from core.errors import BadInput, NotFound
from core.service.commands.base import Command, CommandCall, CommandResult
from core.service.commands.library import last_answer
from core.service.commands.running import RunningQuestions
from core.service.jobs.trees import Jobs
from core.text.words import took
from core.work.conversations import Conversations

_PROGRESS = {
    InboxStatus.REFUSED: "",
    InboxStatus.QUEUED: "It waits for its turn.",
    InboxStatus.RUNNING: "I am working on it.",
    InboxStatus.DONE: "Its answer is posted.",
    InboxStatus.CANCELLED: "It was stopped.",
}


class ControlCommands:
    """/jobs everywhere; /stop and /why where a service has the questions in hand."""

    def __init__(self, conversations: Conversations, jobs: Jobs, questions: RunningQuestions | None) -> None:
        self._conversations = conversations
        self._jobs = jobs
        self._questions = questions

    @property
    def rows(self) -> tuple[Command, ...]:
        jobs = Command(
            name="jobs", usage="", help="how the running or the last answer is made", run=self._how, control=True
        )
        if self._questions is None:
            return (jobs,)
        return (
            jobs,
            Command(name="stop", usage="", help="stop your newest question here", run=self._stop, control=True),
            Command(name="why", usage="", help="what became of your newest message here", run=self._why, control=True),
        )

    async def _how(self, call: CommandCall) -> CommandResult:
        """Of what is open in the thread; where nothing is, of the last answer."""
        waiting = (
            await self._questions.open_in(call.workspace, call.address) if self._questions and call.address else []
        )
        if not waiting:
            tree = await self._last(call)
            return CommandResult(text=_tree_text(tree) or "No steps were recorded for the last answer.")
        tree = await self._begun(waiting, call.workspace)
        return CommandResult(text=_tree_text(tree) or "It waits for its turn: no step of it has begun.")

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
            raise BadInput("There is nothing of yours to stop here: no question of yours is open.")
        await questions.stop(entry, call.author)
        return CommandResult(text="Stopping: the post of your question will say so.")

    async def _why(self, call: CommandCall) -> CommandResult:
        entry = await self._require_questions().newest(call.workspace, call.author, call.address)
        if entry is None:
            raise BadInput(
                "I have seen no message of yours here: mention me to ask, and have an admin check that I may read "
                "this channel."
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
