"""A database looked at as a whole, on SQLite and PostgreSQL."""

import os
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from core.errors import InvalidState, StorageError
from storage.database import Database
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.maintenance import MOST_FAULTS, SqlMaintenance
from storage.database.schema import HEAD
from tests.builders import build_document, build_pages, build_passages, build_source
from tests.postgres import postgres_schema

NOTES = build_source("notes")


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | str]:
    if request.param == "sqlite":
        yield tmp_path / "data" / "footnote.db"
        return
    with postgres_schema() as url:
        yield url


@pytest.fixture
async def database(location: Path | str) -> AsyncIterator[Database]:
    opened = await Database.open(location)
    corpus = SqlCorpusRepository(opened)
    await corpus.save_source(NOTES)
    for path in ("guide.md", "log.md"):
        document = build_document(path, NOTES)
        pages = build_pages(document, "Ein roter Drachen: 🪁.", "A blue boat.")
        await corpus.switch_revision(document, pages, build_passages(pages))
    yield opened
    await opened.close()


async def test_a_database_tells_how_it_is(database: Database) -> None:
    facts = await SqlMaintenance(database).describe()

    assert (facts.name, facts.schema) == (database.name, HEAD)
    assert facts.kind == ("PostgreSQL" if database.is_postgres else "SQLite")
    assert facts.bytes > 10_000
    assert dict(facts.rows) == {
        "sources": 1,
        "documents": 2,
        "pages": 4,
        "passages": 4,
        "conversations": 0,
        "messages": 0,
        "jobs": 0,
    }


async def test_a_sound_database_has_no_faults(database: Database) -> None:
    assert await SqlMaintenance(database).check_integrity() == []


async def test_a_passage_that_is_not_in_its_page_is_a_fault(database: Database) -> None:
    change = text("UPDATE page SET text = 'Ein blauer Drachen: 🪁.' WHERE number = 1 AND document_id LIKE '%guide.md'")
    await database.write(lambda connection: connection.execute(change))

    [fault] = await SqlMaintenance(database).check_integrity()

    assert fault.startswith("Page 1 of 'guide.md' (source 'notes') does not contain one of its stored passages")
    assert "ingest its source again" in fault


async def test_rows_that_belong_to_nothing_are_faults_and_not_all_of_them_are_told(tmp_path: Path) -> None:
    file = tmp_path / "footnote.db"
    database = await Database.open(file)
    with sqlite3.connect(file) as raw:  # which has no foreign keys on
        raw.executemany(
            "INSERT INTO page (id, document_id, revision, number, title, heading_path, headings, anchors, text) "
            "VALUES (?, 'gone', 'r', ?, '', '[]', '[]', '[]', '')",
            [(str(number), number) for number in range(1, MOST_FAULTS + 9)],
        )
    raw.close()

    faults = await SqlMaintenance(database).check_integrity()

    assert len(faults) == MOST_FAULTS
    assert "has a row in 'page' without its parent in 'document'" in faults[0]
    await database.close()


async def test_a_servers_database_is_not_backed_up_here(database: Database, tmp_path: Path) -> None:
    maintenance, target = SqlMaintenance(database), tmp_path / "backup.zip"
    if not database.is_postgres:
        assert await maintenance.back_up(target) == target.stat().st_size
        return
    with pytest.raises(InvalidState, match="pg_dump"):
        await maintenance.back_up(target)
    assert not target.exists()


async def test_a_backup_that_can_not_be_written_leaves_nothing(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "footnote.db")

    with pytest.raises(StorageError, match="can't be written"):
        await SqlMaintenance(database).back_up(tmp_path / "missing" / "backup.zip")

    assert [name for name in os.listdir(tmp_path) if not name.startswith("footnote.db")] == []
    await database.close()
