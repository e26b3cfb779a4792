"""The path of a question: one list of named steps, from a message to a stored, proved answer.

`bot/wiring/pipeline.py` builds the list. Steps before the request may end the path with an answer; the steps of the
request run as one job tree; the steps after it may change what is posted.
"""

import asyncio
from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol

from core.answering.answer_store import AnswerStore, Opened
from core.answering.answers.building import build_error_answer
from core.answering.answers.settled import SettledAnswers
from core.answering.answers.stored import request_input, stored_ids
from core.answering.run import RunObserver
from core.domain.answer import Answer, AnswerStatus, Draft, Reference
from core.domain.chat import ChatMessage
from core.domain.conversation import Focus, Message
from core.domain.corpus import Document, Page, SearchScope
from core.domain.incoming import IncomingMessage
from core.domain.jobs import JobKind
from core.domain.spending import Account
from core.errors import FootnoteError
from core.knowledge.references.linked_context import LinkedContext
from core.ports import Clock, ProgressSink
from core.ports.service import JobRepository
from core.work.attempts import ONLY_ATTEMPT, Attempt
from core.work.retries import is_transient
from core.work.spending import account_of, cost_output
from core.work.steps import Steps

STOPPED = Answer(status=AnswerStatus.STOPPED, text="Stopped.")


class Answering(Protocol):
    """The interface of the pipeline for workers and commands."""

    async def answer(self, message: IncomingMessage, progress: ProgressSink, attempt: Attempt) -> Answer: ...

    async def settle(self, message: IncomingMessage, answer: Answer) -> Answer: ...

    async def leave(self, message: IncomingMessage) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionContext:
    """The scope and focus of a question; its tools are bound to it."""

    scope: SearchScope
    focus: Focus | None
    document: Document | None  # the only document to answer from; None: the whole library
    linked: tuple[Document, ...] = ()  # named by [[links]] in the question or in recent ones
    offer: LinkedContext | None = None  # prefetched text of those
    background: str = ""  # the day and the library in numbers, for a model
    newest: tuple[Document, ...] = ()  # the documents that `background` names


@dataclass(kw_only=True)
class Question:
    """One question on its path. Each step reads what earlier steps set, and sets its own outputs."""

    message: IncomingMessage  # as it is stored
    progress: ProgressSink
    attempt: Attempt
    observer: RunObserver
    private: IncomingMessage | None = None  # the same question, shown only to its asker, if that may find more
    opened: Opened | None = None
    account: Account = field(default_factory=Account)  # that pays for model calls
    asked: IncomingMessage = field(init=False)  # as it is answered, with readable attachments
    before: tuple[Message, ...] = ()  # messages that the question follows, last in the history
    notes: tuple[str, ...] = ()  # one sentence for each part that failed, shown below the answer
    focus: Focus | None = None  # overrides the conversation's focus
    reading: str = ""  # a sentence about a question that was read in other words, shown below the answer
    context: QuestionContext = field(init=False)
    messages: Sequence[Message] = ()  # the redacted history
    references: tuple[Reference, ...] = ()  # direct ones
    history: Sequence[ChatMessage] = ()  # as the model reads it
    draft: Draft = field(init=False)
    pages: dict[str, Page] = field(default_factory=dict)
    answer: Answer = field(init=False)

    @property
    def conversation(self) -> Opened:
        """The opened conversation. Only steps behind the opening may ask for it."""
        if self.opened is None:
            raise RuntimeError("the conversation is not open yet")
        return self.opened


class Stage(Enum):
    """When a step runs."""

    DECIDE = "before the request: a returned answer ends the path"
    REQUEST = "inside the request's job tree: a returned answer skips the rest"
    FINISH = "after the answer is stored"


@dataclass(frozen=True, slots=True)
class PipelineStep:
    """A named step. `run` returns an answer only if it ends the path (DECIDE) or the request (REQUEST)."""

    name: str
    stage: Stage
    run: Callable[[Question], Awaitable[Answer | None]]
    platforms: Container[str] | None = None  # runs for their questions only; None: for all


