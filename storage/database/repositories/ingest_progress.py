"""Progress of the ingests of all processes, in SQL."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, DateTime, delete, func, literal, select

from core.domain.ingest_report import IngestProgress
from core.ports import Clock
from storage.database import Commit, Database
from storage.database.column_types import UtcTime
from storage.database.tables import TABLES

_NOTES = TABLES["ingest_progress"]
DEAD_AFTER = timedelta(seconds=15)  # several notes; far longer than an event loop ever blocks


class SqlIngestProgress:
    """IngestProgressStore on a Database. Processes on PostgreSQL may run on several machines, so it gives the time."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._process = uuid.uuid4().hex

    async def note(self, source_id: str, progress: IngestProgress) -> None:
        key = {"process": self._process, "source_id": source_id}
        values = {**key, "done": progress.done, "total": progress.total, "noted_at": self._now()}
        noted = self._database.upsert(_NOTES).values(values)
        killed = delete(_NOTES).where(_NOTES.c.process != self._process, _NOTES.c.noted_at < self._oldest())

        def work(connection: Connection) -> None:
            connection.execute(noted)
            connection.execute(killed)

        await self._database.write(work, Commit.RECORD)

    async def end(self, source_id: str) -> None:
        own = (_NOTES.c.process == self._process, _NOTES.c.source_id == source_id)
        await self._database.change(delete(_NOTES).where(*own), commit=Commit.RECORD)

    async def elsewhere(self) -> Mapping[str, IngestProgress]:
        others = (_NOTES.c.process != self._process, _NOTES.c.noted_at >= self._oldest())
        columns = (_NOTES.c.source_id, _NOTES.c.done, _NOTES.c.total)
        rows = await self._database.rows(select(*columns).where(*others).order_by(_NOTES.c.total, _NOTES.c.done))
        return {row.source_id: IngestProgress(done=row.done, total=row.total, path="") for row in rows}

    def _now(self) -> ColumnElement[datetime]:
        if self._database.is_postgres:
            return func.clock_timestamp(type_=DateTime(timezone=True))
        return literal(self._clock.now(), UtcTime)

    def _oldest(self) -> ColumnElement[datetime]:
        if self._database.is_postgres:
            return self._now() - DEAD_AFTER
        return literal(self._clock.now() - DEAD_AFTER, UtcTime)
