"""Writes that wait side by side share a commit, and no caller can tell."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, text

from core.errors import StorageError
from storage.database import Database
from storage.database.database import MOST_TOGETHER, Commit


class Place:
    """A database whose commits are counted, and whose writer can be held up."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.commits: list[object] = []  # what SQLite's commit waited for, of each
        event.listen(database._engine, "commit", self._committed)

    def _committed(self, connection: Connection) -> None:
        self.commits.append(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())

    @asynccontextmanager
    async def held_up(self) -> AsyncIterator[None]:
        """Meanwhile all writes wait behind one that goes on only at the end."""
        held, go_on = threading.Event(), threading.Event()

        def hold(connection: Connection) -> None:
            held.set()
            go_on.wait(60)

        first = asyncio.create_task(self.database.write(hold))
        await asyncio.to_thread(held.wait, 10)
        self.commits.clear()
        yield
        await asyncio.sleep(0)
        go_on.set()
        await first

    async def together(self, *writes: tuple[Callable[[Connection], object], Commit]) -> list[object]:
        """What each write gives or raises, when all of them wait while another is done."""
        async with self.held_up():
            waiting = [asyncio.create_task(self.database.write(work, commit)) for work, commit in writes]
        return list(await asyncio.gather(*waiting, return_exceptions=True))

    async def names(self) -> list[str]:
        query = text("SELECT name FROM source ORDER BY name")
        return await self.database.read(lambda connection: [*connection.execute(query).scalars()])


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    database = await Database.open(tmp_path / "footnote.db")
    yield Place(database)
    await database.close()


def adding(name: str) -> Callable[[Connection], str]:
    def work(connection: Connection) -> str:
        values = {"id": name, "name": name}
        connection.execute(
            text("INSERT INTO source (id, workspace, name, kind, location) VALUES (:id, 'w', :name, 'folder', '/')"),
            values,
        )
        return name

    return work


def failing(name: str, error: Exception) -> Callable[[Connection], None]:
    def work(connection: Connection) -> None:
        adding(name)(connection)
        raise error

    return work


async def test_writes_that_wait_share_a_commit_and_each_gets_its_own_result(place: Place) -> None:
    results = await place.together(*((adding(name), Commit.NORMAL) for name in "abc"))
    assert results == ["a", "b", "c"]
    assert await place.names() == ["a", "b", "c"]
    assert len(place.commits) == 2  # the one that held the others up, and theirs


async def test_a_write_that_fails_undoes_itself_and_no_other(place: Place) -> None:
    results = await place.together(
        (adding("a"), Commit.NORMAL),
        (failing("b", ValueError("no")), Commit.NORMAL),
        (adding("a"), Commit.NORMAL),  # its id is taken
        (adding("c"), Commit.DURABLE),
    )
    assert [type(result) for result in results] == [str, ValueError, StorageError, str]
    assert await place.names() == ["a", "c"]


async def test_a_shared_commit_waits_for_the_disk_when_one_of_its_writes_does(place: Place) -> None:
    await place.together((adding("a"), Commit.RECORD), (adding("b"), Commit.DURABLE), (adding("c"), Commit.NORMAL))
    assert place.commits == [1, 2]  # NORMAL of the one before them, FULL of theirs


async def test_a_write_whose_caller_was_cancelled_before_its_turn_is_left_out(place: Place) -> None:
    async with place.held_up():
        left = asyncio.create_task(place.database.write(adding("left")))
        kept = asyncio.create_task(place.database.write(adding("kept")))
        await asyncio.sleep(0)
        left.cancel()
    assert await kept == "kept"
    assert await place.names() == ["kept"]


async def test_many_writes_are_done_in_their_order_in_groups_of_bounded_size(place: Place) -> None:
    order: list[int] = []

    def noting(number: int) -> Callable[[Connection], None]:
        return lambda connection: order.append(number)

    count = MOST_TOGETHER * 3
    await place.together(*((noting(number), Commit.NORMAL) for number in range(count)))
    assert order == list(range(count))
    assert len(place.commits) == 4


async def test_a_write_of_objects_stands_alone_between_those_that_share(place: Place) -> None:
    async with place.held_up():
        before = asyncio.create_task(place.database.write(adding("before")))
        alone = asyncio.create_task(place.database.write(adding("alone"), is_shared=False))
        after = asyncio.create_task(place.database.write(adding("after")))
    assert [await before, await alone, await after] == ["before", "alone", "after"]
    assert len(place.commits) == 4  # the one that held them up, and one each
