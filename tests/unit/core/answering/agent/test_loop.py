import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.answering.agent.turns import MAX_PARALLEL_CALLS
from core.answering.run import Budget, Meter, RunObserver
from core.answering.strategies import tool_use as loop_module
from core.answering.strategies.tool_use import AgentLoop
from core.answering.tools.base import Arguments, Finding, ToolContext
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import ChatMessage, ChatRequest, ChatRole, ToolChoice, ToolInvocation
from core.domain.jobs import JobKind, JobStatus
from core.domain.passages import Span
from core.domain.replies import ChatResponse, CitedText, PassageCitation, StopReason, Usage
from core.errors import ProviderError, ProviderOverloaded, ProviderTimeout
from core.work.steps import Steps
from tests.fakes import ManualClock, RecordingProgress
from tests.scripted import ScriptedProvider, Turn, calls, says, text_of
from tests.stores import Stores
from tests.unit.core.library_builder import Shelf, focus_on

QUESTION = ChatMessage(role=ChatRole.USER, text="Where is the key?")


def search(query: str = "key", id: str = "c1") -> ToolInvocation:
    return ToolInvocation(id=id, name="search", arguments={"query": query})


class Run:
    """One question against a script, with everything a test may look at afterwards."""

    def __init__(
        self,
        script: Sequence[Turn],
        tools: Toolbox,
        budget: Budget | None = None,
        provider: ScriptedProvider | None = None,
    ) -> None:
        self.provider = provider or ScriptedProvider(script)
        self.progress = RecordingProgress()
        self.clock = ManualClock()
        self.steps = Steps(Stores().jobs, self.clock, "local")
        self.observer = tools._observer = RunObserver()
        self.loop = AgentLoop(
            provider=self.provider,
            tools=tools,
            progress=self.progress,
            meter=Meter(budget or Budget(), self.clock),
            system="Be brief.",
            observer=self.observer,
        )

    async def draft(self):
        async with self.steps.step(JobKind.REQUEST, "answer", key="r") as self.observer.root:
            return await self.loop.run([QUESTION])


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("keys.md", "The key is under the mat.", title="Keys")
    await shelf.add("mine.json", "A ruby.", title="Mine", kind="foundry")
    await shelf.add("keep.json", "A ruby.", title="Keep", kind="foundry")
    return shelf


@pytest.fixture
def tools(shelf: Shelf) -> Toolbox:
    return shelf.toolbox()


async def test_an_answer_without_tools_is_the_draft(tools):
    run = Run([says("I don't know.")], tools)
    draft = await run.draft()
    assert (text_of(draft), draft.partial, draft.new_messages, draft.model) == ("I don't know.", False, (), "scripted")
    assert run.progress.shown == "I don't know."
    (request,) = run.provider.requests
    assert (request.system, request.tool_choice) == ("Be brief.", ToolChoice.AUTO)
    assert [tool.name for tool in request.tools] == ["search", "get_page", "query_journal"]


async def test_tools_are_called_until_the_model_answers(tools):
    citation = PassageCitation(passage_id="local/handbook/keys.md@r1#1:0", span=Span(0, 7), cited_text="The key")
    run = Run([calls(search()), says("Under the mat.", citation)], tools)
    draft = await run.draft()
    assert draft.segments == (CitedText(text="Under the mat.", citations=(citation,)),)
    assert [item.source.passage.text for item in draft.evidence.passages.values()] == ["The key is under the mat."]
    assert draft.evidence.searches == ("key",)
    assert [turn.role for turn in draft.new_messages] == [ChatRole.ASSISTANT, ChatRole.TOOL_RESULT]
    assert run.provider.requests[1].messages == (QUESTION, *draft.new_messages)


async def test_calls_of_one_turn_run_in_parallel_and_keep_their_order(tools):
    run = Run([calls(search("ruby", "c1"), search("key", "c2")), says("Done.")], tools)
    draft = await run.draft()
    results = draft.new_messages[1].tool_results
    assert [result.invocation_id for result in results] == ["c1", "c2"]
    assert [[item.number for item in result.passages] for result in results] == [[1, 2], [3]]


