"""The state of syncs in SQL."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import delete, select

from core.domain.sources import SyncResult, SyncState
from storage.database import Database
from storage.database.tables import TABLES, SyncRow

_SYNCS = TABLES[SyncRow.__tablename__]


class SqlSyncRepository:
    """SyncRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, state: SyncState) -> None:
        values = asdict(state) | {"result": state.result.value}
        await self._database.write(lambda connection: connection.execute(self._database.upsert(_SYNCS), values))

    async def find(self, workspace: str, source: str) -> SyncState | None:
        found = await self._read(workspace, _SYNCS.c.source == source)
        return found[0] if found else None

    async def list_states(self, workspace: str) -> list[SyncState]:
        return await self._read(workspace)

    async def remove(self, workspace: str, source: str) -> None:
        gone = delete(_SYNCS).where(_SYNCS.c.workspace == workspace, _SYNCS.c.source == source)
        await self._database.write(lambda connection: connection.execute(gone))

    async def _read(self, workspace: str, *filters: Any) -> list[SyncState]:
        query = select(_SYNCS).where(_SYNCS.c.workspace == workspace, *filters)
        rows: list[Any] = await self._database.read(lambda connection: [*connection.execute(query)])
        return sorted((_to_state(row) for row in rows), key=lambda state: state.source)


def _to_state(row: Any) -> SyncState:
    values = dict(row._mapping)
    return SyncState(**values | {"result": SyncResult(row.result), "warnings": tuple(row.warnings)})
