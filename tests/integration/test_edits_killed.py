"""Questions that are edited while the service is killed: one post each, which shows the answer to the last version."""

import asyncio
import json
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from core.domain.conversation import Role
from core.domain.service import InboxStatus
from storage.database import Database
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.inbox import SqlInboxStore
from tests.fakes import RealClock
from tests.integration.edit_process import TALK, read_lines

ROOT = Path(__file__).parents[2]
KILLS = 6
TIMEOUT_SECONDS = 60.0

Event = dict[str, str]


def question(number: int, edit: int) -> str:
    return f"Which key opens door {number} in version {edit}?"


def versions(number: int) -> list[Event]:
    """A question and two edits of it."""
    return [
        {"id": str(number), "edit": "" if edit == 1 else str(edit), "text": question(number, edit)}
        for edit in (1, 2, 3)
    ]


class Service:
    """The process, started anew after each kill; what it did not acknowledge is sent again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._unsure: list[Event] = []

    async def kill_while_it_receives(self, events: list[Event], chance: random.Random) -> None:
        process = await self._start()
        acknowledged: set[str] = set()
        listening = asyncio.create_task(self._listen(process, acknowledged))
        sent = [*self._unsure, *events]
        for event in sent:
            process.stdin.write(json.dumps(event).encode() + b"\n")
            await process.stdin.drain()
            await asyncio.sleep(chance.uniform(0, 0.12))
        process.kill()
        await process.wait()
        await listening
        self._unsure = [event for event in sent if f"{event['id']} {event['edit']}".strip() not in acknowledged]

    async def finish(self) -> None:
        process = await self._start()
        for event in self._unsure:
            process.stdin.write(json.dumps(event).encode() + b"\n")
        await process.stdin.drain()
        await self._listen_for(process, len(self._unsure))
        await self._until_all_ended()
        process.stdin.close()
        await process.wait()

    async def _start(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.integration.edit_process", str(self._folder),
            cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert await asyncio.wait_for(process.stdout.readline(), TIMEOUT_SECONDS) == b"ready\n"
        return process

    async def _listen(self, process: asyncio.subprocess.Process, acknowledged: set[str]) -> None:
        while line := await process.stdout.readline():
            if line.endswith(b"\n"):
                acknowledged.add(line.decode().removeprefix("ack ").strip())

    async def _listen_for(self, process: asyncio.subprocess.Process, count: int) -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            for _ in range(count):
                await process.stdout.readline()

    async def _until_all_ended(self) -> None:
        database = await Database.open(self._folder / "footnote.db")
        store = SqlInboxStore(database, RealClock())
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while await store.depth():  # noqa: ASYNC110 - another process tells nobody
                await asyncio.sleep(0.05)
        await database.close()


@pytest.mark.slow
async def test_kills_at_any_moment_leave_one_post_with_the_answer_to_the_last_version(tmp_path: Path) -> None:
    chance, service = random.Random(5), Service(tmp_path)
    for number in range(KILLS):
        await service.kill_while_it_receives(versions(number), chance)
    await service.finish()

    lines = read_lines(tmp_path / "posts.jsonl")
    keys = [f"web:local:c:{number}" for number in range(KILLS)]
    assert Counter(line["key"] for line in lines if line["kind"] == "post") == Counter(keys)
    shown = {line["key"]: line["text"] for line in lines}
    for number, key in enumerate(keys):
        assert shown[key].startswith(question(number, 3))
    await _check_records(tmp_path / "footnote.db")


async def _check_records(path: Path) -> None:
    """The history holds the last versions, each with one answer; the earlier ones left nothing."""
    database = await Database.open(path)
    repository, store = SqlConversationRepository(database), SqlInboxStore(database, RealClock())
    told: list[str] = []
    for conversation in await repository.list_conversations("local"):
        stored = await repository.list_messages(conversation.id)
        shown = [item for item in stored if item.role is not Role.TOOL_RESULT]
        assert [item.content for item in shown if item.content == TALK.text] == [TALK.text]
        rest = [item for item in shown if item.content != TALK.text]
        assert [item.role for item in rest] == [Role.USER, Role.ASSISTANT] * (len(rest) // 2)
        assert len([item for item in stored if item.role is Role.TOOL_RESULT]) == len(rest) // 2
        told += [item.content for item in rest if item.role is Role.USER]
    assert sorted(told) == [question(number, 3) for number in range(KILLS)]
    for number in range(KILLS):
        *earlier, last = await store.list_versions(f"web:local:c:{number}")
        assert last.status is InboxStatus.DONE
        assert {entry.status for entry in earlier} <= {InboxStatus.DONE, InboxStatus.CANCELLED}
    await database.close()