async def test_text_before_a_tool_call_is_no_part_of_the_answer(tools):
    run = Run([calls(search(), text="Let me look."), says("Under the mat.")], tools)
    draft = await run.draft()
    assert (text_of(draft), run.progress.shown, run.progress.resets) == ("Under the mat.", "Under the mat.", 1)


async def test_a_native_turn_goes_back_to_the_model_but_not_into_history(tools):
    native = {"blocks": []}
    run = Run([replace(calls(search()), native=native), says("Done.")], tools)
    draft = await run.draft()
    assert run.provider.requests[1].messages[1].native is native
    assert draft.new_messages[0].native is None


async def test_steps_are_recorded_as_planning_tools_and_synthesis_with_tokens(tools):
    usage = Usage(input_tokens=10, output_tokens=2, cache_read_tokens=5)
    run = Run([replace(calls(search()), usage=usage), replace(says("Done."), usage=usage, model="m-1")], tools)
    draft = await run.draft()
    assert [(job.id, job.kind, job.name, job.parent_id) for job in run.steps.jobs[1:]] == [
        ("r/m0", JobKind.PLANNING, "plan", "r"),
        ("r/t0", JobKind.TOOL, "search", "r"),
        ("r/m1", JobKind.SYNTHESIS, "answer", "r"),
    ]
    assert run.steps.jobs[1].output == {
        "stop_reason": "tools",
        "tools": ["search"],
        "input_tokens": 10,
        "output_tokens": 2,
        "cache_read_tokens": 5,
        "model": "",
    }
    assert draft.usage == usage + usage
    assert draft.model == "m-1"


async def test_after_the_last_step_the_model_has_to_answer_from_what_there_is(tools):
    script = [calls(search(id=f"c{n}")) for n in range(2)] + [says("So far: under the mat.")]
    run = Run(script, tools, Budget(steps=2))
    draft = await run.draft()
    assert (text_of(draft), draft.partial) == ("So far: under the mat.", True)
    last = run.provider.requests[-1]
    assert (last.system, last.tool_choice) == ("Be brief.", ToolChoice.AUTO)  # else the provider's cache would be lost
    assert last.messages[-1].role is ChatRole.USER
    assert last.messages[-1].text.startswith("The limit of 2 steps")
    assert len(run.provider.requests) == 3


async def test_tokens_end_the_search_too(tools):
    costly = replace(calls(search()), usage=Usage(input_tokens=900, output_tokens=100))
    run = Run([costly, says("Enough.")], tools, Budget(tokens=1000))
    draft = await run.draft()
    assert draft.partial and "1000 tokens" in run.provider.requests[-1].messages[-1].text


async def test_so_does_time(tools):
    def slowly(request: ChatRequest) -> ChatResponse:
        run.clock.advance(31)
        return calls(search())

    run = Run([slowly, says("Enough.")], tools, Budget(seconds=30))
    draft = await run.draft()
    assert draft.partial and "30 seconds" in run.provider.requests[-1].messages[-1].text
    assert draft.new_messages[1].tool_results[0].text == "Stopped: the time for this question is over."


async def test_a_model_that_calls_at_the_bound_is_asked_once_more_without_tools(tools):
    stubborn = ChatResponse(segments=(CitedText(text="Under the mat."),), tool_invocations=(search(id="c2"),))
    run = Run([calls(search()), stubborn, stubborn], tools, Budget(steps=1))
    draft = await run.draft()
    assert (text_of(draft), draft.partial, len(draft.new_messages)) == ("Under the mat.", True, 2)
    assert [request.tool_choice for request in run.provider.requests][1:] == [ToolChoice.AUTO, ToolChoice.NONE]


class HangingProvider(ScriptedProvider):
    """Never comes back from its first `hangs` requests."""

    hangs = 1

    async def complete(self, request, on_text=None):
        if len(self.requests) < self.hangs:
            self.requests.append(request)
            if on_text:
                on_text("I was about to")
            await asyncio.Event().wait()
        return await super().complete(request, on_text)


