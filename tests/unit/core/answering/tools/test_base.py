import asyncio

import pytest
from pydantic import Field

from core.answering.run import RunObserver
from core.answering.tools.base import Arguments, Finding, ToolContext, document_named
from core.answering.tools.search import SearchTool, describe_place
from core.answering.tools.toolbox import Toolbox, to_definition
from core.domain.chat import ChatMessage, ChatRole, NumberedPassage, ToolInvocation, ToolResult
from core.domain.jobs import JobKind, JobStatus
from core.errors import StorageError, ToolFailed, ToolRetry
from core.work.steps import Steps
from tests.builders import build_document
from tests.fakes import ManualClock
from tests.stores import Stores
from tests.unit.core.library_builder import Shelf


class EchoArguments(Arguments):
    word: str
    delay: float = 0
    count: int | None = Field(default=None, ge=1, description="How often.")


class EchoTool:
    """Shows the passages of the page with the id it is given, after a while."""

    name = "echo"
    description = "Echoes."
    arguments = EchoArguments

    async def run(self, arguments: EchoArguments, context: ToolContext) -> Finding:
        await asyncio.sleep(arguments.delay)
        match arguments.word:
            case "retry":
                raise ToolRetry("Say another word.")
            case "fail":
                raise ToolFailed("The echo is gone.")
            case "storage":
                raise StorageError("The disk is full.")
        passages = await context.corpus.list_page_passages(arguments.word, context.scope)
        return Finding(text=arguments.word, passages=tuple(passages), searches=(arguments.word,))


def call(word: str, id: str = "c1", **arguments: object) -> ToolInvocation:
    return ToolInvocation(id=id, name="echo", arguments={"word": word, **arguments})


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("a.md", "First a.\n\nSecond a.")
    await shelf.add("b.md", "First b.")
    return shelf


@pytest.fixture
def toolbox(shelf: Shelf) -> Toolbox:
    return Toolbox([EchoTool()], shelf.context())


A, B = "local/handbook/a.md@r1#1", "local/handbook/b.md@r1#1"


def numbers(result: ToolResult) -> list[int]:
    return [item.number for item in result.passages]


async def test_a_passage_keeps_its_number_over_the_whole_question(toolbox):
    first, second, third = [await toolbox.invoke(call(word)) for word in (A, B, A)]
    assert (numbers(first), numbers(second), numbers(third)) == ([1, 2], [3], [1, 2])


async def test_everything_shown_and_searched_is_evidence(toolbox):
    await toolbox.invoke(call(A))
    await toolbox.invoke(call(B))
    await toolbox.invoke(call(A))
    assert [item.source.passage.text for item in toolbox.evidence.passages.values()] == [
        "First a.",
        "Second a.",
        "First b.",
    ]
    assert toolbox.evidence.searches == (A, B)
    assert toolbox.evidence.by_number(3).source.passage.text == "First b."


async def test_parallel_calls_are_numbered_in_the_order_of_the_calls_not_of_their_ends(toolbox):
    slow, fast = await asyncio.gather(toolbox.invoke(call(A, "c1", delay=0.02)), toolbox.invoke(call(B, "c2", delay=0)))
    assert (numbers(slow), numbers(fast)) == ([1, 2], [3])


async def test_a_cancelled_call_does_not_hold_up_the_next(toolbox):
    slow = asyncio.create_task(toolbox.invoke(call(A, "c1", delay=5)))
    fast = asyncio.create_task(toolbox.invoke(call(B, "c2")))
    await asyncio.sleep(0.01)
    slow.cancel()
    assert numbers(await asyncio.wait_for(fast, 60)) == [1]


async def test_adopted_passages_keep_their_numbers_and_new_ones_follow(shelf, toolbox):
    (known,) = await shelf.corpus.list_page_passages(B, shelf.scope())
    shown = ToolResult(invocation_id="old", name="echo", text="", passages=(NumberedPassage(number=4, source=known),))
    toolbox.adopt([ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=(shown,))])
    assert toolbox.evidence.by_number(4).source == known
    assert toolbox.evidence.searches == ()
    result = await toolbox.invoke(call(A))
    again = await toolbox.invoke(call(B))
    assert (numbers(result), numbers(again)) == ([5, 6], [4])


async def test_an_unknown_tool_is_an_error_the_model_may_correct(toolbox):
    result = await toolbox.invoke(ToolInvocation(id="c1", name="delete_all", arguments={}))
    assert result.is_error and result.invocation_id == "c1"
    assert result.text == "There is no tool 'delete_all'; there are echo."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "'word' is missing"),
        ({"word": "x", "colour": 1}, "unknown argument 'colour'"),
        ({"word": "  "}, "'word' is missing"),
        ({"word": "x", "count": 0}, "'count': input should be greater than or equal to 1"),
        ({"word": ["x"]}, "'word': input should be a valid string"),
    ],
)
async def test_bad_arguments_are_named_with_what_the_tool_takes(toolbox, arguments, message):
    result = await toolbox.invoke(ToolInvocation(id="c1", name="echo", arguments=arguments))
    assert result.is_error
    assert result.text == f"echo could not run: {message}. It takes word, delay, count."


async def test_null_stands_for_an_argument_that_is_not_given(toolbox):
    result = await toolbox.invoke(call("x", count=None))
    assert not result.is_error


async def test_a_tool_that_asks_for_another_try_is_an_error_with_its_words(toolbox):
    result = await toolbox.invoke(call("retry"))
    assert (result.is_error, result.text) == (True, "Say another word.")


