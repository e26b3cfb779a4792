"""What every RetrievalStrategy promises (core/ports), with the shipped tools over a library in memory.

That a kill -9 is survived is tested with real processes in tests/integration/test_strategies_killed.py.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from core.answering.answers.stored import stored_ids
from core.answering.run import Budget
from core.answering.strategies.always_retrieve import AlwaysRetrieveStrategy
from core.answering.strategies.plan_and_synthesise import PlanAndSynthesiseStrategy
from core.answering.strategies.tool_use import ToolUseStrategy
from core.answering.tools.base import Finding, ToolContext
from core.answering.tools.search import SearchArguments, SearchTool
from core.answering.tools.toolbox import Toolbox
from core.domain.answer import Answer, AnswerStatus, Draft
from core.domain.chat import Capabilities, ChatMessage, ChatRequest, ChatRole, ToolChoice
from core.domain.corpus import SearchScope
from core.domain.jobs import Job, JobKind, JobStatus
from core.domain.replies import ChatResponse, Usage
from core.errors import ProviderError, ProviderOverloaded, ProviderRateLimited, ToolFailed
from core.ports import RetrievalStrategy
from core.work.attempts import Attempt
from core.work.conversations import Conversations
from tests.builders import build_incoming
from tests.fakes import ManualClock, RecordingProgress
from tests.librarian import USAGE, Librarian, called, said
from tests.pipeline import always, build_answers
from tests.scripted import ScriptedProvider, Turn, check_request, text_of
from tests.stores import Stores
from tests.unit.core.library_builder import Shelf

MOST_REQUESTS = 4  # of any strategy at a budget of two steps


@dataclass(frozen=True, kw_only=True)
class Case:
    """A strategy, and what the model under it can do."""

    make: Callable[..., RetrievalStrategy]
    capabilities: Capabilities = field(default_factory=Capabilities)


CASES = {
    "tool_use": Case(make=ToolUseStrategy),
    "always_retrieve": Case(make=AlwaysRetrieveStrategy),
    "always_retrieve, no tools": Case(make=AlwaysRetrieveStrategy, capabilities=Capabilities(tools=False)),
    "plan_and_synthesise": Case(make=PlanAndSynthesiseStrategy, capabilities=Capabilities(structured=True)),
    "plan_and_synthesise, form by tool": Case(make=PlanAndSynthesiseStrategy),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("keys.md", "The key is under the mat.", title="Keys")
    await shelf.add("lamp.md", "The lamp hangs in the hall.", title="Lamp")
    return shelf


class WatchedSearch(SearchTool):
    """The search tool, with what tests do to it: how often it ran, and what happens before it does."""

    def __init__(self, before: Callable[[str], Awaitable[None]] | None = None) -> None:
        self.ran: list[str] = []
        self._before = before

    async def run(self, arguments: SearchArguments, context: ToolContext) -> Finding:
        self.ran.append(arguments.query)
        if self._before is not None:
            await self._before(arguments.query)
        return await super().run(arguments, context)


def restless(request: ChatRequest) -> ChatResponse:
    """A model that wants more as long as it may, and never plans or keeps to a form."""
    if request.tool_choice is ToolChoice.NONE or not request.tools:
        return said("So far nothing.")
    return called(Librarian(["more"]).searches()[0])


async def draft(
    case: Case,
    shelf: Shelf,
    script: Sequence[Turn],
    *,
    history: Sequence[ChatMessage] = (),
    budget: Budget | None = None,
    scope: SearchScope | None = None,
    search: SearchTool | None = None,
) -> tuple[Draft, ScriptedProvider, RecordingProgress]:
    provider = ScriptedProvider(script, capabilities=case.capabilities)
    progress = RecordingProgress()
    tools = Toolbox([search or SearchTool()], shelf.context(scope=scope))
    strategy = case.make(provider, budget or Budget(), ManualClock())
    return await strategy.draft(build_incoming(), history, tools, progress), provider, progress


# ------------------------------------------------------------------------------------------------ what it writes


async def test_it_answers_from_passages_that_are_in_its_evidence(case, shelf):
    written, _, progress = await draft(case, shelf, [Librarian()] * 4)
    assert text_of(written) == "Under the mat [1]."
    assert progress.shown in ("", text_of(written))
    assert written.evidence.by_number(1).source.passage.text == "The key is under the mat."
    assert written.evidence.searches
    assert not written.partial and written.model == "m-1"


async def test_tokens_of_all_requests_are_summed(case, shelf):
    written, provider, _ = await draft(case, shelf, [Librarian()] * 4)
    count = len(provider.requests)
    assert written.usage == Usage(input_tokens=USAGE.input_tokens * count, output_tokens=USAGE.output_tokens * count)


async def test_what_it_leaves_for_history_is_a_prompt_that_models_take(case, shelf):
    written, _, _ = await draft(case, shelf, [Librarian()] * 4)
    question = ChatMessage(role=ChatRole.USER, text="Where?")
    tools = Toolbox([SearchTool()], shelf.context()).definitions
    check_request(ChatRequest(system="", messages=(question, *written.new_messages, question), tools=tools))
    assert written.new_messages and all(turn.native is None for turn in written.new_messages)


async def test_history_goes_before_the_question(case, shelf):
    history = [ChatMessage(role=ChatRole.USER, text="Hello"), ChatMessage(role=ChatRole.ASSISTANT, text="Hi")]
    _, provider, _ = await draft(case, shelf, [Librarian()] * 4, history=history)
    texts = [message.text for message in provider.requests[0].messages if message.text]
    assert texts[:2] == ["Hello", "Hi"] and "Where is the key?" in texts[2]


async def test_a_follow_up_may_cite_what_an_earlier_question_found(case, shelf):
    first, _, _ = await draft(case, shelf, [Librarian()] * 4)
    asked = ChatMessage(role=ChatRole.USER, text="Where is the key?")
    history = [asked, *first.new_messages, ChatMessage(role=ChatRole.ASSISTANT, text="Under the mat.")]
    written, provider, _ = await draft(case, shelf, [Librarian(["lamp"], "In the hall")] * 4, history=history)
    assert written.evidence.by_number(1).source.document.title == "Keys"
    for request in provider.requests:
        if request.tools or not any(turn.tool_results for turn in request.messages):
            check_request(request)


async def test_passages_are_numbered_and_told_in_the_order_of_the_calls(case, shelf):
    second = asyncio.Event()

    async def the_first_is_slow(query: str) -> None:
        if query == "lamp":
            second.set()
        elif query == "key mat":
            async with asyncio.timeout(60):
                await second.wait()

    search = WatchedSearch(the_first_is_slow)
    history = [ChatMessage(role=ChatRole.USER, text="Hello"), ChatMessage(role=ChatRole.ASSISTANT, text="Hi")]
    written, _, _ = await draft(case, shelf, [Librarian(["key mat", "lamp"])] * 4, search=search, history=history)
    assert [item.source.document.title for item in written.evidence.passages.values()] == ["Keys", "Lamp"]
    asked, told = written.new_messages
    assert [call.arguments["query"] for call in asked.tool_invocations] == ["key mat", "lamp"]
    assert [result.invocation_id for result in told.tool_results] == [call.id for call in asked.tool_invocations]


async def test_outside_the_scope_there_is_no_evidence(case, shelf):
    nothing = SearchScope(workspace="local", sources=frozenset())
    written, _, _ = await draft(case, shelf, [Librarian()] * 9, budget=Budget(steps=2), scope=nothing)
    assert not written.evidence.passages and written.evidence.searches


# ------------------------------------------------------------------------------------------------ its bounds


@pytest.mark.parametrize(
    "budget", [Budget(steps=1), Budget(steps=2), Budget(tokens=1)], ids=["one step", "two steps", "tokens"]
)
async def test_a_model_that_never_ends_is_ended(case, shelf, budget):
    provider = ScriptedProvider([restless] * 9, capabilities=case.capabilities)
    strategy = case.make(provider, budget, ManualClock())
    try:
        written = await strategy.draft(
            build_incoming(), (), Toolbox([SearchTool()], shelf.context()), RecordingProgress()
        )
    except ProviderError as error:
        assert "Ask again" in str(error)
    else:
        assert text_of(written) in ("So far nothing.", "")  # what is planned is written only where something was found
    assert len(provider.requests) <= MOST_REQUESTS


async def test_a_tool_that_hangs_is_cut_off_and_the_draft_is_partial(case, shelf):
    async def hang(query: str) -> None:
        if query != "lamp":
            await asyncio.Event().wait()

    script = [Librarian(["lamp", "key mat"], "In the hall")] * 4
    history = [ChatMessage(role=ChatRole.USER, text="Hello"), ChatMessage(role=ChatRole.ASSISTANT, text="Hi")]
    async with asyncio.timeout(60):
        written, _, _ = await draft(
            case, shelf, script, budget=Budget(seconds=0.5), search=WatchedSearch(hang), history=history
        )
    assert written.partial
    assert "In the hall [1]" in text_of(written)


async def test_a_model_that_hangs_is_cut_off(case, shelf):
    class Hanging(ScriptedProvider):
        async def complete(self, request: ChatRequest, on_text: Any = None) -> ChatResponse:
            if not self.requests:
                self.requests.append(request)
                await asyncio.Event().wait()
            return await super().complete(request, on_text)

    provider = Hanging([Librarian()] * 4, capabilities=case.capabilities)
    strategy = case.make(provider, Budget(seconds=0.05), ManualClock())
    history = [ChatMessage(role=ChatRole.USER, text="Hello"), ChatMessage(role=ChatRole.ASSISTANT, text="Hi")]
    tools = Toolbox([SearchTool()], shelf.context())
    async with asyncio.timeout(60):
        try:
            written = await strategy.draft(build_incoming(), history, tools, RecordingProgress())
        except ProviderError as error:
            assert "in time" in str(error)
        else:
            assert text_of(written)


# ------------------------------------------------------------------------------------------------ what fails


async def test_a_providers_error_is_raised_as_it_is(case, shelf):
    with pytest.raises(ProviderRateLimited):
        await draft(case, shelf, [ProviderRateLimited("Slow down.", retry_after_seconds=3)] * 3)


async def test_an_empty_answer_is_an_error_and_never_a_draft(case, shelf):
    with pytest.raises(ProviderError, match=r"empty answer|no answer of the form"):
        await draft(case, shelf, [ChatResponse()] * 5)


async def test_a_tool_that_fails_does_not_stop_the_others(case, shelf):
    async def one_fails(query: str) -> None:
        if query == "lamp":
            raise ToolFailed("The index of lamps is closed.")

    history = [ChatMessage(role=ChatRole.USER, text="Hello"), ChatMessage(role=ChatRole.ASSISTANT, text="Hi")]
    script = [Librarian(["lamp", "key mat"])] * 4
    written, _, _ = await draft(case, shelf, script, search=WatchedSearch(one_fails), history=history)
    assert text_of(written) == "Under the mat [1]."
    results = written.new_messages[-1].tool_results
    assert [result.is_error for result in results] == [True, False]
    assert "closed" in results[0].text


# ------------------------------------------------------------------------------------------------ as a whole


class Desk:
    """The answer service over one strategy: what becomes of a draft, and what stays of a try."""

    def __init__(self, case: Case, shelf: Shelf, script: Sequence[Turn], search: SearchTool | None = None) -> None:
        self.clock = ManualClock()
        stores = Stores()
        self.jobs, self._database = stores.jobs, stores.database
        self.search = search or WatchedSearch()
        self.progress = RecordingProgress()
        self.message = build_incoming()
        self._case = case
        self._conversations = Conversations(stores.conversations, self.clock)
        self._shelf = shelf
        self.play(script)

    def play(self, script: Sequence[Turn]) -> None:
        """What the model says from now on."""
        self.provider = ScriptedProvider(script, capabilities=self._case.capabilities)
        self._answers = build_answers(
            self._shelf,
            clock=self.clock,
            provider=self.provider,
            database=self._database,
            conversations=self._conversations,
            has_references=False,
            pipeline={
                "strategy": always(lambda observer: self._case.make(self.provider, Budget(), self.clock, observer)),
                "toolbox": lambda context, observer: Toolbox(
                    [self.search], self._shelf.context(scope=context.scope), observer=observer
                ),
            },
        )

    async def ask(self, attempt: Attempt | None = None) -> Answer:
        return await self._answers.answer(self.message, self.progress, attempt or Attempt())

    async def tree(self) -> list[Job]:
        return await self.jobs.list_tree(stored_ids(self.message).request)


async def test_its_footnotes_are_proved(case, shelf):
    answer = await Desk(case, shelf, [Librarian()] * 4).ask()
    assert (answer.status, answer.text, answer.grounded) == (AnswerStatus.ANSWERED, "Under the mat[1].", True)
    (citation,) = answer.citations
    assert (citation.quote, citation.proved, citation.document) == ("The key is under the mat.", True, "keys.md")


async def test_a_footnote_that_names_nothing_shown_is_none(case, shelf):
    class Forger(Librarian):
        def cited(self, request: ChatRequest) -> str:
            return "The key is at 17 High Street [9]."

    answer = await Desk(case, shelf, [Forger()] * 4).ask()
    assert (answer.status, answer.citations, answer.data) == (AnswerStatus.NOT_FOUND, (), None)
    assert "High Street" not in answer.text


async def test_its_steps_are_a_tree_of_planning_tools_and_synthesis(case, shelf):
    desk = Desk(case, shelf, [Librarian()] * 4)
    answer = await desk.ask()
    root, *steps = answer.jobs
    assert root.kind is JobKind.REQUEST and {job.parent_id for job in steps} == {root.id}
    assert [job.kind for job in steps][-2:] == [JobKind.TOOL, JobKind.SYNTHESIS]
    assert {job.status for job in answer.jobs} == {JobStatus.DONE}
    tool = steps[-2]
    assert tool.name == "search" and tool.input["query"] and tool.output["passages"]
    assert {job.id for job in desk.progress.steps} == {job.id for job in answer.jobs}
    assert sorted(answer.jobs, key=lambda job: job.id) == sorted(await desk.tree(), key=lambda job: job.id)


@pytest.mark.parametrize("failing", [0, 1])
async def test_after_a_model_call_fails_the_next_try_goes_on_without_repeating_tools(case, shelf, failing):
    overloaded: list[Turn] = [ProviderOverloaded("Busy.")]
    desk = Desk(case, shelf, [*[Librarian()] * failing, *overloaded])
    try:
        answer = await desk.ask(Attempt(number=1, is_last=False))
    except ProviderOverloaded:
        desk.play([Librarian()] * 4)
        answer = await desk.ask(Attempt(number=2))
    assert answer.text == "Under the mat[1]."
    assert len(desk.search.ran) == 1
    tools = [job for job in await desk.tree() if job.kind is JobKind.TOOL]
    assert [job.status for job in tools] == [JobStatus.DONE]


async def test_cancelled_while_a_tool_runs_everything_ends(case, shelf):
    begun = asyncio.Event()

    async def hang(query: str) -> None:
        begun.set()
        await asyncio.Event().wait()

    desk = Desk(case, shelf, [Librarian()] * 4, WatchedSearch(hang))
    asking = asyncio.create_task(desk.ask())
    await asyncio.wait_for(begun.wait(), 60)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    tree = await desk.tree()
    assert all(job.status.is_final for job in tree)
    assert {job.status for job in tree if job.kind in (JobKind.REQUEST, JobKind.TOOL)} == {JobStatus.CANCELLED}
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert (await desk.ask()).status is AnswerStatus.STOPPED