async def test_a_model_that_hangs_is_cut_off_and_asked_for_a_last_answer(tools):
    provider = HangingProvider([says("unused"), says("Nothing yet.")])
    run = Run([], tools, Budget(seconds=0.02), provider)
    draft = await run.draft()
    assert (text_of(draft), draft.partial, len(provider.requests)) == ("Nothing yet.", True, 2)
    assert run.progress.shown == "Nothing yet."
    assert run.steps.jobs[1].output == {"timed_out": True}


async def test_a_model_that_hangs_to_the_end_is_a_timeout(tools, monkeypatch):
    monkeypatch.setattr(loop_module, "FINAL_SECONDS", 0.02)
    provider = HangingProvider([])
    provider.hangs = 9
    run = Run([], tools, Budget(seconds=0.02), provider)
    with pytest.raises(ProviderTimeout, match=r"limit: 0\.02 seconds"):
        await run.draft()


async def test_a_timeout_that_a_provider_lets_out_is_not_taken_for_ours(tools):
    def broken(request: ChatRequest) -> ChatResponse:
        raise TimeoutError("socket")

    with pytest.raises(TimeoutError, match="socket"):
        await Run([broken], tools).draft()


class NoArguments(Arguments):
    pass


class HangingTool:
    name = "hang"
    description = "Never ends."
    arguments = NoArguments

    async def run(self, arguments: NoArguments, context: ToolContext) -> Finding:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")


class BrokenTool(HangingTool):
    name = "broken"

    async def run(self, arguments: NoArguments, context: ToolContext) -> Finding:
        raise ZeroDivisionError("a bug")


def invoke(name: str, id: str) -> ToolInvocation:
    return ToolInvocation(id=id, name=name, arguments={})


async def test_a_tool_that_hangs_is_cut_off_and_the_others_results_are_kept(shelf):
    tools = Toolbox([HangingTool(), *shelf.toolbox()._tools.values()], shelf.context())
    run = Run([calls(search(), invoke("hang", "c2")), says("Under the mat.")], tools, Budget(seconds=2))
    draft = await run.draft()
    found, cut_off = draft.new_messages[1].tool_results
    assert (found.is_error, len(found.passages)) == (False, 1)
    assert (cut_off.is_error, cut_off.text) == (True, "Stopped: the time for this question is over.")
    assert draft.partial
    assert [job.status for job in run.steps.jobs if job.name == "hang"] == [JobStatus.CANCELLED]


async def test_a_bug_in_a_tool_escapes_at_once_and_stops_the_others(shelf):
    tools = Toolbox([HangingTool(), BrokenTool()], shelf.context())
    run = Run([calls(invoke("hang", "c1"), invoke("broken", "c2"))], tools)
    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(run.draft(), 60)
    assert all(job.status.is_final for job in run.steps.jobs)


async def test_stopping_an_answer_stops_its_tools(shelf):
    run = Run([calls(invoke("hang", "c1"))], Toolbox([HangingTool()], shelf.context()))
    task = asyncio.create_task(run.draft())
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(job.name, job.status) for job in run.steps.jobs if job.status is JobStatus.CANCELLED] == [
        ("answer", JobStatus.CANCELLED),
        ("hang", JobStatus.CANCELLED),
    ]


async def test_too_many_calls_in_one_turn_are_refused_but_paired(tools):
    many = [search(id=f"c{n}") for n in range(MAX_PARALLEL_CALLS + 2)]
    run = Run([calls(*many), says("Done.")], tools)
    draft = await run.draft()
    results = draft.new_messages[1].tool_results
    assert [result.is_error for result in results] == [False] * MAX_PARALLEL_CALLS + [True] * 2
    assert results[-1].text == f"Not run: at most {MAX_PARALLEL_CALLS} calls a turn."


async def test_ids_that_repeat_or_are_missing_are_made_unique(tools):
    run = Run(
        [replace(calls(search(id="x"), search(id="x"), search(id="")), native=1), calls(search(id="x")), says("Done.")],
        tools,
    )
    draft = await run.draft()
    ids = [call.id for turn in draft.new_messages for call in turn.tool_invocations]
    assert ids == ["x", "x-1", "call-1", "x-2"]
    assert run.provider.requests[1].messages[1].native is None


