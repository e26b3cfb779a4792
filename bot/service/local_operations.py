"""Operations in the process of a command, and the two operations that answer a question."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from bot.runtime.system import author_name
from bot.service.calls import (
    AnswerProgress,
    Caller,
    OnProgress,
    Operation,
    OperationContext,
    Progress,
    Request,
    Response,
    operation,
)
from core.domain.answer import Answer
from core.domain.incoming import IncomingMessage
from core.domain.jobs import Job
from core.ports import ProgressSink

if TYPE_CHECKING:
    from bot.wiring.parts import Parts
    from core.answering.pipeline import Pipeline


def ignore(_progress: Progress) -> None:
    """Ignore progress."""


@dataclass(frozen=True, slots=True)
class EmittingSink:
    """A progress sink that passes each change on."""

    emit: OnProgress

    def text(self, piece: str) -> None:
        self.emit(AnswerProgress(text=piece))

    def reset(self) -> None:
        self.emit(AnswerProgress())

    def step(self, job: Job) -> None:
        self.emit(AnswerProgress(step=job))


class LocalOperations:
    """Operations in this process, on the parts that `build` opens on a stack (implements Submitter, too)."""

    def __init__(self, workspace: str, build: "Callable[[AsyncExitStack], Awaitable[Parts]]") -> None:
        self.workspace = workspace
        self._build = build
        self._stack = AsyncExitStack()

    async def open(self) -> None:
        self._parts = await self._build(self._stack)

    async def close(self) -> None:
        await self._stack.aclose()

    async def call(
        self, operation: Operation[Request, Response], request: Request, on_progress: OnProgress = ignore
    ) -> Response:
        context = OperationContext(
            parts=self._parts, workspace=self.workspace, reader=author_name(), submitter=self, emit=on_progress
        )
        return await operation.run(context, request)

    @cached_property
    def _pipeline(self) -> "Pipeline":
        from bot.wiring.pipeline import build_pipeline  # only questions need it, and it takes long to import

        return build_pipeline(self._parts)

    async def ask(self, message: IncomingMessage, progress: ProgressSink, caller: Caller) -> Answer:
        return await self._pipeline.answer(message, progress)

    async def retry(self, job_id: str, workspace: str, progress: ProgressSink, caller: Caller) -> Answer:
        return await self._pipeline.answer(await self._parts.jobs.question_of(job_id, workspace), progress)


@operation
async def answer(context: OperationContext, request: IncomingMessage) -> Answer:
    """Answer a command's question; with a service, through its inbox."""
    return await context.submitter.ask(request, EmittingSink(context.emit), context.caller)


@operation
async def retry_job(context: OperationContext, request: str) -> Answer:
    """Ask the question of a failed or cancelled request again."""
    return await context.submitter.retry(request, context.workspace, EmittingSink(context.emit), context.caller)
