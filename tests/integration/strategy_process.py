"""A small service that is killed while its model writes answers: one question a strategy, and tools that are counted.

    python -m tests.integration.strategy_process FOLDER [hang]

With `hang`, every last request of a question waits for ever, after the line "writing STRATEGY"; a question is a line
{"strategy": ...} on standard input. Each run of the tool is a line in runs.txt. "ready" is the first line.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from core.answering.pipeline import QuestionContext
from core.answering.run import Budget, RunObserver
from core.answering.strategies.always_retrieve import AlwaysRetrieveStrategy
from core.answering.strategies.choosing import ALWAYS, PLANNED, TOOL_USE, ChosenStrategy
from core.answering.strategies.plan_and_synthesise import PlanAndSynthesiseStrategy
from core.answering.strategies.tool_use import ToolUseStrategy
from core.answering.tools.base import Finding, ToolContext
from core.answering.tools.search import SearchArguments, SearchTool
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import Capabilities, ChatRequest
from core.domain.incoming import IncomingMessage, ThreadAddress, event_key, message_key
from core.domain.replies import ChatResponse
from core.service.inbox import STANDARD_GATES, Inbox
from core.service.worker import Worker
from storage.database import Database
from storage.database.repositories.inbox import SqlInboxStore
from storage.database.repositories.jobs import SqlJobRepository
from tests.fakes import RealClock
from tests.kill.parts.service import PLATFORM, FilePlatform
from tests.librarian import Librarian, shown_numbers
from tests.pipeline import build_answers
from tests.told_process import say, told
from tests.unit.core.library_builder import Shelf

QUERIES = ("key mat", "lamp hall")
MADE = {TOOL_USE: ToolUseStrategy, ALWAYS: AlwaysRetrieveStrategy, PLANNED: PlanAndSynthesiseStrategy}


class Model:
    """The librarian over one strategy; it may never come back from the request that writes."""

    name = "librarian"
    capabilities = Capabilities(structured=True)

    def __init__(self, strategy: str, *, hangs: bool) -> None:
        self._strategy = strategy
        self._hangs = hangs
        self._says = Librarian(QUERIES)

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        if self._hangs and shown_numbers(request):
            say(f"writing {self._strategy}")
            await asyncio.Event().wait()
        return self._says(request)

    async def close(self) -> None:
        """Nothing is open."""


class CountedSearch(SearchTool):
    strategy = ""

    def __init__(self, runs: Path) -> None:
        self._runs = runs

    async def run(self, arguments: SearchArguments, context: ToolContext) -> Finding:
        with self._runs.open("a") as file:
            file.write(f"{self.strategy} {arguments.query}\n")
        return await super().run(arguments, context)


async def main(folder: Path, *, hangs: bool) -> None:
    clock, shelf = RealClock(), Shelf()
    await shelf.add("keys.md", "The key is under the mat.", title="Keys")
    await shelf.add("lamp.md", "The lamp hangs in the hall.", title="Lamp")
    database = await Database.open(folder / "footnote.db")
    store = SqlInboxStore(database, clock)
    await store.release_abandoned()
    searches: dict[RunObserver, CountedSearch] = {}  # of each run, whose toolbox is made before its strategy is chosen

    async def choose(message: IncomingMessage, observer: RunObserver) -> ChosenStrategy:
        name = searches[observer].strategy = str(message.strategy)
        return ChosenStrategy(strategy=MADE[name](Model(name, hangs=hangs), Budget(), clock, observer))

    def toolbox(reading: QuestionContext, observer: RunObserver) -> Toolbox:
        searches[observer] = CountedSearch(folder / "runs.txt")
        return Toolbox([searches[observer]], shelf.context(scope=reading.scope), observer=observer)

    answers = build_answers(
        shelf,
        clock=clock,
        database=database,
        has_references=False,
        pipeline={"strategy": choose, "toolbox": toolbox},
    )
    platforms = {PLATFORM: FilePlatform(folder / "posts.jsonl")}
    worker = Worker(store, answers, platforms, clock, jobs=SqlJobRepository(database), parallel=1 if not hangs else 8)
    inbox = Inbox(store, STANDARD_GATES, clock, worker.wake)
    work = asyncio.create_task(worker.run())
    say("ready")
    await receive(inbox)
    await worker.stop()
    await work
    await database.close()


async def receive(inbox: Inbox) -> None:
    """Until the input ends."""
    async for event in told():
        strategy = event["strategy"]
        address = ThreadAddress(platform=PLATFORM, workspace="local", channel="c", thread=strategy)
        keys = {"event_key": event_key(address, strategy), "message_key": message_key(address, strategy)}
        await inbox.receive(
            IncomingMessage(address=address, author="ada", text="Where is the key?", strategy=strategy, **keys)
        )


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), hangs=sys.argv[2:] == ["hang"]))
