"""The replies of models about pieces of documents, and their cost, in SQL."""

from collections.abc import Collection, Sequence
from datetime import date

from sqlalchemy import Connection, bindparam, delete, select

from core.domain.extracts import ModelReading, Spending
from storage.database import Database
from storage.database.repositories.revisions import DOCUMENT
from storage.database.tables import TABLES

_READING, _SPENDING = TABLES["model_reading"], TABLES["model_spending"]


class SqlReadingRepository:
    """ReadingRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def readings(self, document_id: str) -> list[ModelReading]:
        query = select(_READING).where(_READING.c.document_id == document_id).order_by(*_READING.primary_key)
        rows = await self._database.rows(query)
        return [ModelReading(**{**row._mapping, "said": tuple(row.said)}) for row in rows]

    async def save(self, readings: Sequence[ModelReading], day: date, spent: Spending) -> None:
        rows = [
            {column.name: getattr(reading, column.name) for column in _READING.c} | {"said": list(reading.said)}
            for reading in readings
        ]
        values = {"day": day.isoformat(), "requests": spent.requests, "tokens": spent.tokens}
        sums = {name: _SPENDING.c[name] + values[name] for name in ("requests", "tokens")}
        insert = self._database.insert(_SPENDING).values(values)

        def work(connection: Connection) -> None:
            # One statement, so that two processes that add at once both count.
            connection.execute(insert.on_conflict_do_update(index_elements=["day"], set_=sums))
            ids = {row["document_id"] for row in rows}
            locked = select(DOCUMENT.c.id).where(DOCUMENT.c.id.in_(ids)).with_for_update(read=True)
            existing = set(connection.execute(locked).scalars()) if ids else set()
            if kept := [row for row in rows if row["document_id"] in existing]:
                connection.execute(self._database.upsert(_READING), kept)

        await self._database.write(work)

    async def keep_only(self, document_id: str, pieces: Collection[str]) -> None:
        kept = set(pieces)
        own = _READING.c.document_id == document_id

        def work(connection: Connection) -> None:
            stored = connection.execute(select(_READING.c.piece).where(own).distinct()).scalars()
            if removed := [{"removed": piece} for piece in stored if piece not in kept]:
                connection.execute(delete(_READING).where(own, _READING.c.piece == bindparam("removed")), removed)

        await self._database.write(work)

    async def spent(self, day: date) -> Spending:
        query = select(_SPENDING.c.requests, _SPENDING.c.tokens).where(_SPENDING.c.day == day.isoformat())
        rows = await self._database.rows(query)
        return Spending(**rows[0]._mapping) if rows else Spending()
