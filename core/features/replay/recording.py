"""Records what an answer is made from while it is made: the model's turns, the tools' results, the pages that prove it.

`Recording` belongs to one run. The provider finds it in the task's context, as steps find their tree
(core/work/steps.py); outside a recording it passes requests through.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from core.domain.answer import (
    Answer,
    Capabilities,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    Evidence,
    ListedFacts,
    Reference,
    ToolDefinition,
    ToolInvocation,
    ToolResult,
)
from core.domain.conversation import IncomingMessage
from core.domain.corpus import Page
from core.domain.features import Cassette, RecordedCall, RecordedTools, RecordedTurn
from core.ports import ChatProvider, RetrievalStrategy, Tools

_here: ContextVar["Recording | None"] = ContextVar("recording", default=None)


class Recording:
    """What one run has done so far."""

    def __init__(self) -> None:
        self._asked: tuple[IncomingMessage, tuple[ChatMessage, ...]] | None = None
        self._strategy = ""
        self._tools: RecordingTools | None = None
        self._provider: ChatProvider | None = None
        self._turns: list[RecordedTurn] = []
        self._pages: Mapping[str, Page] = {}
        self._direct: tuple[Reference, ...] = ()
        self._notes: tuple[str, ...] = ()

    @contextmanager
    def running(self) -> Iterator[None]:
        """What runs inside is recorded here."""
        token = _here.set(self)
        try:
            yield
        finally:
            _here.reset(token)

    def begin(self, tools: Tools, question: IncomingMessage, history: Sequence[ChatMessage]) -> "RecordingTools":
        """The tools of the run that begins now, recorded."""
        self._asked = (question, tuple(map(bare_message, history)))
        self._tools = RecordingTools(tools)
        return self._tools

    def choose(self, strategy: str) -> None:
        """The strategy that begins now; one that began over a provider which went away is forgotten."""
        self._strategy = strategy
        self._turns.clear()

    def add(self, provider: ChatProvider, request: ChatRequest, reply: ChatResponse) -> None:
        if self._asked is not None:  # what is asked before, such as a summary of the history, is in the history
            self._provider = provider
            self._turns.append(RecordedTurn(request=bare_request(request), reply=replace(reply, native=None)))

    def prove(self, pages: Mapping[str, Page], direct: Sequence[Reference], notes: Sequence[str]) -> None:
        """What the draft was proved from, what the question refers to, and what could not be made ready for it."""
        self._pages, self._direct, self._notes = dict(pages), tuple(direct), tuple(notes)

    def cassette(self, answer: Answer) -> Cassette | None:
        """What was recorded, with what came of it; None where no strategy ran."""
        if self._asked is None or self._tools is None:
            return None
        question, history = self._asked
        return Cassette(
            strategy=self._strategy,
            provider=self._provider.name if self._provider else "",
            capabilities=self._provider.capabilities if self._provider else Capabilities(),
            question=question,
            history=history,
            tools=self._tools.recorded(),
            turns=tuple(self._turns),
            pages=self._pages,
            direct=self._direct,
            notes=self._notes,
            answer=replace(answer, jobs=(), timings_ms={}),
        )


def watched(tools: Tools, question: IncomingMessage, history: Sequence[ChatMessage]) -> Tools:
    """The tools of a run, recorded where a recording runs."""
    recording = _here.get()
    return tools if recording is None else recording.begin(tools, question, history)


def recorded(strategy: RetrievalStrategy) -> RetrievalStrategy:
    """The strategy that answers, noted where a recording runs."""
    if (recording := _here.get()) is not None:
        recording.choose(strategy.name)
    return strategy


def note_proof(pages: Mapping[str, Page], direct: Sequence[Reference], notes: Sequence[str]) -> None:
    """What an answer was proved from, for the recording, where one runs."""
    if (recording := _here.get()) is not None:
        recording.prove(pages, direct, notes)


class RecordingTools:
    """Implements ports.Tools around those of a run. Calls stand in the order they ended; replaying needs none."""

    def __init__(self, inner: Tools) -> None:
        self._inner = inner
        self._opening: tuple[ChatMessage, ...] = ()
        self._problems: dict[str, str] = {}
        self._listed: ListedFacts | None = None
        self._calls: list[RecordedCall] = []

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        return self._inner.definitions

    @property
    def evidence(self) -> Evidence:
        return self._inner.evidence

    def adopt(self, history: Sequence[ChatMessage]) -> None:
        self._inner.adopt(history)

    def opening(self) -> tuple[ChatMessage, ...]:
        self._opening = self._inner.opening()
        return self._opening

    def problem(self, invocation: ToolInvocation) -> str | None:
        problem = self._inner.problem(invocation)
        if problem is not None:
            self._problems[invocation.id] = problem
        return problem

    async def list_facts(self, question: str) -> ListedFacts | None:
        self._listed = await self._inner.list_facts(question)
        return self._listed

    async def invoke(self, invocation: ToolInvocation, key: str | None = None) -> ToolResult:
        result = await self._inner.invoke(invocation, key)
        self._calls.append(RecordedCall(invocation=invocation, result=replace(result, images=())))
        return result

    def recorded(self) -> RecordedTools:
        return RecordedTools(
            definitions=self.definitions,
            opening=self._opening,
            problems=dict(self._problems),
            listed=self._listed,
            calls=tuple(self._calls),
            evidence=self.evidence,
        )


class RecordingProvider:
    """Implements ports.ChatProvider around another one: what is asked inside a recording is kept there."""

    def __init__(self, inner: ChatProvider) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def capabilities(self) -> Capabilities:
        return self._inner.capabilities

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        reply = await self._inner.complete(request, on_text)
        if (recording := _here.get()) is not None:
            recording.add(self._inner, request, reply)
        return reply

    async def close(self) -> None:
        await self._inner.close()


def bare_request(request: ChatRequest) -> ChatRequest:
    """Without the vendor's own forms of earlier turns, which no other run has, and without pictures of pages."""
    return replace(request, messages=tuple(map(bare_message, request.messages)))


def bare_message(message: ChatMessage) -> ChatMessage:
    results = tuple(replace(result, images=()) for result in message.tool_results)
    return replace(message, native=None, tool_results=results)
