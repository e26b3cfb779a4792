"""Calls of operations: functions over the parts, each with a request model and a response model.

A command runs an operation in its own process, or sends it to the running service (command_client.py to
command_server.py). Requests, responses and progress travel as JSON, by the models in the functions' annotations.
"""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, get_type_hints

from pydantic import ConfigDict, create_model

from core.domain.answer import Answer
from core.domain.corpus import Document, SearchScope
from core.domain.incoming import IncomingMessage
from core.domain.ingest_report import IngestProgress, IngestReport
from core.domain.jobs import Job
from core.features.workspaces import Workspaces
from core.ports import ProgressSink

if TYPE_CHECKING:
    from bot.wiring.parts import Parts
    from core.service.commands.table import Commands

Request = TypeVar("Request")
Response = TypeVar("Response")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerProgress:
    """A change of an answer in the making: more text, a finished or begun step, or neither for a restart."""

    text: str | None = None
    step: Job | None = None

    def apply(self, sink: ProgressSink) -> None:
        """Report it to a progress sink."""
        if self.text is not None:
            sink.text(self.text)
        elif self.step is not None:
            sink.step(self.step)
        else:
            sink.reset()


Progress = AnswerProgress | IngestProgress
OnProgress = Callable[[Progress], None]


@dataclass(slots=True, kw_only=True)
class Caller:
    """The command that made a call."""

    wants_stop: bool = False  # set by Ctrl+C; a command that dies leaves it unset


class Submitter(Protocol):
    """Answers questions of commands: here, or through the inbox of the service (bot/service/submission.py)."""

    async def ask(self, message: IncomingMessage, progress: ProgressSink, caller: Caller) -> Answer:
        """Submit a question and return its answer."""
        ...

    async def retry(self, job_id: str, workspace: str, progress: ProgressSink, caller: Caller) -> Answer:
        """Return a new answer to the question of a failed or cancelled request."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceControls:
    """Parts that only a running service has."""

    submitter: Submitter
    commands: "Commands"
    stop_answer: Callable[[str, str], Awaitable[object]]  # message key, user who asked to stop it
    count_ingest: Callable[[IngestReport], None]
    new_web_link: Callable[[bool], Awaitable[str]]  # opens the pages once; with True, set-up: InvalidState for the demo


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationContext:
    """The parts an operation works on, and the command that called it."""

    parts: "Parts"
    workspace: str
    reader: str  # the local user
    submitter: Submitter
    emit: OnProgress
    service: ServiceControls | None = None  # None: the operation runs in the command's own process
    caller: Caller = field(default_factory=Caller)

    async def scope(self) -> SearchScope:
        return await self.parts.access.scope(self.workspace, reader=self.reader)

    async def find_document(self, name: str) -> Document:
        return await self.parts.library.find_document(name, await self.scope())


def workspaces_of(parts: "Parts") -> Workspaces:
    """Return the workspaces of the configuration and of the library."""
    configured = {*parts.config.workspaces, *(spec.workspace for spec in parts.config.source_specs())}
    return Workspaces(parts.stores.corpus, parts.bindings, parts.default_workspace, configured)


class JsonForm(Generic[T]):
    """The JSON form of a type. Bytes become base64; text may hold lone surrogates, as odd file names do."""

    def __init__(self, kind: Any) -> None:
        self._model = create_model(
            "Value", __config__=ConfigDict(ser_json_bytes="base64", val_json_bytes="base64"), value=(kind, ...)
        )

    def dump(self, value: T) -> Any:
        return self._model.model_construct(value=value).model_dump(mode="json", warnings=False)["value"]

    def load(self, plain: Any) -> T:
        """ValueError for a value of another type."""
        found: T = dict(self._model.model_validate({"value": plain}))["value"]
        return found


@dataclass(frozen=True)
class Operation(Generic[Request, Response]):
    """A function over the parts; its annotations are the models of its request and response."""

    run: Callable[[OperationContext, Request], Coroutine[Any, Any, Response]]

    @property
    def name(self) -> str:
        return self.run.__name__

    @cached_property
    def request(self) -> JsonForm[Request]:
        _, kind, *_ = get_type_hints(self.run).values()
        return JsonForm(kind)

    @cached_property
    def response(self) -> JsonForm[Response]:
        return JsonForm(get_type_hints(self.run)["return"])


PROGRESS: JsonForm[Progress] = JsonForm(Progress)
OPERATIONS: dict[str, Operation[Any, Any]] = {}  # by name


def operation(
    run: Callable[[OperationContext, Request], Coroutine[Any, Any, Response]],
) -> Operation[Request, Response]:
    """Register a function as an operation of its name."""
    made = Operation(run)
    OPERATIONS[made.name] = made
    return made


class Operations(Protocol):
    """The operations on one data directory, run in this process or by the running service."""

    workspace: str

    async def call(
        self, operation: Operation[Request, Response], request: Request, on_progress: OnProgress = ...
    ) -> Response:
        """Run an operation. Raises its FootnoteError."""
        ...
