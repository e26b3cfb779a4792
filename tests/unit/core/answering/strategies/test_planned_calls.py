"""Calls of a plan as jobs: beside each other, one after another, and what becomes of those that fail."""

import asyncio

import pytest

from core.answering.run import Budget, Meter, RunObserver
from core.answering.strategies.plans import Called, Plan, PlannedCall, run_plan
from core.answering.tools.base import Arguments, Finding, ToolContext
from core.answering.tools.get_page import GetPageTool
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import ToolInvocation
from core.domain.jobs import JobKind, JobStatus
from core.errors import StorageError, ToolFailed
from core.work.steps import Steps
from tests.fakes import ManualClock
from tests.stores import Stores
from tests.unit.core.library_builder import Shelf


class WordArguments(Arguments):
    word: str


class WordTool:
    """Does what it is told."""

    name = "word"
    description = "Does it."
    arguments = WordArguments

    def __init__(self) -> None:
        self.order: list[str] = []

    async def run(self, arguments: WordArguments, context: ToolContext) -> Finding:
        self.order.append(arguments.word)
        match arguments.word:
            case "hang":
                await asyncio.Event().wait()
            case "slow":
                await asyncio.sleep(0.01)
            case "fail":
                raise ToolFailed("It is gone.")
            case "storage":
                raise StorageError("The disk is full.")
            case "bug":
                raise ZeroDivisionError("a bug")
        found = await context.corpus.list_page_passages("local/handbook/a.md@r1#1", context.scope)
        self.order.append(f"{arguments.word} over")
        return Finding(text=arguments.word, passages=tuple(found) if arguments.word == "page" else ())


class Run:
    def __init__(self, shelf: Shelf, seconds: float = 90) -> None:
        self.word = WordTool()
        self.observer = RunObserver()
        self.tools = Toolbox([self.word, GetPageTool()], shelf.context(), observer=self.observer)
        self.clock = ManualClock()
        self.steps = Steps(Stores().jobs, self.clock, "local")
        self.meter = Meter(Budget(seconds=seconds), self.clock)

    async def __call__(self, *calls: PlannedCall) -> list[Called]:
        async with self.steps.step(JobKind.REQUEST, "answer", key="r") as root:
            self.observer.root = root
            return await run_plan(Plan(calls=calls), self.tools, self.meter, root)

    def job(self, key: str):
        return next(job for job in self.steps.jobs if job.id == f"r/{key}")


def word(key: str, said: str, after: str | None = None) -> PlannedCall:
    invocation = ToolInvocation(id=f"i-{key}", name="word", arguments={"word": said})
    return PlannedCall(key=key, invocation=invocation, after=after)


def page(key: str, after: str) -> PlannedCall:
    found = {"page_id": f"${after[1:]}"}
    return PlannedCall(key=key, invocation=ToolInvocation(id=f"i-{key}", name="get_page", arguments=found), after=after)


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("a.md", "First a.")
    return shelf


async def test_results_come_in_the_plans_order_and_a_call_waits_for_the_one_it_follows(shelf):
    run = Run(shelf)
    called = await run(word("c1", "last", after="c2"), word("c2", "slow"), word("c3", "first"))
    assert [result.text for _, result in called] == ["last", "slow", "first"]
    assert run.word.order == ["slow", "first", "first over", "slow over", "last", "last over"]
    assert [run.job(f"c{n}").status for n in (1, 2, 3)] == [JobStatus.DONE] * 3


async def test_a_call_gets_the_page_that_the_one_before_it_found(shelf):
    run = Run(shelf)
    _, (invocation, result) = await run(word("c1", "page"), page("c2", "c1"))
    assert invocation.arguments == {"page_id": "local/handbook/a.md@r1#1"}
    assert [item.source.passage.text for item in result.passages] == ["First a."]


@pytest.mark.parametrize("before", ["nothing", "fail"])
async def test_a_call_that_needs_what_is_not_found_fails_without_being_run(shelf, before):
    run = Run(shelf)
    _, (_, result) = await run(word("c1", before), page("c2", "c1"))
    assert result.is_error and "it needs a page from word" in result.text
    assert (run.job("c2").status, run.job("c2").name) == (JobStatus.FAILED, "get_page")


async def test_a_call_that_only_follows_one_that_failed_is_made(shelf):
    run = Run(shelf)
    (_, failed), (_, made) = await run(word("c1", "fail"), word("c2", "after", after="c1"))
    assert failed.is_error and "It is gone." in failed.text
    assert not made.is_error


@pytest.mark.parametrize("trouble", ["storage", "bug"])
async def test_whatever_a_call_raises_stops_no_other(shelf, trouble):
    run = Run(shelf)
    (_, failed), (_, made) = await run(word("c1", trouble), word("c2", "slow"))
    assert failed.is_error and not made.is_error
    assert ("disk is full" in failed.text) == (trouble == "storage") and "ZeroDivision" not in failed.text
    assert [run.job(key).status for key in ("c1", "c2")] == [JobStatus.FAILED, JobStatus.DONE]


async def test_where_all_calls_meet_the_same_trouble_the_question_can_be_tried_again(shelf):
    with pytest.raises(StorageError, match="disk is full"):
        await Run(shelf)(word("c1", "storage"), word("c2", "storage"))


async def test_what_hangs_is_cut_off_with_what_waits_for_it_and_the_rest_is_kept(shelf):
    run = Run(shelf, seconds=0.05)
    called = await run(word("c1", "hang"), word("c2", "first"), word("c3", "never", after="c1"))
    assert [result.is_error for _, result in called] == [True, False, True]
    assert run.meter.is_expired and "never" not in run.word.order
    assert [run.job(f"c{n}").status for n in (1, 2, 3)] == [JobStatus.CANCELLED, JobStatus.DONE, JobStatus.CANCELLED]
