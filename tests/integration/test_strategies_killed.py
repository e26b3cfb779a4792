"""A process is killed (-9) while its model writes: the next one answers without running a finished tool again."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from core.answering.answers.stored import stored_ids
from core.answering.strategies.choosing import ALWAYS, PLANNED, TOOL_USE
from core.domain.jobs import Job, JobKind, JobStatus
from storage.database import Database
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.inbox import SqlInboxStore
from storage.database.repositories.jobs import SqlJobRepository
from tests.fakes import RealClock
from tests.kill.parts.service import read_posts

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 60.0
STRATEGIES = (TOOL_USE, ALWAYS, PLANNED)


async def start(folder: Path, *more: str) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.integration.strategy_process", str(folder), *more,
        cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert await asyncio.wait_for(process.stdout.readline(), TIMEOUT_SECONDS) == b"ready\n"
    return process


async def kill_while_all_write(folder: Path) -> None:
    """Ask one question of each strategy, let all their tools end, and kill."""
    process = await start(folder, "hang")
    for strategy in STRATEGIES:
        process.stdin.write(json.dumps({"strategy": strategy}).encode() + b"\n")
        await process.stdin.drain()
        line = await asyncio.wait_for(process.stdout.readline(), TIMEOUT_SECONDS)
        assert line.decode().split() == ["writing", strategy]
    process.kill()
    await process.wait()


async def answer_what_is_left(folder: Path) -> None:
    process = await start(folder)
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while len(read_posts(folder / "posts.jsonl")) < len(STRATEGIES):  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(0.05)
    process.stdin.close()
    await process.wait()


async def trees(folder: Path) -> dict[str, list[Job]]:
    database = await Database.open(folder / "footnote.db")
    store, jobs = SqlInboxStore(database, RealClock()), SqlJobRepository(database)
    entries = {entry.address.thread: entry.incoming for entry in await store.recent("local")}
    found = {name: await jobs.list_tree(stored_ids(incoming).request) for name, incoming in entries.items()}
    conversations = await SqlConversationRepository(database).list_conversations("local")
    assert len(conversations) == len(STRATEGIES)
    await database.close()
    return found


@pytest.mark.slow
async def test_resumed_after_kill_9_without_repeating_finished_tool_jobs(tmp_path: Path) -> None:
    await kill_while_all_write(tmp_path)
    ran = (tmp_path / "runs.txt").read_text()
    assert {line.split()[0] for line in ran.splitlines()} == set(STRATEGIES)

    await answer_what_is_left(tmp_path)

    assert (tmp_path / "runs.txt").read_text() == ran  # no tool ran again
    posts = read_posts(tmp_path / "posts.jsonl")
    assert {post["thread"]: post["text"] for post in posts} == dict.fromkeys(STRATEGIES, "Under the mat[1].")
    assert len(posts) == len(STRATEGIES)
    for name, tree in (await trees(tmp_path)).items():
        tools = [job for job in tree if job.kind is JobKind.TOOL]
        assert [(job.status, job.attempts) for job in tools] == [(JobStatus.DONE, 1)] * len(tools), name
        assert tools and tree[0].status is JobStatus.DONE and tree[0].attempts == 2, name
        plans = [job for job in tree if job.kind is JobKind.PLANNING]
        if name == PLANNED:
            assert [(job.name, job.attempts) for job in plans] == [("plan", 1)]  # nor is what is planned planned again
        assert all("kept" not in job.output for job in tree)