async def test_errors_of_tools_go_back_to_the_model(tools):
    run = Run([calls(invoke("fly", "c1")), says("Never mind.")], tools)
    draft = await run.draft()
    assert draft.new_messages[1].tool_results[0].is_error
    assert (text_of(draft), draft.partial) == ("Never mind.", False)


async def test_a_tool_that_needs_a_choice_ends_the_turn(tools):
    asked = ToolInvocation(id="c1", name="query_journal", arguments={"query": "ruby"})
    run = Run([calls(asked)], tools)
    draft = await run.draft()
    assert (text_of(draft), draft.partial) == ("Which journal do you mean?", False)
    assert set(draft.choices) == {"Mine", "Keep"}
    assert len(draft.new_messages) == 2 and len(run.provider.requests) == 1


async def test_a_paused_model_goes_on_where_it_was(tools):
    paused = ChatResponse(segments=(CitedText(text="Under "),), stop_reason=StopReason.PAUSED, native="n")
    run = Run([paused, says("the mat.")], tools)
    draft = await run.draft()
    assert (text_of(draft), draft.new_messages) == ("Under the mat.", ())
    resumed = run.provider.requests[1].messages[-1]
    assert (resumed.role, resumed.text, resumed.native) == (ChatRole.ASSISTANT, "Under ", "n")


async def test_a_pause_with_nothing_said_sends_the_same_again(tools):
    run = Run([ChatResponse(stop_reason=StopReason.PAUSED), says("Under the mat.")], tools)
    assert text_of(await run.draft()) == "Under the mat."
    assert run.provider.requests[0].messages == run.provider.requests[1].messages


async def test_what_was_said_before_a_pause_and_a_tool_call_is_no_part_of_the_answer(tools):
    paused = ChatResponse(segments=(CitedText(text="Let me"),), stop_reason=StopReason.PAUSED)
    run = Run([paused, calls(search()), says("Under the mat.")], tools)
    assert text_of(await run.draft()) == "Under the mat."


async def test_pauses_are_bounded_by_the_budget(tools):
    paused = ChatResponse(segments=(CitedText(text="a "),), stop_reason=StopReason.PAUSED)
    run = Run([paused, paused, says("b.")], tools, Budget(steps=2))
    draft = await run.draft()
    assert (text_of(draft), draft.partial) == ("a a b.", True)


async def test_an_answer_cut_at_the_output_limit_says_so(tools):
    cut = replace(says("Under the"), stop_reason=StopReason.MAX_TOKENS)
    draft = await Run([cut], tools).draft()
    assert (text_of(draft), draft.is_cut) == ("Under the", True)


async def test_an_empty_answer_is_asked_for_once_more(tools):
    run = Run([says(" "), says("Under the mat.")], tools)
    assert text_of(await run.draft()) == "Under the mat."
    assert "Your last turn was empty" in run.provider.requests[1].messages[-1].text
    assert run.provider.requests[1].system == "Be brief."


@pytest.mark.parametrize("steps", [1, 6])
async def test_a_second_empty_answer_is_one_clear_error(tools, steps):
    run = Run([says(""), says("")], tools, Budget(steps=steps))
    with pytest.raises(ProviderError, match="scripted gave an empty answer twice"):
        await run.draft()
    assert run.steps.jobs[0].status is JobStatus.FAILED


async def test_a_providers_error_is_the_runs_error(tools):
    run = Run([calls(search()), ProviderOverloaded("The model is busy.")], tools)
    with pytest.raises(ProviderOverloaded):
        await run.draft()
    assert run.steps.jobs[-1].error == "The model is busy."


async def test_the_focus_of_the_conversation_is_searched_first(shelf):
    keep = await shelf.corpus.get_document("local/handbook/keep.json", shelf.scope())
    run = Run([calls(search("ruby")), says("A ruby.")], shelf.toolbox(focus=focus_on(keep)))
    draft = await run.draft()
    assert [item.source.document.title for item in draft.evidence.passages.values()] == ["Keep", "Mine"]
