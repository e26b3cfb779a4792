"""Recorded runs in SQL."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from core.domain.features import StoredCassette
from storage.database import Database
from storage.database.cassette_ids import the_one, unknown
from storage.database.tables import CassetteDocumentRow, CassetteRow, DocumentRow, MessageRow
from storage.storable import to_storable, to_storable_value

# Rows whose documents are all there.
_WHOLE = select(func.count()).where(col(CassetteDocumentRow.message_id) == col(CassetteRow.message_id)).correlate(
    CassetteRow
).scalar_subquery() == col(CassetteRow.documents)

# Made once: what SQLAlchemy has compiled it keeps with the statement. Rows that a run refers to are locked: what is
# there now is there when it is committed.
_MESSAGE = select(col(MessageRow.id)).where(col(MessageRow.id) == bindparam("wanted")).with_for_update(key_share=True)
_DOCUMENTS = (
    select(col(DocumentRow.id))
    .where(col(DocumentRow.id).in_(bindparam("ids", expanding=True)))
    .with_for_update(key_share=True)
)
_REMOVE = delete(CassetteRow).where(col(CassetteRow.message_id) == bindparam("wanted"))
_ADD, _ADD_DOCUMENTS = insert(CassetteRow), insert(CassetteDocumentRow)


class SqlCassetteRepository:
    """CassetteRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, cassette: StoredCassette) -> None:
        await self._database.write_rows(lambda connection: _save(connection, to_storable_value(cassette)))

    async def find(self, message_id: str, workspace: str) -> StoredCassette:
        query = (
            select(CassetteRow)
            .where(_WHOLE, col(CassetteRow.workspace) == to_storable(workspace))
            .where(col(CassetteRow.message_id).startswith(to_storable(message_id), autoescape=True))
            .limit(2)
        )
        alike = await self._database.read(lambda session: [_to_cassette(row) for row in session.scalars(query)])
        return the_one(message_id, alike)

    async def list_cassettes(
        self, workspace: str, *, cases_only: bool = False, limit: int = 50
    ) -> list[StoredCassette]:
        query = (
            select(CassetteRow)
            .where(_WHOLE, col(CassetteRow.workspace) == to_storable(workspace))
            .order_by(col(CassetteRow.recorded_at).desc(), col(CassetteRow.message_id))
            .limit(limit)
        )
        if cases_only:
            query = query.where(col(CassetteRow.is_case))
        return await self._database.read(
            lambda session: [_to_cassette(row, data=b"") for row in session.scalars(query)]
        )

    async def mark_case(self, message_id: str, *, is_case: bool) -> None:
        change = update(CassetteRow).where(col(CassetteRow.message_id) == message_id).values(is_case=is_case)
        changed: Any = await self._database.write(lambda session: session.execute(change))
        if not changed.rowcount:
            raise unknown(message_id)

    async def purge(self, before: datetime) -> int:
        old = delete(CassetteRow).where(col(CassetteRow.recorded_at) < before, ~col(CassetteRow.is_case))
        torn = delete(CassetteRow).where(~_WHOLE)

        def work(session: Session) -> int:
            results: list[Any] = [session.execute(old), session.execute(torn)]
            return sum(result.rowcount for result in results)

        return await self._database.write(work)


def _save(connection: Connection, cassette: StoredCassette) -> None:
    ids, key = sorted(cassette.document_ids), {"wanted": cassette.message_id}
    documents = connection.execute(_DOCUMENTS, {"ids": ids}).all()
    if connection.execute(_MESSAGE, key).first() is None or len(documents) < len(ids):
        return
    connection.execute(_REMOVE, key)
    values = {
        "message_id": cassette.message_id,
        "workspace": cassette.workspace,
        "question": cassette.question,
        "recorded_at": cassette.recorded_at,
        "is_case": cassette.is_case,
        "documents": len(ids),
        "data": cassette.data,
    }
    connection.execute(_ADD, values)
    if ids:
        connection.execute(_ADD_DOCUMENTS, [{"message_id": cassette.message_id, "document_id": id} for id in ids])


def _to_cassette(row: CassetteRow, data: bytes | None = None) -> StoredCassette:
    return StoredCassette(
        message_id=row.message_id,
        workspace=row.workspace,
        question=row.question,
        recorded_at=row.recorded_at,
        document_ids=frozenset(),
        data=row.data if data is None else data,
        is_case=row.is_case,
    )
