"""One turn of a model: a step of the question's tree, counted, within its time, shown as it grows.

`ModelTurns` belongs to one question; strategies and the agent loop ask through it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.answering.agent.streaming import HeldText, held_characters
from core.answering.limits import Meter
from core.answering.observer import NO_OBSERVER, RunObserver
from core.domain.answer import ChatMessage, ChatRequest, ChatResponse, ToolChoice, ToolInvocation, Usage
from core.domain.jobs import JobKind
from core.errors import ProviderError
from core.ports import ChatProvider, ProgressSink
from core.work.steps import Step, step

# Seconds of the last request, without tools, after the budget's seconds have passed.
FINAL_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStep:
    """The job of a turn in the tree."""

    kind: JobKind = JobKind.PLANNING
    name: str = "plan"
    key: str | None = None
    # Called with the response before the step ends: sets its output, next to its cost, and may rename it.
    conclude: Callable[[ChatResponse, Step], Mapping[str, object]] | None = None


class ModelTurns:
    """Asks a provider, within a meter. With `progress` None, its text isn't shown while it runs."""

    def __init__(
        self,
        provider: ChatProvider,
        meter: Meter,
        progress: ProgressSink | None = None,
        model: str | None = None,
        observer: RunObserver = NO_OBSERVER,
    ) -> None:
        self._observer = observer
        self._provider = provider
        self._meter = meter
        self._progress = progress
        self._model = model

    async def ask(self, request: ChatRequest, seconds: float, about: TurnStep) -> ChatResponse | None:
        """The model's turn, or None when `seconds` have passed without one. Raises ProviderError.

        Tool calls that `request` does not allow are left out of it.
        """
        request = replace(request, model=self._model)
        key = about.key if about.key is not None else f"m{self._meter.steps}"
        async with step(about.kind, about.name, input={"messages": len(request.messages)}, key=key) as job:
            response = await self._complete(request, seconds)
            if response is None:
                self._meter.count(Usage())
                job.output = {"timed_out": True}
                return None
            self._meter.count(response.usage)
            if request.tool_choice is ToolChoice.NONE or not request.tools:
                response = replace(response, tool_invocations=())
            told = about.conclude(response, job) if about.conclude is not None else {}
            job.output = {**_to_output(response), **told}
        return response

    async def _complete(self, request: ChatRequest, seconds: float) -> ChatResponse | None:
        """None when `seconds` have passed. Text of a turn that turns out to be no answer is taken back."""
        shown = HeldText(self._progress, held_characters(request)) if self._progress is not None else None
        try:
            async with asyncio.timeout(seconds) as limit:
                response = await self._stream(request, shown)
        except TimeoutError:
            if not limit.expired():
                raise  # a foreign error: a bug of the provider
            if shown is not None:
                shown.drop()
            return None
        if shown is not None:
            if response.tool_invocations:
                shown.drop()
            else:
                shown.release()
        return response

    async def _stream(self, request: ChatRequest, shown: HeldText | None) -> ChatResponse:
        """Run a turn. After a failure behind visible text it is repeated once, as providers retry only unseen text."""
        try:
            reply = await self._provider.complete(request, shown)
        except ProviderError as error:
            if not error.retryable or shown is None or not shown.heard:
                raise
            shown.drop()
            reply = await self._provider.complete(request, shown)
        self._observer.record_turn(self._provider, request, reply)
        return reply


def with_unique_ids(calls: Sequence[ToolInvocation], turns: Sequence[ChatMessage]) -> tuple[ToolInvocation, ...]:
    """Make the ids of calls differ from each other and from those of `turns`: results are matched by id.

    Local servers restart the numbers in each reply, or send none.
    """
    used = {call.id for turn in turns for call in turn.tool_invocations}
    unique = []
    for call in calls:
        new_id, count = call.id, 0
        while not new_id or new_id in used:
            count += 1
            new_id = f"{call.id or 'call'}-{count}"
        used.add(new_id)
        unique.append(call if new_id == call.id else replace(call, id=new_id))
    return tuple(unique)


def _to_output(response: ChatResponse) -> Mapping[str, object]:
    usage = response.usage
    return {
        "stop_reason": response.stop_reason.value,
        "tools": [call.name for call in response.tool_invocations],
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "model": response.model,
    }
