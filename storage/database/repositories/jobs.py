"""Job trees in SQL."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, case, delete, func, select

from core.domain.jobs import Job, JobKind, JobStatus, no_such_job
from storage.database import Commit, Database
from storage.database.column_types import UtcTime
from storage.database.tables import TABLES

TREES_AT_ONCE = 500  # deleted in one write: about 10 ms, for which others wait

_JOB = TABLES["job"]
_C = _JOB.c

# Built once: SQLAlchemy keeps the compiled form with the statement.
_BY_ID = select(_JOB).where(_C.id == bindparam("wanted"), _C.workspace == bindparam("workspace"))
_ROOTS = (
    select(_JOB)
    .where(_C.workspace == bindparam("workspace"), _C.parent_id.is_(None))
    .order_by(_C.created_at.desc(), _C.id)
    .limit(bindparam("most"))
)
_RUNNING = (
    select(_JOB)
    .where(_C.parent_id.is_(None), _C.status == JobStatus.RUNNING.value, _C.kind == bindparam("kind"))
    .order_by(_C.created_at, _C.id)
)
_RUNNING_BY_NAME = _RUNNING.where(_C.name == bindparam("name"))
_TREE = (
    select(_JOB)
    .where(_C.root_id == bindparam("wanted"))
    .order_by(case((_C.id == bindparam("wanted"), 0), else_=1), _C.created_at, _C.id)
)
_OLD_ROOTS = (
    select(_C.id)
    .where(_C.parent_id.is_(None), func.coalesce(_C.completed_at, _C.created_at) < bindparam("before", type_=UtcTime))
    .limit(TREES_AT_ONCE)
)
_PURGE = delete(_JOB).where(_C.root_id.in_(_OLD_ROOTS))


class SqlJobRepository:
    """JobRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._upsert = database.upsert(_JOB)

    async def save(self, *jobs: Job) -> None:
        if not jobs:
            return
        rows = [{column.name: getattr(job, column.name) for column in _C} for job in jobs]
        given = rows if len(rows) > 1 else rows[0]  # drivers handle lists more slowly
        await self._database.write(lambda connection: connection.execute(self._upsert, given), Commit.RECORD)

    async def get(self, job_id: str, workspace: str) -> Job:
        found = await self._list(_BY_ID, {"wanted": job_id, "workspace": workspace})
        if not found:
            raise no_such_job(job_id)
        return found[0]

    async def list_roots(self, workspace: str, limit: int = 50) -> list[Job]:
        return await self._list(_ROOTS, {"workspace": workspace, "most": limit})

    async def list_running(self, kind: JobKind, name: str | None = None) -> list[Job]:
        if name is None:
            return await self._list(_RUNNING, {"kind": kind.value})
        return await self._list(_RUNNING_BY_NAME, {"kind": kind.value, "name": name})

    async def list_tree(self, root_id: str) -> list[Job]:
        return await self._list(_TREE, {"wanted": root_id})

    async def purge(self, before: datetime) -> int:
        purged = 0
        while deleted := await self._database.change(_PURGE, {"before": before}, Commit.RECORD):
            purged += deleted
        return purged

    async def _list(self, query: Select[Any], wanted: Mapping[str, Any]) -> list[Job]:
        return [
            Job(**{**row._mapping, "kind": JobKind(row.kind), "status": JobStatus(row.status)})
            for row in await self._database.rows(query, wanted)
        ]
