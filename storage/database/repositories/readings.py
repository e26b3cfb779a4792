"""What models said of documents, and what it cost, in SQL."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any

from sqlalchemy import Connection, Insert, bindparam, delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from core.domain.extracts import ModelReading, Spending
from storage.database import Database
from storage.database.repositories.corpus_queries import DOCUMENT
from storage.database.tables import FootnoteTable, ModelReadingRow, ModelSpendingRow

_READING = FootnoteTable.metadata.tables[ModelReadingRow.__tablename__]
_SPENDING = FootnoteTable.metadata.tables[ModelSpendingRow.__tablename__]
_SAME = (_READING.c.document_id, _READING.c.piece, _READING.c.extractor)


class SqlReadingRepository:
    """ReadingRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def readings(self, document_id: str) -> list[ModelReading]:
        query = select(_READING).where(_READING.c.document_id == document_id).order_by(*_SAME)
        rows = await self._database.read_rows(lambda connection: connection.execute(query).all())
        return [_to_reading(row._asdict()) for row in rows]

    async def save(self, readings: Sequence[ModelReading], day: date, spent: Spending) -> None:
        rows = [_to_values(reading) for reading in readings]
        add = _adding(day, spent, is_postgres=self._database.is_postgres)
        await self._database.write_rows(lambda connection: _save(connection, rows, add))

    async def keep_only(self, document_id: str, pieces: Collection[str]) -> None:
        kept = set(pieces)
        own = _READING.c.document_id == document_id

        def work(connection: Connection) -> None:
            there = connection.execute(select(_READING.c.piece).where(own).distinct()).scalars()
            gone = [{"gone": piece} for piece in there if piece not in kept]
            if gone:
                connection.execute(delete(_READING).where(own, _READING.c.piece == bindparam("gone")), gone)

        await self._database.write_rows(work)

    async def spent(self, day: date) -> Spending:
        query = select(_SPENDING.c.requests, _SPENDING.c.tokens).where(_SPENDING.c.day == day.isoformat())
        row = await self._database.read_rows(lambda connection: connection.execute(query).first())
        return Spending(requests=row.requests, tokens=row.tokens) if row else Spending()


def _save(connection: Connection, rows: Sequence[Mapping[str, Any]], add: Insert) -> None:
    connection.execute(add)
    ids = {row["document_id"] for row in rows}
    locked = select(DOCUMENT.c.id).where(DOCUMENT.c.id.in_(ids)).with_for_update(read=True)
    there = set(connection.execute(locked).scalars()) if ids else set()
    kept = [row for row in rows if row["document_id"] in there]
    if not kept:
        return
    same = [{f"old_{column.name}": row[column.name] for column in _SAME} for row in kept]
    connection.execute(delete(_READING).where(*(column == bindparam(f"old_{column.name}") for column in _SAME)), same)
    connection.execute(insert(_READING), kept)


def _adding(day: date, spent: Spending, *, is_postgres: bool) -> Insert:
    """One statement, so that two processes that add at once both count."""
    values = {"day": day.isoformat(), "requests": spent.requests, "tokens": spent.tokens}
    sums = {name: _SPENDING.c[name] + values[name] for name in ("requests", "tokens")}
    if is_postgres:
        return postgresql.insert(_SPENDING).values(values).on_conflict_do_update(index_elements=["day"], set_=sums)
    return sqlite.insert(_SPENDING).values(values).on_conflict_do_update(index_elements=["day"], set_=sums)


def _to_values(reading: ModelReading) -> dict[str, Any]:
    return {
        "document_id": reading.document_id,
        "piece": reading.piece,
        "extractor": reading.extractor,
        "version": reading.version,
        "read_at": reading.read_at,
        "said": [dict(item) for item in reading.said],
        "error": reading.error,
    }


def _to_reading(row: Mapping[str, Any]) -> ModelReading:
    return ModelReading(**{**row, "said": tuple(row["said"])})
