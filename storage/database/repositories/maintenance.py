"""Facts, faults and backups of a database."""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from sqlalchemy import Connection, func, select, text

from core.errors import InvalidState
from core.ports.service import DatabaseFacts
from storage.database import Database
from storage.database.backups import write_backup
from storage.database.repositories.revisions import DOCUMENT, PAGE, PASSAGE, SOURCE
from storage.database.schema import stored_revision
from storage.database.tables import TABLES

MOST_FAULTS = 20  # reported of each kind: a damaged file has thousands
_COUNTED = {
    "sources": "source",
    "documents": "document",
    "pages": "page",
    "passages": "passage",
    "conversations": "conversation",
    "messages": "message",
    "jobs": "job",
}
_SIZE = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT pg_database_size(current_database())",
}


class SqlMaintenance:
    """DatabaseMaintenance on a Database; `others` names further parts of a backup, in the folder of a SQLite file."""

    def __init__(self, database: Database, others: Sequence[str] = ()) -> None:
        self._database = database
        self._others = others

    async def describe(self) -> DatabaseFacts:
        return await self._database.read(self._describe)

    async def check_integrity(self) -> list[str]:
        return await self._database.read(self._find_faults)

    async def back_up(self, target: Path) -> int:
        if self._database.is_postgres:
            raise InvalidState(
                f"The database {self._database.name} is a server's: back it up with PostgreSQL's own pg_dump, and keep "
                "a copy of the data directory of each process."
            )
        return await asyncio.to_thread(write_backup, Path(self._database.name), self._others, target)

    def _describe(self, connection: Connection) -> DatabaseFacts:
        return DatabaseFacts(
            name=self._database.name,
            kind="PostgreSQL" if self._database.is_postgres else "SQLite",
            schema=stored_revision(connection, self._database.name) or "",
            bytes=connection.execute(text(_SIZE[connection.dialect.name])).scalar_one(),
            rows={
                label: connection.execute(select(func.count()).select_from(TABLES[name])).scalar_one()
                for label, name in _COUNTED.items()
            },
        )

    def _find_faults(self, connection: Connection) -> list[str]:
        """Check everything in one transaction, so that no document is seen half switched."""
        faults = list(islice(_faults_of_file(connection, self._database.name), MOST_FAULTS))
        return faults + list(islice(_faults_of_passages(connection), MOST_FAULTS))


def _faults_of_file(connection: Connection, name: str) -> Iterator[str]:
    """Yield SQLite's findings; a PostgreSQL server checks its own files and keys."""
    if connection.dialect.name != "sqlite":
        return
    for (line,) in connection.exec_driver_sql(f"PRAGMA integrity_check({MOST_FAULTS})"):
        if line != "ok":
            yield f"The database {name} is damaged ({line}): restore a backup with `footnote db restore`."
    for row in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield (
            f"The database {name} has a row in {row[0]!r} without its parent in {row[2]!r}: restore a backup with "
            "`footnote db restore`."
        )


def _faults_of_passages(connection: Connection) -> Iterator[str]:
    """Yield pages with a passage that is not verbatim in their text: no footnote on it could be proved."""
    in_page = func.substr(PAGE.c.text, PASSAGE.c.span_start + 1, PASSAGE.c.span_end - PASSAGE.c.span_start)
    query = (
        select(SOURCE.c.name.label("source"), DOCUMENT.c.path, PAGE.c.number)
        .select_from(PASSAGE.join(PAGE).join(DOCUMENT).join(SOURCE))
        .where(PASSAGE.c.text != in_page)
        .distinct()
        .order_by(SOURCE.c.name, DOCUMENT.c.path, PAGE.c.number)
    )
    for row in connection.execute(query):
        yield (
            f"Page {row.number} of {row.path!r} (source {row.source!r}) does not contain one of its stored passages: "
            "ingest its source again with --force."
        )
