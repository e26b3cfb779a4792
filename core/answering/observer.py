"""The observer of one run, for recordings and metrics, with the root of its job tree."""

from collections.abc import Mapping, Sequence

from core.domain.answer import (
    Answer,
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
from core.ports import ChatProvider, Tools
from core.work.steps import NO_STEPS, Step


class RunObserver:
    """Follows one try at a question. Every method does nothing here; a subclass overrides those it needs."""

    root: Step = NO_STEPS  # of the try's job tree, set when it is open: steps of strategies and tools go below it

    def begin(self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools) -> None:
        """The strategy is about to draft."""

    def choose_strategy(self, name: str) -> None:
        """A strategy starts, or starts again over another provider."""

    def record_turn(self, provider: ChatProvider, request: ChatRequest, reply: ChatResponse) -> None:
        """A model replied."""

    def record_opening(self, turns: Sequence[ChatMessage]) -> None:
        """The toolbox opened with these turns."""

    def record_problem(self, invocation: ToolInvocation, problem: str) -> None:
        """A tool call has invalid arguments."""

    def record_facts(self, listed: ListedFacts | None) -> None:
        """Extracted rows were looked up for a list."""

    def record_call(self, invocation: ToolInvocation, result: ToolResult) -> None:
        """A tool call ended."""

    def record_proof(self, pages: Mapping[str, Page], direct: Sequence[Reference], notes: Sequence[str]) -> None:
        """The draft is about to be proved from these pages."""

    def finish(self, message_id: str, answer: Answer) -> None:
        """The answer of a complete run is stored."""

    def count_answer(self, message: IncomingMessage, answer: Answer) -> None:
        """A question has its answer."""

    def count_failure(self, message: IncomingMessage) -> None:
        """A try ended with an error."""


NO_OBSERVER = RunObserver()
