"""Job trees in SQL."""

from typing import Any

from sqlalchemy import case, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session
from sqlmodel import col

from core.domain.jobs import Job, JobKind, JobStatus
from core.errors import NotFound
from storage.database import Database
from storage.tables import FootnoteTable, JobRow

_TABLE = FootnoteTable.metadata.tables["job"]


def _replacing(statement: Any) -> Any:
    others = {column.name: statement.excluded[column.name] for column in _TABLE.columns if column.name != "id"}
    return statement.on_conflict_do_update(index_elements=["id"], set_=others)


_SQLITE_SAVE = _replacing(sqlite.insert(_TABLE))
_POSTGRES_SAVE = _replacing(postgresql.insert(_TABLE))


class SqlJobRepository:
    """JobRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, *jobs: Job) -> None:
        rows = [_to_values(job) for job in jobs]
        if rows:
            await self._database.write(lambda session: _save(session, rows))

    async def get(self, job_id: str, workspace: str) -> Job:
        row = await self._database.read(lambda session: session.get(JobRow, job_id))
        if row is None or row.workspace != workspace:
            raise NotFound(f"There is no job {job_id!r}; `footnote jobs` lists them")
        return _to_job(row)

    async def list_roots(self, workspace: str, limit: int = 50) -> list[Job]:
        query = (
            select(JobRow)
            .where(col(JobRow.workspace) == workspace, col(JobRow.parent_id).is_(None))
            .order_by(col(JobRow.created_at).desc(), col(JobRow.id))
            .limit(limit)
        )
        return await self._database.read(lambda session: [_to_job(row) for row in session.scalars(query)])

    async def list_tree(self, root_id: str) -> list[Job]:
        root_first = case((col(JobRow.id) == root_id, 0), else_=1)
        query = (
            select(JobRow)
            .where(col(JobRow.root_id) == root_id)
            .order_by(root_first, col(JobRow.created_at), col(JobRow.id))
        )
        return await self._database.read(lambda session: [_to_job(row) for row in session.scalars(query)])


def _save(session: Session, rows: list[dict[str, Any]]) -> None:
    """A step is written twice, and there are many: one statement each, without reading what was there."""
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL synchronous_commit TO off"))
        connection.execute(_POSTGRES_SAVE, rows)
    else:
        connection.execute(_SQLITE_SAVE, rows)


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


def _to_job(row: JobRow) -> Job:
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
