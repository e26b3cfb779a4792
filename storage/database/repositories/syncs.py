"""The state of syncs in SQL."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite

from core.domain.sources import SyncResult, SyncState
from storage.database import Database
from storage.database.tables import FootnoteTable, SyncRow
from storage.storable import to_storable, to_storable_value

_SYNCS = FootnoteTable.metadata.tables[SyncRow.__tablename__]


class SqlSyncRepository:
    """SyncRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, state: SyncState) -> None:
        storable = to_storable_value(state)
        values = asdict(storable) | {"result": storable.result.value, "warnings": list(storable.warnings)}
        statement = (postgresql if self._database.is_postgres else sqlite).insert(_SYNCS).values(**values)
        others = {column.name: statement.excluded[column.name] for column in _SYNCS.c if not column.primary_key}
        replacing = statement.on_conflict_do_update(index_elements=[*_SYNCS.primary_key], set_=others)
        await self._database.write_rows(lambda connection: connection.execute(replacing))

    async def find(self, workspace: str, source: str) -> SyncState | None:
        found = await self._read(workspace, _SYNCS.c.source == to_storable(source))
        return found[0] if found else None

    async def list_states(self, workspace: str) -> list[SyncState]:
        return await self._read(workspace)

    async def remove(self, workspace: str, source: str) -> None:
        gone = delete(_SYNCS).where(
            _SYNCS.c.workspace == to_storable(workspace), _SYNCS.c.source == to_storable(source)
        )
        await self._database.write_rows(lambda connection: connection.execute(gone))

    async def _read(self, workspace: str, *filters: Any) -> list[SyncState]:
        query = select(_SYNCS).where(_SYNCS.c.workspace == to_storable(workspace), *filters)
        rows: list[Any] = await self._database.read_rows(lambda connection: [*connection.execute(query)])
        return sorted((_to_state(row) for row in rows), key=lambda state: state.source)


def _to_state(row: Any) -> SyncState:
    values = dict(row._mapping)
    return SyncState(**values | {"result": SyncResult(row.result), "warnings": tuple(row.warnings)})
