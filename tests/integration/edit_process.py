"""A small service that is killed while questions are edited: an inbox, a worker, a slow model, a platform in a file.

    python -m tests.integration.edit_process FOLDER

Each line on standard input is a version of a message {"id", "edit", "text"}; for each, in order, a line "ack ID EDIT"
says that it was received for good. "ready" is the first line.
"""

import asyncio
import json
import os
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from core.answering.run import Budget, RunObserver
from core.answering.strategies.tool_use import ToolUseStrategy
from core.domain.answer import Answer
from core.domain.chat import Capabilities, ChatRequest, ChatRole, ToolInvocation
from core.domain.incoming import (
    Attachment,
    Circumstances,
    IncomingMessage,
    Talk,
    ThreadAddress,
    event_key,
    message_key,
)
from core.domain.replies import ChatResponse
from core.domain.service import InboxEntry
from core.service.inbox import STANDARD_GATES, Inbox
from core.service.worker import Worker
from core.work.progress import SilentProgress
from storage.database import Database
from storage.database.repositories.inbox import SqlInboxStore
from tests.builders import NOON
from tests.fakes import RealClock
from tests.kill.parts.service import build_answers
from tests.scripted import calls, says
from tests.told_process import say, told
from tests.unit.core.library_builder import Shelf

PLATFORM = "web"
PAUSE_SECONDS = 0.05  # at most: of a turn of the model, and each way to the platform
TALK = Talk(message_id="said", author="Grace", text="I lost my key.", said_at=NOON)


class SlowModel:
    """Searches, then answers with what the question was."""

    name = "slow"
    capabilities = Capabilities()

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        await asyncio.sleep(random.uniform(0, PAUSE_SECONDS))
        if request.messages[-1].tool_results:
            asked = [turn.text for turn in request.messages if turn.role is ChatRole.USER][-1]
            return says(f"{asked} The key hangs under the stairs [1].")
        call = ToolInvocation(id=f"t{len(request.messages)}", name="search", arguments={"query": "where is the key"})
        return calls(call)

    async def close(self) -> None:
        """Nothing is open."""


class PostFile:
    """A platform that is a file: a line for each post, and one for each change of a post. It can be read, too."""

    name = PLATFORM

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: set[str] = set()

    async def open(self, entry: InboxEntry) -> SilentProgress:
        return SilentProgress()

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> str:
        return await self._put(message_key, answer.text, look_first=look_first)

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> str:
        return await self._put(message_key, f"Error: {sentence}", look_first=True)

    async def remove(self, entry: InboxEntry) -> None:
        raise AssertionError(entry)

    async def redact(self, entry: InboxEntry, sentence: str) -> None:
        raise AssertionError(entry)

    async def talk_before(self, question: IncomingMessage, limit: int) -> Sequence[Talk]:
        return [TALK]

    async def read_attachment(self, question: IncomingMessage, attachment: Attachment) -> bytes:
        return b""

    async def _put(self, key: str, text: str, *, look_first: bool) -> str:
        posted = {line["key"] for line in read_lines(self._path)} if look_first else self._known
        await asyncio.sleep(random.uniform(0, PAUSE_SECONDS))
        line = {"kind": "change" if key in posted else "post", "key": key, "text": text}
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, json.dumps(line).encode() + b"\n")  # one write: a kill leaves a whole line or none
        os.close(handle)
        self._known.add(key)
        await asyncio.sleep(random.uniform(0, PAUSE_SECONDS))  # it is posted, and nobody here knows
        return f"file/{key}"


def read_lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def main(folder: Path) -> None:
    clock, shelf = RealClock(), Shelf()
    await shelf.add("house.md", "# Keys\n\nThe key hangs under the stairs.", title="House")
    database = await Database.open(folder / "footnote.db")
    store = SqlInboxStore(database, clock)
    await store.release_abandoned()
    platform = PostFile(folder / "posts.jsonl")

    def strategy(observer: RunObserver) -> ToolUseStrategy:
        return ToolUseStrategy(SlowModel(), Budget(), clock, observer)

    answers = build_answers(database, clock, shelf, strategy, readers={PLATFORM: platform})
    worker = Worker(store, answers, {PLATFORM: platform}, clock)
    inbox = Inbox(store, STANDARD_GATES, clock, worker.wake, worker.withdraw)
    work = asyncio.create_task(worker.run())
    say("ready")
    await _receive(inbox)
    await worker.stop()
    await work
    await database.close()


async def _receive(inbox: Inbox) -> None:
    """Until the input ends."""
    async for event in told():
        address = ThreadAddress(platform=PLATFORM, workspace="local", channel="c", thread=f"t{int(event['id']) % 2}")
        keys = {
            "event_key": event_key(address, event["id"], event["edit"]),
            "message_key": message_key(address, event["id"]),
        }
        incoming = IncomingMessage(
            address=address, author="ada", text=event["text"], circumstances=Circumstances(in_thread=True), **keys
        )
        await inbox.receive(incoming)
        say(f"ack {event['id']} {event['edit']}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
