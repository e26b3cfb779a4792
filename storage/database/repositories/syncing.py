"""The state of syncs in SQL."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import delete, select

from core.domain.sources import SyncResult, SyncState
from storage.database import Database
from storage.database.tables import TABLES

_SYNCS = TABLES["source_sync"]


class SqlSyncRepository:
    """SyncRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, state: SyncState) -> None:
        values = asdict(state) | {"result": state.result.value}
        await self._database.change(self._database.upsert(_SYNCS), values)

    async def find(self, workspace: str, source: str) -> SyncState | None:
        found = await self._read(workspace, _SYNCS.c.source == source)
        return found[0] if found else None

    async def list_states(self, workspace: str) -> list[SyncState]:
        return await self._read(workspace)

    async def remove(self, workspace: str, source: str) -> None:
        own = (_SYNCS.c.workspace == workspace, _SYNCS.c.source == source)
        await self._database.change(delete(_SYNCS).where(*own))

    async def _read(self, workspace: str, *filters: Any) -> list[SyncState]:
        query = select(_SYNCS).where(_SYNCS.c.workspace == workspace, *filters)
        states = [
            SyncState(**{**row._mapping, "result": SyncResult(row.result), "warnings": tuple(row.warnings)})
            for row in await self._database.rows(query)
        ]
        return sorted(states, key=lambda state: state.source)