class Pipeline:
    """Runs the steps over each question (implements Answering)."""

    def __init__(
        self,
        steps: Sequence[PipelineStep],
        *,
        store: AnswerStore,
        settled: SettledAnswers,
        jobs: JobRepository,
        clock: Clock,
        observe: Callable[[], RunObserver] = RunObserver,
    ) -> None:
        """`observe` returns the observer of a new run."""
        self.steps = tuple(steps)
        self._store = store
        self._settled = settled
        self._jobs = jobs
        self._clock = clock
        self._observe = observe
        self.leave = store.leave  # removes a question from the history, as if it had not been asked

    async def answer(self, message: IncomingMessage, progress: ProgressSink, attempt: Attempt = ONLY_ATTEMPT) -> Answer:
        """Answer a message.

        Turns user-facing errors into answers with status error, refused or clarify. Stores question and answer once for
        each event, and returns the stored answer for a repeat. Raises NotFound for an unknown conversation ID,
        BadInput for an unusable question (and stores nothing), and transient errors before the last attempt. A
        cancellation by the asker stores an answer with status stopped.
        """
        question = Question(
            message=message,
            progress=progress,
            attempt=attempt,
            observer=self._observe(),
            account=account_of(message),
        )
        try:
            await self._run(question)
        except FootnoteError:
            question.observer.count_failure(message)
            raise
        except asyncio.CancelledError:
            if attempt.is_withdrawn():
                await asyncio.shield(self._store.forget(question.message))
            raise
        question.observer.count_spending(question.account.spent)
        if not message.is_note:
            question.observer.count_answer(message, question.answer)
        return question.answer

    async def settle(self, message: IncomingMessage, answer: Answer) -> Answer:
        """Return the stored answer of a question; store this one if it has no answer yet. Raises as `answer`."""
        settled = await self._settle(message, answer)
        self._observe().count_answer(message, settled)
        return settled

    async def _settle(self, message: IncomingMessage, answer: Answer) -> Answer:
        return answer if message.is_note else await self._settled.settle(message, answer)

    async def _run(self, question: Question) -> None:
        early = await self._decide(question)
        if early is None:
            question.answer = await self._answer(question)
        elif question.opened is not None:  # the stored answer
            question.answer = early
        else:
            question.answer = await self._settle(question.message, early)
        for step in self._of(Stage.FINISH, question.message):
            await step.run(question)

    async def _decide(self, question: Question) -> Answer | None:
        for step in self._of(Stage.DECIDE, question.message):
            if (answer := await step.run(question)) is not None:
                return answer
        return None

    async def _answer(self, question: Question) -> Answer:
        """Run the request's steps in a job tree, and store the outcome."""
        started = self._clock.monotonic()
        message, attempt, opened = question.message, question.attempt, question.conversation
        request_id = stored_ids(message).request
        earlier = await self._settled.fail_orphaned_steps(request_id) if attempt.number > 1 else []
        steps = Steps(
            self._jobs, self._clock, message.address.workspace, question.progress.step, attempt.number, earlier
        )
        given = request_input(message, opened.conversation.id)
        try:
            root = steps.step(JobKind.REQUEST, "answer", input=given, key=request_id, account=question.account)
            async with root as request:
                question.observer.root = request
                answer, is_drafted = await self._run_steps(question)
                answer = _with_usage(answer, question)
                cost = cost_output(question.account.spent)
                request.output = {"status": answer.status.value, "footnotes": len(answer.citations), **cost}
        except asyncio.CancelledError:
            if attempt.is_stopped():
                await asyncio.shield(
                    self._settled.end(message, opened, _with_usage(STOPPED, question), steps.jobs, started)
                )
            raise
        except FootnoteError as error:
            if is_transient(error) and not attempt.is_last:
                raise
            return await self._settled.end(
                message, opened, _with_usage(build_error_answer(error), question), steps.jobs, started
            )
        draft = question.draft if is_drafted else None
        finished = await self._store.finish(message, opened.conversation, answer, draft, steps.jobs, started)
        if attempt.number == 1:  # retries reuse results of earlier attempts, so their recording would be incomplete
            question.observer.finish(finished.message_id, answer)
        return finished

    async def _run_steps(self, question: Question) -> tuple[Answer, bool]:
        """Run the request's steps; return the answer, and whether it is that of a draft."""
        for step in self._of(Stage.REQUEST, question.message):
            if (early := await step.run(question)) is not None:
                question.answer = early
                return early, False
        return question.answer, True

    def _of(self, stage: Stage, message: IncomingMessage) -> Sequence[PipelineStep]:
        platform = message.address.platform
        steps = [step for step in self.steps if step.stage is stage]
        return [step for step in steps if step.platforms is None or platform in step.platforms]


def _with_usage(answer: Answer, question: Question) -> Answer:
    """Return the answer with the tokens of all requests of the question, even the fruitless ones."""
    tally = question.account.tally
    return replace(answer, usage=tally.total) if tally is not None and tally.total.total else answer
