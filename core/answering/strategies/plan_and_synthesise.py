"""Plan, look up, write: three separate steps. Read `draft` from top to bottom.

A planning request returns only tool calls; the calls run concurrently as jobs without a model; a last request writes a
typed answer only from their results. Text of the planning request is never an answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from core.answering.agent.prompts import bad_form, no_plan, planner
from core.answering.agent.turns import (
    FINAL_SECONDS,
    ModelTurns,
    StrategyOverProvider,
    TurnStep,
    build_turns,
    with_unique_ids,
)
from core.answering.citations import strip_markers
from core.answering.run import Meter, RunObserver
from core.answering.strategies.plans import (
    MOST_CALLS,
    REFUSE,
    RESPOND,
    Called,
    Plan,
    PlannedCall,
    from_json,
    planning_tools,
    read_plan,
    response_type_of,
    run_plan,
    to_json,
    wording_of,
)
from core.answering.strategies.shown_passages import within_tokens
from core.answering.strategies.synthesis import assemble, build_request, gaps_of, is_prose, read_reply
from core.domain.answer import Draft
from core.domain.chat import ChatMessage, ChatRequest, ChatRole, NumberedPassage, Repeats, ToolChoice, ToolInvocation
from core.domain.incoming import IncomingMessage
from core.domain.jobs import JobKind
from core.domain.replies import ChatResponse, CitedText, StopReason
from core.domain.response_data import GENERAL, ResponseData
from core.errors import ProviderError, ProviderTimeout, UnsupportedFeature
from core.ports import ChatProvider, ProgressSink, Tools
from core.text.words import collapse
from core.work.steps import CALL, Step

PLAN = "plan"
TRIES = 2  # of the plan, and of the answer's form
WITHOUT_PLAN = "(The model made no plan for this, so I looked up the question as it stands.)"
WITHOUT_FORM = "(The model did not keep to the form for this kind of answer, so this is plain text.)"


class _NoPlan(ProviderError):
    """A reply without a single call that can be run."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(["The reply held no tool call that can be run.", *problems]))
        self.problems = tuple(problems)


class PlanAndSynthesiseStrategy(StrategyOverProvider):
    """Implements ports.RetrievalStrategy. Makes at most 2 * TRIES requests; tools cost none."""

    name = "plan_and_synthesise"

    async def draft(
        self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools, progress: ProgressSink
    ) -> Draft:
        """Raise UnsupportedFeature if the provider can't plan, ProviderError if it returns no answer.

        Only steps are shown while it runs, because the answer isn't text until it is read.
        """
        capabilities = self._provider.capabilities
        if not capabilities.tools or capabilities.quotes_only:
            raise UnsupportedFeature(
                f"The provider {self._provider.name!r} can't plan: choose one whose model calls tools."
            )
        tools.adopt(history)
        run = _Run(question, tools, self._meter(), self._provider, self._observer)
        plan, notes = await run.plan(build_turns(history, question, tools.background))
        if not plan.calls:
            return replace(run.to_draft(()), unanswerable=plan.reason)
        called = await run_plan(plan, tools, run.meter, self._observer.root)
        if chosen := next((result for _, result in called if result.choices), None):
            return replace(run.to_draft(called, CitedText(text=chosen.text)), choices=chosen.choices)
        written = await run.synthesise(plan, called)
        return replace(written, notes=(*notes, *written.notes))


