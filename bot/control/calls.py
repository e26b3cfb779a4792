"""What a command may ask of a running service: the use cases of its Parts, by name."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from bot.control.submission import Asking, Caller
from core.domain.answer import Answer
from core.domain.conversation import IncomingMessage
from core.domain.ingest_report import IngestProgress, IngestReport
from core.domain.jobs import Job
from core.errors import InvalidState
from core.ports import ProgressSink

if TYPE_CHECKING:
    from bot.wiring.parts import Parts
    from core.service.commands import Commands

# part of the Parts -> its methods that commands use
PARTS = {
    "answers": ("answer",),
    "cassettes": ("list_runs", "play_cases", "replay", "set_case"),
    "commands": ("run",),
    "conversations": ("create", "delete", "list_conversations", "rename", "show"),
    "corpus": ("get_document", "get_page", "list_documents", "list_readable", "list_sources"),
    "explanations": ("of",),
    "extractions": ("run",),
    "facts": ("find", "list_extracts", "of_pages", "ontology", "summaries", "troubles"),
    "histories": ("show",),
    "jobs": ("cancel", "recent", "retry", "tree"),
    "library": (
        "documents",
        "find_document",
        "page",
        "page_by_number",
        "remove_document",
        "remove_source",
        "search",
        "sources",
    ),
    "staleness": ("list_stale",),
    "statistics": ("of",),
    "syncs": ("forget", "overview", "sync"),
    "upkeep": ("back_up", "check", "reindex", "status"),
}
PROGRESS = {"$": "progress"}  # stands for the caller's progress sink or callback among the arguments
# What a sink or a callback is told, as the caller then calls it.
SINK_METHODS = ("text", "reset", "step", "__call__")
Tell = Callable[[str, Sequence[object]], None]
UseCase = Callable[..., Awaitable[object]]


class SentProgress:
    """Progress of an answer or an ingest, told to the caller at the other end."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def text(self, piece: str) -> None:
        self._tell("text", [piece])

    def reset(self) -> None:
        self._tell("reset", [])

    def step(self, job: Job) -> None:
        self._tell("step", [job])

    def __call__(self, progress: IngestProgress) -> None:
        self._tell("__call__", [progress])


class Calls:
    """The table, bound to an open Parts. `on_ingest` is told what each ingest did.

    `asking` puts questions through the service's inbox; `stop` stops the answer to a message that a worker has in
    hand: its key, and who asked. Without them the Parts is asked itself.
    """

    def __init__(
        self,
        app: "Parts",
        on_ingest: Callable[[IngestReport], None] = lambda report: None,
        stop: Callable[[str, str], Awaitable[object]] | None = None,
        asking: Asking | None = None,
        commands: "Commands | None" = None,
    ) -> None:
        self._app = app
        self._commands = commands
        self._on_ingest = on_ingest
        self._stop = stop
        self._asking = asking

    async def run(self, name: str, arguments: Sequence[Any], options: dict[str, Any], caller: Caller) -> object:
        """What the use case gives. InvalidState for a name or arguments that this version does not know."""
        target = self._target(name, caller)
        try:
            inspect.signature(target).bind(*arguments, **options)
        except TypeError as error:
            raise InvalidState(other_version()) from error
        return await target(*arguments, **options)

    def _target(self, name: str, caller: Caller) -> UseCase:
        own: dict[str, UseCase] = {
            "scope": self._scope,
            "ingest": self._ingest,
            "doctor": self._doctor,
            "jobs.cancel": self._cancel,
        }
        if self._commands is not None:
            own["commands.run"] = self._commands.run
        if self._asking is not None:
            own["answers.answer"] = partial(self._ask, self._asking, caller)
            own["jobs.retry"] = partial(self._ask_again, self._asking, caller)
        if name in own:
            return own[name]
        part, _, method = name.partition(".")
        if method not in PARTS.get(part, ()):
            raise InvalidState(other_version())
        return cast("UseCase", getattr(getattr(self._app, part), method))

    async def _ask(self, asking: Asking, caller: Caller, message: IncomingMessage, progress: ProgressSink) -> Answer:
        return await asking.ask(message, progress, caller)

    async def _ask_again(
        self, asking: Asking, caller: Caller, job_id: str, workspace: str, progress: ProgressSink
    ) -> Answer:
        return await asking.again(job_id, workspace, progress, caller)

    async def _scope(self, workspace: str, reader: str) -> object:
        return await self._app.access.scope(workspace, reader=reader)

    async def _ingest(self, *arguments: Any, **options: Any) -> object:
        report = await self._app.ingest(*arguments, **options)
        self._on_ingest(report)
        return report

    async def _cancel(self, job_id: str, workspace: str) -> object:
        """Whoever owns the service may stop what others asked; the worker then says so in their thread."""
        tree = await self._app.jobs.tree(job_id, workspace)
        key = str(tree[0].input.get("message_key", ""))
        entries = await self._app.inbox_store.find_open(key) if self._stop and key else []
        if self._stop is None or not entries:
            return await self._app.jobs.cancel(job_id, workspace)
        await self._stop(key, entries[0].incoming.author)
        return tree

    async def _doctor(self) -> object:
        from bot.service.doctor import examine

        async def opened() -> "Parts":
            return self._app

        return await examine(opened)


def other_version() -> str:
    return "The running Footnote service is of another version than this command: restart the service."
