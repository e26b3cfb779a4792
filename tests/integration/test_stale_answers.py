"""Stale answers over a real database: several processes at once, and answers of the time before they were compared."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import create_engine

from core.domain.conversation import Role
from core.domain.corpus import Document
from core.domain.incoming import ThreadAddress
from core.features.staleness.stale_answers import Staleness
from storage.database import Database
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.inbox import SqlInboxStore
from storage.database.repositories.settings import SqlSettingsRepository
from storage.database.repositories.staleness import SqlStaleRepository
from storage.database.schema import alembic_config
from tests.builders import (
    build_citation,
    build_conversation,
    build_document,
    build_message,
    build_pages,
    build_passages,
    build_source,
)
from tests.fakes import RealClock
from tests.postgres import postgres_schema

PROCESSES = 4
THREADS = 12
GUIDE = build_document()


class Process:
    """What a process has open of the database."""

    def __init__(self, database: Database) -> None:
        self.corpus = SqlCorpusRepository(database)
        self.conversations = SqlConversationRepository(database)
        self.inbox = SqlInboxStore(database, RealClock())
        self.stale = SqlStaleRepository(database)
        self.staleness = Staleness(
            self.stale,
            conversations=self.conversations,
            inbox=self.inbox,
            settings=SqlSettingsRepository(database),
            clock=RealClock(),
            noted={"web"},
        )

    async def write(self, text: str, revision: str) -> Document:
        document = replace(GUIDE, revision=revision)
        pages = build_pages(document, text)
        await self.corpus.save_source(build_source())
        await self.corpus.switch_revision(document, pages, build_passages(pages))
        return document

    async def answer(self, thread: str, answers: int = 1) -> None:
        address = ThreadAddress(platform="web", workspace="local", channel="general", thread=thread)
        cited = (build_citation(GUIDE.id, revision="r1"),)
        messages = [build_message(f"{thread}-{n}", role=Role.ASSISTANT, citations=cited) for n in range(answers)]
        await self.conversations.add(build_conversation(thread, address=address), messages)

    async def told(self) -> list[str]:
        """The threads of the notes, once for each."""
        entries = await self.inbox.list_open("local")
        return sorted(entry.address.thread for entry in entries if entry.incoming.is_note)


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | str]:
    if request.param == "sqlite":
        yield tmp_path / "footnote.db"
        return
    with postgres_schema() as url:
        yield url


@pytest.fixture
async def processes(location: Path | str) -> AsyncIterator[list[Process]]:
    async with AsyncExitStack() as stack:
        opened = []
        for _ in range(PROCESSES):
            database = await Database.open(location)
            stack.push_async_callback(database.close)
            opened.append(Process(database))
        yield opened


async def test_each_thread_is_told_once_however_many_processes_look_at_once(processes: list[Process]) -> None:
    first = processes[0]
    await first.write("It lies under the mat.", "r1")
    threads = [f"t{number:02}" for number in range(THREADS)]
    for thread in threads:
        await first.answer(thread, answers=3)
    await asyncio.gather(*(process.staleness.check() for process in processes))
    assert await first.told() == []

    await first.write("Nothing.", "r2")
    await asyncio.gather(*(process.staleness.check() for process in processes for _ in range(3)))
    assert await first.told() == threads
    assert await first.stale.due_notes() == []
    assert len(await first.staleness.list_stale("local")) == 3 * THREADS


@pytest.mark.parametrize("revision", ["0009"])
async def test_answers_of_before_are_marked_without_a_note_and_told_of_when_more_changes(
    tmp_path: Path, revision: str
) -> None:
    path = tmp_path / "footnote.db"
    database = await Database.open(path)
    process = Process(database)
    await process.write("Nothing.", "r2")
    await process.answer("old")
    await database.close()
    _migrate(path, lambda config: command.downgrade(config, revision))

    database = await Database.open(path)
    process = Process(database)
    assert await process.staleness.check() == 0
    assert [item.message.id for item in await process.staleness.list_stale("local")] == ["old-0"]
    await process.write("It lies under the mat.", "r3")
    assert (await process.staleness.check(), await process.staleness.list_stale("local")) == (0, [])
    await process.write("Nothing.", "r4")
    assert await process.staleness.check() == 1
    await database.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM citation_check WHERE note_id IS NOT NULL").fetchone() == (0,)
    connection.close()


def _migrate(path: Path, work: Callable[[object], object]) -> None:
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        work(alembic_config(connection))
    engine.dispose()
