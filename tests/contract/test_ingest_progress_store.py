"""The contract of IngestProgressStore, on every database: what a process knows of the ingests of the others."""

from datetime import timedelta

import pytest

from core.domain.ingest_report import IngestProgress
from storage.database import Database
from storage.database.repositories import ingest_progress
from storage.database.repositories.ingest_progress import SqlIngestProgress
from tests.fakes import RealClock


def come(done: int, total: int) -> IngestProgress:
    return IngestProgress(done=done, total=total, path="")


@pytest.fixture
def stores(database: Database) -> list[SqlIngestProgress]:
    """As three processes have it."""
    return [SqlIngestProgress(database, RealClock()) for _ in range(3)]


async def test_a_process_knows_how_far_the_ingests_of_others_have_come(stores: list[SqlIngestProgress]) -> None:
    one, two, three = stores
    assert await one.elsewhere() == {}
    await one.note("local/notes", come(0, 0))
    await one.note("local/notes", come(3, 9))
    await two.note("local/notes", come(0, 0))  # it waits for the first
    await two.note("local/wiki", come(1, 2))
    assert await one.elsewhere() == {"local/notes": come(0, 0), "local/wiki": come(1, 2)}
    assert await two.elsewhere() == {"local/notes": come(3, 9)}
    assert await three.elsewhere() == {"local/notes": come(3, 9), "local/wiki": come(1, 2)}


async def test_an_ingest_that_ended_is_told_no_more(stores: list[SqlIngestProgress]) -> None:
    one, two, _ = stores
    await one.note("local/notes", come(3, 9))
    await two.end("local/notes")  # not its own
    assert await two.elsewhere() == {"local/notes": come(3, 9)}
    await one.end("local/notes")
    await one.end("local/notes")
    assert await two.elsewhere() == {}


async def test_the_ingest_of_a_killed_process_is_told_for_a_short_time(
    stores: list[SqlIngestProgress], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = stores
    await one.note("local/notes", come(3, 9))
    with monkeypatch.context() as later:
        later.setattr(ingest_progress, "DEAD_AFTER", timedelta(0))
        assert await two.elsewhere() == {}
        await two.note("local/wiki", come(0, 1))  # removes what is dead
    assert await three.elsewhere() == {"local/wiki": come(0, 1)}