async def test_a_tool_that_failed_for_good_says_so(toolbox):
    result = await toolbox.invoke(call("fail"))
    assert (result.is_error, result.text) == (True, "The echo is gone. Calling again will not help: tell the reader.")


async def test_other_errors_escape_and_the_next_call_still_runs(toolbox):
    with pytest.raises(StorageError):
        await toolbox.invoke(call("storage"))
    assert numbers(await toolbox.invoke(call(B))) == [1]


async def test_every_call_is_a_step_with_ids_and_counts_but_no_texts(shelf):
    steps, observer = Steps(Stores().jobs, ManualClock(), "local"), RunObserver()
    toolbox = Toolbox([EchoTool()], shelf.context(), observer=observer)
    async with steps.step(JobKind.REQUEST, "answer", key="r") as observer.root:
        await toolbox.invoke(call(A, delay=0))
        await toolbox.invoke(call("retry"))
        await toolbox.invoke(call("x" * 1000))
    done, failed, long = steps.jobs[1:]
    assert (done.id, done.kind, done.name, done.status) == ("r/t0", JobKind.TOOL, "echo", JobStatus.DONE)
    assert done.input == {"word": A, "delay": 0}
    assert done.output == {"passages": 2, "passage_ids": [f"{A}:0", f"{A}:10"], "page_ids": [A]}
    assert (failed.status, failed.error) == (JobStatus.FAILED, "Say another word.")
    assert len(long.input["word"]) <= 300


def test_the_schema_is_a_plain_object_without_null_unions():
    schema = to_definition(EchoTool(), Shelf().context()).parameters
    assert schema == {
        "type": "object",
        "properties": {
            "word": {"type": "string"},
            "delay": {"type": "number", "default": 0},
            "count": {"type": "integer", "minimum": 1, "description": "How often."},
        },
        "required": ["word"],
        "additionalProperties": False,
    }


async def test_a_document_is_found_by_any_of_its_names(shelf):
    document = await document_named("a", shelf.context())
    assert document.path == "a.md"


async def test_a_document_that_is_not_there_may_be_named_anew(shelf):
    with pytest.raises(ToolRetry, match="zebra"):
        await document_named("zebra crossing", shelf.context())


async def test_a_question_limited_to_a_document_reads_no_other(shelf):
    context = shelf.context(document_ids=frozenset({"local/handbook/b.md"}))
    with pytest.raises(ToolRetry, match="limited to another document"):
        await document_named("a.md", context)


def test_a_place_is_described_with_its_headings_where_it_has_some():
    document = build_document("guide.md", title="Guide")
    assert describe_place(document, 3, ("Chapter", "Chapter", "Keys")) == '"Guide" (guide.md), page 3, Chapter > Keys'
    assert describe_place(document, 3, ()) == '"Guide" (guide.md), page 3'


def test_the_toolbox_shows_its_definitions(shelf):
    (definition,) = Toolbox([SearchTool()], shelf.context()).definitions
    assert definition.name == "search"


async def test_what_is_wrong_with_a_call_can_be_known_before_it_is_run(toolbox):
    assert toolbox.problem(call(A)) is None
    assert "no tool 'delete_all'" in toolbox.problem(ToolInvocation(id="c", name="delete_all", arguments={}))
    assert "unknown argument 'wrod'" in toolbox.problem(ToolInvocation(id="c", name="echo", arguments={"wrod": A}))


class CountingTool(EchoTool):
    """Knows how often it ran."""

    def __init__(self) -> None:
        self.runs = 0

    async def run(self, arguments, context):
        self.runs += 1
        return await super().run(arguments, context)


async def tried_twice(shelf: Shelf, tool: CountingTool, second: ToolContext) -> list[int]:
    """Two tries at one question that make the same call; the passages' numbers of the second."""
    repository, clock, observer = Stores().jobs, ManualClock(), RunObserver()
    first = Toolbox([tool], shelf.context(), observer=observer)
    with pytest.raises(StorageError):
        async with Steps(repository, clock, "local").step(JobKind.REQUEST, "answer", key="r") as observer.root:
            before = await first.invoke(call(A))
            raise StorageError("The disk is full.")
    again = Toolbox([tool], second, observer=observer)
    steps = Steps(repository, clock, "local", attempt=2, earlier=await repository.list_tree("r"))
    async with steps.step(JobKind.REQUEST, "answer", key="r") as observer.root:
        result = await again.invoke(call(A))
    if tool.runs == 1:
        assert (result, again.evidence.searches) == (before, first.evidence.searches)
    return numbers(result)


async def test_a_finished_call_of_an_earlier_try_is_not_run_again(shelf):
    tool = CountingTool()
    assert await tried_twice(shelf, tool, shelf.context()) == [1, 2]
    assert tool.runs == 1


async def test_a_call_is_run_again_where_less_may_be_read_now(shelf):
    tool = CountingTool()
    await tried_twice(shelf, tool, shelf.context(scope=shelf.scope(other=3)))
    assert tool.runs == 2


async def test_a_call_is_run_again_where_a_passage_it_found_has_changed(shelf):
    class Changing(CountingTool):
        async def run(self, arguments, context):
            finding = await super().run(arguments, context)
            await shelf.add("a.md", "Another a.", revision="r2")
            return finding

    tool = Changing()
    assert await tried_twice(shelf, tool, shelf.context()) == []
    assert tool.runs == 2
