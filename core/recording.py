"""Records what an answer is made from while it is made: the model's turns, the tools' results, the pages that prove it.

`Recording` belongs to one run. The provider finds it in the task's context, as steps find their tree (core/steps.py);
outside a recording it passes requests through.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from core.domain.answer import Answer, Evidence, Reference
from core.domain.cassettes import Cassette, RecordedCall, RecordedTools, RecordedTurn
from core.domain.chat import (
    Capabilities,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    ToolDefinition,
    ToolInvocation,
    ToolResult,
)
from core.domain.conversation import IncomingMessage
from core.domain.corpus import Page
from core.ports import ChatProvider, Tools

_here: ContextVar["Recording | None"] = ContextVar("recording", default=None)


class Recording:
    """What one run has done so far."""

    def __init__(self, strategy: str, question: IncomingMessage, history: Sequence[ChatMessage]) -> None:
        self._strategy = strategy
        self._question = question
        self._history = tuple(map(bare_message, history))
        self._tools: RecordingTools | None = None
        self._provider: ChatProvider | None = None
        self._turns: list[RecordedTurn] = []

    def watch(self, tools: Tools) -> "RecordingTools":
        """The run's tools, recorded from now on."""
        self._tools = RecordingTools(tools)
        return self._tools

    @contextmanager
    def running(self) -> Iterator[None]:
        """Providers called inside are recorded here."""
        token = _here.set(self)
        try:
            yield
        finally:
            _here.reset(token)

    def add(self, provider: ChatProvider, request: ChatRequest, reply: ChatResponse) -> None:
        self._provider = provider
        self._turns.append(RecordedTurn(request=bare_request(request), reply=replace(reply, native=None)))

    def cassette(
        self,
        answer: Answer,
        *,
        pages: Mapping[str, Page],
        direct: Sequence[Reference],
        notes: Sequence[str],
    ) -> Cassette:
        """What was recorded, with what came of it."""
        tools = self._tools
        return Cassette(
            strategy=self._strategy,
            provider=self._provider.name if self._provider else "",
            capabilities=self._provider.capabilities if self._provider else Capabilities(),
            question=self._question,
            history=self._history,
            tools=tools.recorded() if tools is not None else RecordedTools(),
            turns=tuple(self._turns),
            pages=dict(pages),
            direct=tuple(direct),
            notes=tuple(notes),
            answer=replace(answer, jobs=(), timings_ms={}),
        )


class RecordingTools:
    """Implements ports.Tools around those of a run. Calls stand in the order they ended; replaying needs none."""

    def __init__(self, inner: Tools) -> None:
        self._inner = inner
        self._opening: tuple[ChatMessage, ...] = ()
        self._problems: dict[str, str] = {}
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

    async def invoke(self, invocation: ToolInvocation, key: str | None = None) -> ToolResult:
        result = await self._inner.invoke(invocation, key)
        self._calls.append(RecordedCall(invocation=invocation, result=replace(result, images=())))
        return result

    def recorded(self) -> RecordedTools:
        return RecordedTools(
            definitions=self.definitions,
            opening=self._opening,
            problems=dict(self._problems),
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
