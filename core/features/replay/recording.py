"""Recordings: the model's turns, the tools' results and the pages of one run, collected by its observer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from core.answering.observer import RunObserver
from core.domain.answer import (
    Answer,
    Capabilities,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    ListedFacts,
    Reference,
    ToolInvocation,
    ToolResult,
)
from core.domain.conversation import IncomingMessage
from core.domain.corpus import Page
from core.domain.features import Cassette, RecordedCall, RecordedTools, RecordedTurn
from core.ports import ChatProvider, Tools


class Recording(RunObserver):
    """Collects one run and passes its cassette to `keep` after the answer is stored."""

    def __init__(self, keep: Callable[[str, Cassette], None]) -> None:
        self._keep = keep
        self._asked: tuple[IncomingMessage, tuple[ChatMessage, ...], Tools] | None = None
        self._strategy = ""
        self._provider: ChatProvider | None = None
        self._turns: list[RecordedTurn] = []
        self._opening: tuple[ChatMessage, ...] = ()
        self._problems: dict[str, str] = {}
        self._listed: ListedFacts | None = None
        self._calls: list[RecordedCall] = []
        self._pages: Mapping[str, Page] = {}
        self._direct: tuple[Reference, ...] = ()
        self._notes: tuple[str, ...] = ()

    def begin(self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools) -> None:
        self._asked = (question, tuple(map(bare_message, history)), tools)

    def choose_strategy(self, name: str) -> None:
        """Turns over a provider that went away are dropped."""
        self._strategy = name
        self._turns.clear()

    def record_turn(self, provider: ChatProvider, request: ChatRequest, reply: ChatResponse) -> None:
        self._provider = provider
        self._turns.append(RecordedTurn(request=bare_request(request), reply=replace(reply, native=None)))

    def record_opening(self, turns: Sequence[ChatMessage]) -> None:
        self._opening = tuple(turns)

    def record_problem(self, invocation: ToolInvocation, problem: str) -> None:
        self._problems[invocation.id] = problem

    def record_facts(self, listed: ListedFacts | None) -> None:
        self._listed = listed

    def record_call(self, invocation: ToolInvocation, result: ToolResult) -> None:
        """Calls are in the order of their ends; replaying needs none."""
        self._calls.append(RecordedCall(invocation=invocation, result=replace(result, images=())))

    def record_proof(self, pages: Mapping[str, Page], direct: Sequence[Reference], notes: Sequence[str]) -> None:
        self._pages, self._direct, self._notes = dict(pages), tuple(direct), tuple(notes)

    def finish(self, message_id: str, answer: Answer) -> None:
        if self._asked is not None:
            self._keep(message_id, self._to_cassette(*self._asked, answer))

    def _to_cassette(
        self, question: IncomingMessage, history: tuple[ChatMessage, ...], tools: Tools, answer: Answer
    ) -> Cassette:
        return Cassette(
            strategy=self._strategy,
            provider=self._provider.name if self._provider else "",
            capabilities=self._provider.capabilities if self._provider else Capabilities(),
            question=question,
            history=history,
            tools=RecordedTools(
                definitions=tools.definitions,
                opening=self._opening,
                problems=dict(self._problems),
                listed=self._listed,
                calls=tuple(self._calls),
                evidence=tools.evidence,
            ),
            turns=tuple(self._turns),
            pages=self._pages,
            direct=self._direct,
            notes=self._notes,
            answer=replace(answer, jobs=(), timings_ms={}),
        )


def bare_request(request: ChatRequest) -> ChatRequest:
    """Return a request without vendors' own forms of earlier turns, and without page images."""
    return replace(request, messages=tuple(map(bare_message, request.messages)))


def bare_message(message: ChatMessage) -> ChatMessage:
    results = tuple(replace(result, images=()) for result in message.tool_results)
    return replace(message, native=None, tool_results=results)
