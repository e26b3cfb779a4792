"""The default strategy: a model with tools decides on its look-ups, in a loop that others use, too."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.answering.agent import prompts
from core.answering.agent.turns import (
    FINAL_SECONDS,
    ModelTurns,
    StrategyOverProvider,
    TurnStep,
    around_question,
    build_turns,
    invoke_all,
    with_unique_ids,
)
from core.answering.run import NO_OBSERVER, Meter, RunObserver
from core.answering.support.claims import to_last_sentence
from core.domain.answer import Draft
from core.domain.chat import Capabilities, ChatMessage, ChatRequest, ChatRole, ToolChoice, ToolResult
from core.domain.incoming import IncomingMessage
from core.domain.jobs import JobKind
from core.domain.replies import ChatResponse, CitedText, StopReason
from core.errors import ProviderError, ProviderTimeout, UnsupportedFeature
from core.ports import ChatProvider, ProgressSink, Tools
from core.work.steps import Step


class ToolUseStrategy(StrategyOverProvider):
    """One agent loop for each question (implements ports.RetrievalStrategy)."""

    name = "tool_use"

    async def draft(
        self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools, progress: ProgressSink
    ) -> Draft:
        """Raises UnsupportedFeature when the provider has no tools, ProviderError when it gives no answer."""
        capabilities = self._provider.capabilities
        if not capabilities.tools:
            raise UnsupportedFeature(
                f"The provider {self._provider.name!r} can't call tools: choose another provider, or a strategy that "
                "searches by itself."
            )
        tools.adopt(history)
        loop = AgentLoop(
            provider=self._provider,
            tools=tools,
            progress=progress,
            meter=self._meter(),
            system=reading_companion(capabilities, question),
            model=question.model,
            language=question.language,
            observer=self._observer,
        )
        return await loop.run(build_turns(history, question, tools.background))


def reading_companion(capabilities: Capabilities, question: IncomingMessage) -> str:
    """The system prompt for a model with tools."""
    cite = prompts.NATIVE_CITATIONS if capabilities.citations else prompts.MARKERS
    parts = [f"{prompts.TASK}\n{cite}"]
    if question.query_type in prompts.QUERY_TYPES:
        parts.append(prompts.QUERY_TYPES[question.query_type])
    named = question.document or question.journal
    if named:
        parts.append(prompts.ONE_DOCUMENT.format(named))
    return "\n\n".join([*parts, *around_question(question)])


class AgentLoop:
    """One question's run; create a new one for each.

    It makes at most `budget.steps` requests whose tool calls are run, one for the answer, and one more each after an
    empty answer and after a call at the bound. Every other call gets its result in the next turn, also if it was
    refused, failed or was cut off by the clock.
    """

    def __init__(
        self,
        *,
        provider: ChatProvider,
        tools: Tools,
        progress: ProgressSink,
        meter: Meter,
        system: str,
        model: str | None = None,
        language: str | None = None,
        observer: RunObserver = NO_OBSERVER,
    ) -> None:
        self._provider = provider
        self._tools = tools
        self._meter = meter
        self._system = system
        self._model = model
        self._language = language
        self._observer = observer
        self._model_turns = ModelTurns(provider, meter, progress, model, observer)
        self._turns: list[ChatMessage] = []
        self._new: list[ChatMessage] = []  # tool rounds of this run
        self._paused: tuple[CitedText, ...] = ()  # the answer's beginning, where the model paused in the middle
        self._empty = 0

    async def run(self, turns: Sequence[ChatMessage]) -> Draft:
        """The draft for `turns`, the last of which is the question. Raises ProviderError; bugs of tools escape."""
        opening = self._tools.opening()
        self._turns, self._new = [*turns, *opening], [*opening]
        while (bound := self._meter.reached()) is None:
            response = await self._ask(ToolChoice.AUTO, self._meter.seconds_left)
            if response is None:
                self._meter.expire()
            elif response.tool_invocations:
                results = await self._call_tools(response)
                if chosen := next((result for result in results if result.choices), None):
                    return self._to_draft((CitedText(text=chosen.text),), response, choices=chosen.choices)
            elif response.stop_reason is StopReason.PAUSED:
                self._resume_later(response)
            elif self._is_answer(response):
                return self._to_draft((*self._paused, *response.segments), response)
        return await self._answer_at(bound)

    async def _answer_at(self, bound: str) -> Draft:
        """Return the partial answer from the findings so far.

        The bound is a user's turn, and tools are forbidden only if the model calls one nevertheless: another system
        prompt or tool choice would end the provider's cache.
        """
        self._tell(prompts.last_turn(bound))
        choice = ToolChoice.AUTO
        while True:
            response = await self._ask(choice, FINAL_SECONDS)
            if response is None:
                raise ProviderTimeout(f"{self._provider.name} gave no answer in time (limit: {bound}). Ask again.")
            if response.tool_invocations:
                choice = ToolChoice.NONE
            elif self._is_answer(response):
                return self._to_draft((*self._paused, *response.segments), response, partial=True)

    async def _ask(self, choice: ToolChoice, seconds: float) -> ChatResponse | None:
        """One model turn, or None when `seconds` have passed without one."""
        request = ChatRequest(
            system=self._system,
            messages=tuple(self._turns),
            tools=self._tools.definitions,
            tool_choice=choice,
            language=self._language,
        )
        return await self._model_turns.ask(request, seconds, TurnStep(conclude=_conclude))

    def _tell(self, text: str) -> None:
        self._turns.append(ChatMessage(role=ChatRole.USER, text=text))

    async def _call_tools(self, response: ChatResponse) -> tuple[ToolResult, ...]:
        """Run the calls of one turn in parallel and put both turns into the prompt."""
        self._paused = ()
        calls = with_unique_ids(response.tool_invocations, self._turns)
        native = response.native if calls == response.tool_invocations else None
        results = await invoke_all(self._tools, calls, self._meter, self._observer.root)
        asked = ChatMessage(role=ChatRole.ASSISTANT, text=response.text, tool_invocations=calls, native=native)
        told = ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=results)
        self._turns += [asked, told]
        self._new += [replace(asked, native=None), told]
        return results

    def _resume_later(self, response: ChatResponse) -> None:
        """Send back the text so far; the rest follows in the next turn."""
        self._paused = (*self._paused, *response.segments)
        if response.text.strip() or response.native is not None:
            self._turns.append(ChatMessage(role=ChatRole.ASSISTANT, text=response.text, native=response.native))

    def _is_answer(self, response: ChatResponse) -> bool:
        """Return whether there is text; a second empty reply is an error."""
        if "".join(segment.text for segment in (*self._paused, *response.segments)).strip():
            return True
        self._empty += 1
        if self._empty > 1:
            raise ProviderError(f"{self._provider.name} gave an empty answer twice. Ask again, or in other words.")
        self._tell(prompts.empty_answer())
        return False

    def _to_draft(
        self,
        segments: tuple[CitedText, ...],
        response: ChatResponse,
        *,
        partial: bool = False,
        choices: tuple[str, ...] = (),
    ) -> Draft:
        is_cut = response.stop_reason is StopReason.MAX_TOKENS and not choices
        return Draft(
            segments=to_last_sentence(segments) if is_cut else segments,
            evidence=self._tools.evidence,
            is_numbered=not self._provider.capabilities.citations,
            is_cut=is_cut,
            partial=partial,
            choices=choices,
            new_messages=tuple(self._new),
            usage=self._meter.usage,
            model=response.model or self._model or self._provider.name,
        )


def _conclude(response: ChatResponse, job: Step) -> Mapping[str, object]:
    if not response.tool_invocations:
        job.become(JobKind.SYNTHESIS, "answer")
    return {}