class _Run:
    """One question."""

    def __init__(
        self, question: IncomingMessage, tools: Tools, meter: Meter, provider: ChatProvider, observer: RunObserver
    ) -> None:
        self.meter = meter
        self._root = observer.root
        self._question = question
        self._tools = tools
        self._provider = provider
        self._model = ModelTurns(provider, meter, None, question.model, observer)
        self._opening = tools.opening()
        self._answered_by = question.model or provider.name

    async def plan(self, turns: Sequence[ChatMessage]) -> tuple[Plan, tuple[str, ...]]:
        """Return the model's plan with notes for people; the plan of an earlier attempt, if there is one."""
        if (done := self._root.finished_before(JobKind.PLANNING, PLAN)) is not None:
            self._root.adopt(done)
            return from_json(cast("Mapping[str, Any]", done.output[PLAN])), ()
        messages = (*turns, *self._opening)
        system = planner(self._question, most=MOST_CALLS, respond=RESPOND, refuse=REFUSE)
        request = ChatRequest(
            system=system,
            messages=messages,
            tools=planning_tools(self._tools.definitions),
            tool_choice=ToolChoice.ANY,
            repeats=Repeats.NOTHING,
        )
        for number in range(TRIES):
            try:
                return await self._ask_for_plan(request, number), ()
            except _NoPlan as error:
                if self.meter.reached() is not None:
                    break
                request = replace(request, system=f"{system}\n\n{no_plan(error.problems)}")
        query = ToolInvocation(id="", name="search", arguments={"query": collapse(self._question.text)[:300]})
        (search,) = with_unique_ids([query], messages)
        return Plan(calls=(PlannedCall(key="c1", invocation=search),)), (WITHOUT_PLAN,)

    async def _ask_for_plan(self, request: ChatRequest, number: int) -> Plan:
        """Raises _NoPlan, which is how its job ends, too."""
        read = Plan()

        def conclude(response: ChatResponse, job: Step) -> Mapping[str, object]:
            nonlocal read
            read = read_plan(with_unique_ids(response.tool_invocations, request.messages), self._tools.problem)
            if not read.calls and not read.reason:
                raise _NoPlan(read.problems)
            names = [call.invocation.name for call in read.calls]
            return {"tools": names, PLAN: to_json(read), CALL: PLAN}

        about = TurnStep(name=PLAN, key=f"{PLAN}{number or ''}", conclude=conclude)
        if await self._model.ask(request, self.meter.seconds_left, about) is None:
            raise ProviderTimeout(f"{self._provider.name} made no plan in time. Ask again.")
        return read

    async def synthesise(self, plan: Plan, called: Sequence[Called]) -> Draft:
        """Return the typed draft; one without text if there are no results."""
        response_type = response_type_of(plan, wording_of(self._question.text))
        shown, left = self._shown(called)
        gaps = tuple(gaps_of(plan, called))
        if not any(passages for _, passages in shown):
            async with self._root.step(JobKind.SYNTHESIS, "answer", key="synthesis") as job:
                job.output = {"skipped": "Nothing was found to write from."}
            return replace(self.to_draft(called), response_type=response_type, data_gaps=gaps)
        request = build_request(self._question, plan, response_type, shown, self._provider.capabilities)
        data, response = await self._write(request, response_type)
        if data is None:
            prose = replace(self.to_draft(called, *response.segments), data_gaps=gaps)
            return replace(prose, response_type=GENERAL, notes=(WITHOUT_FORM,))
        assembled = assemble(data)
        return replace(
            self.to_draft(called, *assembled.segments),
            partial=left > 0 or self.meter.is_expired,
            response_type=response_type,
            data=data.model_dump(mode="json", exclude={"data_sources", "data_gaps"}),
            data_items=assembled.items,
            data_gaps=(*map(strip_markers, data.data_gaps), *gaps),
        )

    def _shown(self, called: Sequence[Called]) -> tuple[list[tuple[Called, list[NumberedPassage]]], int]:
        """Return each result with its passages that fit the prompt, and the number of the others."""
        results = [  # of linked context, which needs no call
            (ToolInvocation(id=result.invocation_id, name=result.name, arguments={}), result)
            for turn in self._opening
            for result in turn.tool_results
        ]
        everything = [*results, *called]
        room = min(self.meter.tokens_left, self._provider.capabilities.context_tokens // 2)
        kept, left = within_tokens([result.passages for _, result in everything], room)
        return list(zip(everything, kept, strict=True)), left

    async def _write(self, request: ChatRequest, response_type: str) -> tuple[ResponseData | None, ChatResponse]:
        """Return the data, or None for an answer in words. Raises ProviderError for anything else."""
        system, problem, response = request.system, "", ChatResponse()
        for number in range(TRIES):
            about = TurnStep(kind=JobKind.SYNTHESIS, name="answer", key=f"synthesis{number or ''}")
            given = await self._model.ask(request, max(self.meter.seconds_left, FINAL_SECONDS), about)
            if given is None:
                raise ProviderTimeout(f"{self._provider.name} wrote no answer in time. Ask again.")
            response = given
            self._answered_by = response.model or self._answered_by
            read = read_reply(response, response_type)
            if not isinstance(read, str):
                return read, response
            problem = "it was cut off: be shorter." if response.stop_reason is StopReason.MAX_TOKENS else read
            request = replace(request, system=f"{system}\n\n{bad_form(problem)}")
        if is_prose(response):
            return None, response
        raise ProviderError(
            f"{self._provider.name} gave no answer of the form that was asked for ({problem.rstrip('.')}). Ask again."
        )

    def to_draft(self, called: Sequence[Called], *segments: CitedText) -> Draft:
        asked = ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=tuple(call for call, _ in called))
        told = ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=tuple(result for _, result in called))
        return Draft(
            segments=segments,
            evidence=self._tools.evidence,
            partial=self.meter.is_expired,
            new_messages=(*self._opening, asked, told) if called else (),
            usage=self.meter.usage,
            model=self._answered_by,
        )
