"""A disk that fills up under the inbox: clear errors, and nothing lost that was accepted."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import event, text

from core.domain.answer import Draft, Evidence
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.replies import CitedText
from core.errors import StorageError
from core.service.inbox import STANDARD_GATES, Inbox
from core.service.worker import Worker
from storage.database import Database
from storage.database.repositories.inbox import SqlInboxStore
from tests.fakes import RealClock
from tests.kill.parts.service import PLATFORM, FilePlatform, build_answers, read_posts
from tests.unit.core.library_builder import Shelf

NO_LIMIT = 1_000_000  # pages


class Echo:
    """A strategy that says the question back."""

    name = "echo"

    async def draft(self, question: IncomingMessage, *_: object) -> Draft:
        return Draft(segments=(CitedText(text=question.text),), evidence=Evidence())


class Disk:
    """What SQLite may grow to: set on every connection when it is taken from the pool."""

    def __init__(self, database: Database) -> None:
        self.pages = NO_LIMIT
        event.listen(database._engine, "checkout", self._limit)

    def _limit(self, connection: Any, *_: object) -> None:
        connection.execute(f"PRAGMA max_page_count={self.pages}")


def question(number: int) -> IncomingMessage:
    address = ThreadAddress(platform=PLATFORM, workspace="local", channel="c", thread=f"t{number % 3}")
    return IncomingMessage(
        address=address, author="ada", text=f"Question {number}? " + "x" * 5000, event_key=str(number)
    )


async def test_a_full_disk_is_one_clear_error_and_what_was_accepted_is_answered_when_there_is_room(tmp_path):
    database = await Database.open(tmp_path / "footnote.db")
    clock = RealClock()
    store = SqlInboxStore(database, clock)
    platform = FilePlatform(tmp_path / "posts.jsonl")
    worker = Worker(store, build_answers(database, clock, Shelf(), lambda _: Echo()), {PLATFORM: platform}, clock)
    inbox = Inbox(store, STANDARD_GATES, clock, worker.wake)
    disk = Disk(database)
    now = await database.read(lambda connection: connection.execute(text("PRAGMA page_count")).scalar_one())
    disk.pages = now + 12

    accepted = []
    with pytest.raises(StorageError, match="can't grow, the disk is full; free some space"):
        for number in range(100):
            await inbox.receive(question(number))
            accepted.append(str(number))
    assert accepted
    work = asyncio.create_task(worker.run())
    await asyncio.sleep(1)
    disk.pages = NO_LIMIT
    async with asyncio.timeout(60):
        while await store.depth():  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.05)
    await worker.stop()
    await work
    await database.close()

    posted = [post["key"] for post in read_posts(tmp_path / "posts.jsonl")]
    assert sorted(posted, key=int) == accepted
