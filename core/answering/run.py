"""One run of a question: its observer, for recordings and metrics, with the root of its job tree, and its limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.domain.answer import Answer, ListedFacts, Reference
from core.domain.chat import ChatMessage, ChatRequest, ToolInvocation, ToolResult
from core.domain.corpus import Page
from core.domain.incoming import IncomingMessage
from core.domain.replies import ChatResponse, Usage
from core.domain.spending import Spent, Tally
from core.domain.support import Judgement
from core.ports import ChatProvider, Clock, Tools
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

    def record_judgement(self, judgement: Judgement) -> None:
        """A sentence was judged."""

    def record_opinion(self, sentences: str) -> None:
        """The model is about to judge sentences: "doubtful" or "all"."""

    def record_proof(self, pages: Mapping[str, Page], direct: Sequence[Reference], notes: Sequence[str]) -> None:
        """The draft is about to be proved from these pages."""

    def finish(self, message_id: str, answer: Answer) -> None:
        """The answer of a complete run is stored."""

    def count_answer(self, message: IncomingMessage, answer: Answer) -> None:
        """A question has its answer."""

    def count_spending(self, spent: Spent) -> None:
        """The model calls of a question are over."""

    def count_failure(self, message: IncomingMessage) -> None:
        """A try ended with an error."""


NO_OBSERVER = RunObserver()


DEFAULT_STEPS = 6  # model turns that may call tools; questions that need more are rare, loops are not
DEFAULT_TOKENS = 200_000  # input and output of all turns together
DEFAULT_SECONDS = 90.0  # people in a chat have left by then


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of one question. At any of them the model is asked once more, without tools, for an answer.

    `steps` counts model turns that may call tools, so a question makes at most `steps + 1` turns (one more each after
    an empty answer, and after a call of a tool at the bound). `tokens` counts all requests of the question. It is
    checked after each turn, so the last turn may exceed it.
    """

    steps: int = DEFAULT_STEPS
    tokens: int = DEFAULT_TOKENS
    seconds: float = DEFAULT_SECONDS

    def __post_init__(self) -> None:
        if self.steps < 1 or self.tokens < 1 or self.seconds <= 0:
            raise ValueError(f"a budget needs at least one step, one token and some time, not {self!r}")


class Meter:
    """The cost of a question so far, compared with its budget. Time runs from its creation."""

    def __init__(self, budget: Budget, clock: Clock, tally: Tally | None = None) -> None:
        """`tally` has the tokens of the question's other requests."""
        self._tally = tally
        self._budget = budget
        self._clock = clock
        self._started = clock.monotonic()
        self._expired = False
        self.steps = 0
        self.usage = Usage()

    @property
    def seconds_left(self) -> float:
        """Never negative."""
        return max(0.0, self._budget.seconds - (self._clock.monotonic() - self._started))

    @property
    def tokens_left(self) -> int:
        """Never negative."""
        return max(0, self._budget.tokens - self._tokens)

    @property
    def is_expired(self) -> bool:
        """Whether something was cut off because the time was up."""
        return self._expired

    def count(self, usage: Usage) -> None:
        """A model turn ended (or was cut off) and cost this."""
        self.steps += 1
        self.usage += usage

    def expire(self) -> None:
        """Treat the time as used up: something was cut off for it."""
        self._expired = True

    def reached(self) -> str | None:
        """The bound that was reached, as words for people ("6 steps"), or None while there is room."""
        if self._expired or self.seconds_left <= 0:
            return f"{self._budget.seconds:g} seconds"
        if self.steps >= self._budget.steps:
            return "1 step" if self._budget.steps == 1 else f"{self._budget.steps} steps"
        if self._tokens >= self._budget.tokens:
            return f"{self._budget.tokens} tokens"
        return None

    @property
    def _tokens(self) -> int:
        """Tokens of the turns, and of the question's other requests (notes on sections, summaries)."""
        return self.usage.total + (self._tally.others.total if self._tally is not None else 0)
