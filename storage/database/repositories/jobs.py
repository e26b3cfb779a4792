"""Job trees in SQL."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, case, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from core.domain.jobs import Job, JobKind, JobStatus, no_such_job
from storage.database import Commit, Database
from storage.database.tables import FootnoteTable
from storage.database.tables.column_types import UtcTime

TREES_AT_ONCE = 500  # deleted in one write: some 10 ms, for which others wait

_JOB = FootnoteTable.metadata.tables["job"]
_C = _JOB.c


def _replacing(statement: Any) -> Any:
    """A step is written twice, and there are many: one statement each, without reading what was there."""
    others = {column.name: statement.excluded[column.name] for column in _C if column.name != "id"}
    return statement.on_conflict_do_update(index_elements=["id"], set_=others)


# Made once: what SQLAlchemy has compiled it keeps with the statement.
_SQLITE_SAVE = _replacing(sqlite.insert(_JOB))
_POSTGRES_SAVE = _replacing(postgresql.insert(_JOB))
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

    async def save(self, *jobs: Job) -> None:
        if not jobs:
            return
        rows = [_to_values(job) for job in jobs]
        given = rows if len(rows) > 1 else rows[0]  # drivers have a longer way for lists
        statement = _POSTGRES_SAVE if self._database.is_postgres else _SQLITE_SAVE
        await self._database.write_rows(lambda connection: connection.execute(statement, given), Commit.RECORD)

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
        forgotten = 0
        while gone := await self._database.write_rows(
            lambda connection: connection.execute(_PURGE, {"before": before}).rowcount, Commit.RECORD
        ):
            forgotten += gone
        return forgotten

    async def _list(self, query: Select[Any], wanted: Mapping[str, Any]) -> list[Job]:
        return await self._database.read_rows(
            lambda connection: [_to_job(row) for row in connection.execute(query, wanted)]
        )


def _to_values(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "workspace": job.workspace,
        "root_id": job.root_id,
        "parent_id": job.parent_id,
        "kind": job.kind.value,
        "name": job.name,
        "status": job.status.value,
        "attempts": job.attempts,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "completed_at": job.completed_at,
        "error": job.error,
        "input": dict(job.input),
        "output": dict(job.output),
    }


def _to_job(row: Any) -> Job:
    return Job(
        id=row.id,
        workspace=row.workspace,
        root_id=row.root_id,
        parent_id=row.parent_id,
        kind=JobKind(row.kind),
        name=row.name,
        status=JobStatus(row.status),
        attempts=row.attempts,
        created_at=row.created_at,
        started_at=row.started_at,
        completed_at=row.completed_at,
        error=row.error,
        input=row.input,
        output=row.output,
    )
