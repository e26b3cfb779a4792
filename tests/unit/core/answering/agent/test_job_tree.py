"""Where the jobs of a question hang: each below the step that it is a part of, also if it is a provider's own."""

from core.answering.context import FOLDED_TURNS, KEPT_TURNS, ModelSummariser, RollingSummary
from core.answering.providers.fallback import Choice, FallbackProvider
from core.answering.run import Budget, Meter, RunObserver
from core.answering.strategies.tool_use import AgentLoop
from core.answering.tools.query_journal import QueryJournalTool
from core.answering.tools.section_notes import ModelSectionReader
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import ChatMessage, ChatRole, ToolInvocation
from core.domain.jobs import JobKind
from core.errors import ProviderOverloaded
from core.knowledge.references.document_lines import DocumentLines
from core.work.steps import Steps
from tests.fakes import ManualClock, RecordingProgress
from tests.scripted import ScriptedProvider, Turn, calls, says
from tests.stores import Stores
from tests.unit.core.answering.context.history import turns_of
from tests.unit.core.library_builder import Shelf

CHANGED = "another provider"


def falling_back(*script: Turn) -> FallbackProvider:
    """A provider whose first choice is down."""
    providers = ScriptedProvider([ProviderOverloaded("It is down.")], name="a"), ScriptedProvider(script, name="b")
    return FallbackProvider([Choice(label=item.name, provider=item) for item in providers], ManualClock())


def tree(steps: Steps) -> list[tuple[str, str | None, str]]:
    return [(job.id, job.parent_id, job.name) for job in steps.jobs]


async def test_parts_of_a_turn_and_of_a_call_are_below_them() -> None:
    shelf, clock, observer = Shelf(), ManualClock(), RunObserver()
    rooms = [f"# Room {number}\n\n" + "\n\n".join(["z" * 990] * 10) for number in range(1, 6)]
    await shelf.add("long.json", *rooms, title="Long", kind="foundry")
    reader = ModelSectionReader(falling_back(*[says("- Empty. [1]")] * 5), shelf.stores.summaries)
    asked = {"query": "all of it", "query_type": "summary", "journal_name": "Long"}
    looks = calls(ToolInvocation(id="c1", name="query_journal", arguments=asked))
    loop = AgentLoop(
        provider=falling_back(looks, says("Empty.")),
        tools=Toolbox([QueryJournalTool()], shelf.context(sections=reader), observer=observer),
        progress=RecordingProgress(),
        meter=Meter(Budget(), clock),
        system="",
        observer=observer,
    )
    steps = Steps(Stores().jobs, clock, "local")
    async with steps.step(JobKind.REQUEST, "answer", key="r") as observer.root:
        await loop.run([ChatMessage(role=ChatRole.USER, text="What is in it?")])
    assert sorted(tree(steps)) == [
        ("r", None, "answer"),
        ("r/m0", "r", "plan"),
        ("r/m0/p0", "r/m0", CHANGED),
        ("r/m1", "r", "answer"),
        ("r/t0", "r", "query_journal"),
        ("r/t0/t0", "r/t0", "read a section"),
        ("r/t0/t0/p0", "r/t0/t0", CHANGED),
        *((f"r/t0/t{number}", "r/t0", "read a section") for number in range(1, 5)),
    ]


async def test_a_change_during_a_summary_or_a_line_is_below_its_step() -> None:
    shelf = Shelf()
    long = await shelf.add("long.md", "word " * 200, title="Long")
    steps = Steps(Stores().jobs, ManualClock(), "local")
    async with steps.step(JobKind.REQUEST, "answer", key="r") as root:
        summary = RollingSummary(
            shelf.corpus,
            shelf.stores.summaries,
            lambda _, step: ModelSummariser(falling_back(says("They asked.")), step),
            root,
        )
        await summary.select(turns_of(KEPT_TURNS + FOLDED_TURNS), shelf.scope(), 10_000)
        async with root.step(JobKind.PLANNING, "sum up references") as job:
            provider = falling_back(says("About words."))
            lines = DocumentLines(corpus=shelf.corpus, summaries=shelf.stores.summaries, provider=lambda _: provider)
            assert await lines.of([long], shelf.scope(), job) == {long.id: "About words."}
    assert tree(steps)[1:] == [
        ("r/p0", "r", "summarise earlier questions"),
        ("r/p0/p0", "r/p0", CHANGED),
        ("r/p1", "r", "sum up references"),
        ("r/p1/p0", "r/p1", CHANGED),
    ]
