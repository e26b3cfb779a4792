"""The databases that contract tests run on."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from storage.database import Database
from storage.database.tables import METADATA
from tests.postgres import postgres_schema


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new SQLite database, migrated once: tests copy it."""
    path = tmp_path_factory.mktemp("migrated") / "footnote.db"
    asyncio.run(_open_and_close(path))
    return path


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A migrated schema of this test process on the PostgreSQL server, dropped at the end."""
    with postgres_schema() as url:
        asyncio.run(_open_and_close(url))
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def database_location(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """The file or the URL of an empty, migrated database."""
    if request.param == "sqlite":
        return Path(shutil.copy(request.getfixturevalue("migrated_file"), tmp_path / "footnote.db"))
    url: str = request.getfixturevalue("postgres_url")
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        names = ", ".join(table.name for table in METADATA.sorted_tables)
        connection.execute(text(f"TRUNCATE {names} CASCADE"))
    engine.dispose()
    return url


@pytest.fixture
async def database(database_location: Path | str) -> AsyncIterator[Database]:
    opened = await Database.open(database_location)
    yield opened
    await opened.close()


async def _open_and_close(location: Path | str) -> None:
    await (await Database.open(location)).close()
