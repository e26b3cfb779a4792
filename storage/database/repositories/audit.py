"""The audit log in SQL: other repositories write to it in their own transactions."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Executable, delete, insert, select

from core.domain.audit import Audit, AuditEntry, AuditNote, Deed
from storage.database import Commit, Database
from storage.database.tables import TABLES
from storage.text import to_storable_value

_AUDIT = TABLES["audit_entry"]


def write_note(connection: Connection, note: Audit) -> None:
    """Store a note, if there is one, within a transaction."""
    if note is None:
        return
    values = asdict(to_storable_value(note)) | {"deed": note.deed.value, "done_at": datetime.now(UTC)}
    connection.execute(insert(_AUDIT), values)


def change(connection: Connection, statement: Executable, values: Mapping[str, Any] | None, audit: Audit) -> int:
    """Run one statement, with its note if it changes anything; return the number of rows that it changed."""
    count: int = connection.execute(statement, values).rowcount
    if count:
        write_note(connection, audit)
    return count


class SqlAuditLog:
    """Reads the audit log, and notes actions that are no single transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, note: AuditNote) -> None:
        """Store a note of something that is done. Durable when it returns."""
        await self._database.write(lambda connection: write_note(connection, note), Commit.DURABLE)

    async def newest(self, workspace: str | None, limit: int) -> list[AuditEntry]:
        """Return the newest entries of a workspace, or of all, the newest first."""
        query = select(_AUDIT).order_by(_AUDIT.c.id.desc()).limit(limit)
        if workspace is not None:
            query = query.where(_AUDIT.c.workspace == workspace)
        return [
            AuditEntry(
                id=row.id,
                done_at=row.done_at,
                note=AuditNote(workspace=row.workspace, actor=row.actor, deed=Deed(row.deed), about=row.about),
            )
            for row in await self._database.rows(query)
        ]

    async def purge(self, before: datetime) -> int:
        """Delete entries from before; return their number."""
        return await self._database.change(delete(_AUDIT).where(_AUDIT.c.done_at < before))
