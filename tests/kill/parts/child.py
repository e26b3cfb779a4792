"""The process that is killed: an inbox, a worker, a slow model and a platform in a file.

    python -m tests.kill.parts.child FOLDER [POSTGRESQL-URL]

Each line on standard input is an event {"id", "thread", "text"}; for each, in order, a line "ack ID" says that it was
received for good. SIGTERM is a clean shutdown. "ready" is the first line.
"""

import asyncio
import random
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from core.answering.run import Budget
from core.answering.strategies.tool_use import ToolUseStrategy
from core.domain.chat import Capabilities, ChatRequest, ToolInvocation
from core.domain.incoming import IncomingMessage, ThreadAddress, event_key, message_key
from core.domain.replies import ChatResponse
from core.service.inbox import STANDARD_GATES, Inbox
from core.service.worker import Worker
from storage.database import Database
from storage.database.repositories.inbox import LEASE_SECONDS, SqlInboxStore
from storage.database.repositories.jobs import SqlJobRepository
from tests.fakes import RealClock
from tests.kill.parts.service import PLATFORM, FilePlatform, build_answers
from tests.scripted import calls, says
from tests.told_process import say, told
from tests.unit.core.library_builder import Shelf

TURN_SECONDS = (0.01, 0.15)  # a model turn: long enough to be killed in, short enough for many
SHARED_LEASE_SECONDS = 2.0  # where processes take over from each other: the test waits for it


class SlowModel:
    """Searches, then answers with what the question was."""

    name = "slow"
    capabilities = Capabilities()

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        await asyncio.sleep(random.uniform(*TURN_SECONDS))
        last = request.messages[-1]
        if last.tool_results:
            return says("The key hangs under the stairs [1].")
        number = len(request.messages)
        return calls(ToolInvocation(id=f"t{number}", name="search", arguments={"query": "where is the key"}))

    async def close(self) -> None:
        """Nothing is open."""


async def main(folder: Path, url: str | None = None) -> None:
    clock, shelf = RealClock(), Shelf()
    await shelf.add("house.md", "# Keys\n\nThe key hangs under the stairs.", title="House")
    database = await Database.open(url or folder / "footnote.db")
    store = SqlInboxStore(database, clock, SHARED_LEASE_SECONDS if url else LEASE_SECONDS)
    if url is None:  # nobody else can be at work on this file
        await store.release_abandoned()
    answers = build_answers(
        database, clock, shelf, lambda observer: ToolUseStrategy(SlowModel(), Budget(), clock, observer)
    )
    platforms = {PLATFORM: FilePlatform(folder / "posts.jsonl")}
    worker = Worker(store, answers, platforms, clock, jobs=SqlJobRepository(database))
    inbox = Inbox(store, STANDARD_GATES, clock, worker.wake)
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    work = asyncio.create_task(worker.run())
    receive = asyncio.create_task(_receive(inbox))
    say("ready")
    async with store.watch(worker.wake):
        await ended.wait()
    receive.cancel()
    with suppress(asyncio.CancelledError):
        await receive
    await worker.stop()
    await work
    await database.close()


async def _receive(inbox: Inbox) -> None:
    async for event in told():
        address = ThreadAddress(platform=PLATFORM, workspace="local", channel="c", thread=event["thread"])
        keys = {"event_key": event_key(address, event["id"]), "message_key": message_key(address, event["id"])}
        await inbox.receive(IncomingMessage(address=address, author="ada", text=event["text"], **keys))
        say(f"ack {event['id']}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
