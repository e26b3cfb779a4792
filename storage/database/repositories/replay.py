"""Recorded runs in SQL."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, update

from core.domain.features import StoredCassette
from core.errors import NotFound
from storage.database import Database
from storage.database.tables import TABLES
from storage.text import to_storable, to_storable_value

SHORTEST_PREFIX = 6  # characters of an abbreviated id

_CASSETTE, _CITED, _DOCUMENT, _MESSAGE = (
    TABLES[name] for name in ("cassette", "cassette_document", "document", "message")
)
_C = _CASSETTE.c
# The condition that all documents of a run still exist.
_IS_COMPLETE = (
    select(func.count()).where(_CITED.c.message_id == _C.message_id).correlate(_CASSETTE).scalar_subquery()
    == _C.documents
)

# Built once: SQLAlchemy keeps the compiled form with the statement. The locks keep referenced rows until the commit.
_MESSAGE_BY_ID = select(_MESSAGE.c.id).where(_MESSAGE.c.id == bindparam("wanted")).with_for_update(key_share=True)
_DOCUMENTS = (
    select(_DOCUMENT.c.id).where(_DOCUMENT.c.id.in_(bindparam("ids", expanding=True))).with_for_update(key_share=True)
)
_REMOVE = delete(_CASSETTE).where(_C.message_id == bindparam("wanted"))
_ADD, _ADD_DOCUMENTS = insert(_CASSETTE), insert(_CITED)


class SqlCassetteRepository:
    """CassetteRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, cassette: StoredCassette) -> None:
        await self._database.write(lambda connection: _save(connection, to_storable_value(cassette)))

    async def find(self, message_id: str, workspace: str) -> StoredCassette:
        query = (
            select(_CASSETTE)
            .where(_IS_COMPLETE, _C.workspace == workspace)
            .where(_C.message_id.startswith(to_storable(message_id), autoescape=True))
            .limit(2)
        )
        return _find_one(message_id, [_to_cassette(row, row.data) for row in await self._database.rows(query)])

    async def list_cassettes(
        self, workspace: str, *, cases_only: bool = False, limit: int = 50
    ) -> list[StoredCassette]:
        query = (
            select(*(column for column in _C if column.name != "data"))
            .where(_IS_COMPLETE, _C.workspace == workspace)
            .order_by(_C.recorded_at.desc(), _C.message_id)
            .limit(limit)
        )
        if cases_only:
            query = query.where(_C.is_case)
        return [_to_cassette(row, b"") for row in await self._database.rows(query)]

    async def mark_case(self, message_id: str, *, is_case: bool) -> None:
        change = update(_CASSETTE).where(_C.message_id == message_id).values(is_case=is_case)
        if not await self._database.change(change):
            raise _not_found(message_id)

    async def purge(self, before: datetime) -> int:
        old = delete(_CASSETTE).where(_C.recorded_at < before, ~_C.is_case)
        incomplete = delete(_CASSETTE).where(~_IS_COMPLETE)
        return await self._database.write(
            lambda connection: connection.execute(old).rowcount + connection.execute(incomplete).rowcount
        )


def _save(connection: Connection, cassette: StoredCassette) -> None:
    """Store a run, unless its message or one of its documents was deleted meanwhile."""
    ids, key = sorted(cassette.document_ids), {"wanted": cassette.message_id}
    documents = connection.execute(_DOCUMENTS, {"ids": ids}).all()
    if connection.execute(_MESSAGE_BY_ID, key).first() is None or len(documents) < len(ids):
        return
    connection.execute(_REMOVE, key)
    values = {column.name: getattr(cassette, column.name) for column in _C if column.name != "documents"}
    connection.execute(_ADD, {**values, "documents": len(ids)})
    if ids:
        connection.execute(_ADD_DOCUMENTS, [{"message_id": cassette.message_id, "document_id": id} for id in ids])


def _to_cassette(row: Row[Any], data: bytes) -> StoredCassette:
    values = {name: value for name, value in row._mapping.items() if name != "documents"}
    return StoredCassette(**{**values, "document_ids": frozenset(), "data": data})


def _find_one(message_id: str, candidates: Sequence[StoredCassette]) -> StoredCassette:
    """Return the run with this id or unambiguous beginning of an id; otherwise raise NotFound."""
    wanted = to_storable(message_id)
    exact = [item for item in candidates if item.message_id == wanted]
    near = candidates if len(wanted) >= SHORTEST_PREFIX and len(candidates) == 1 else []
    if not exact and not near:
        raise _not_found(message_id)
    return (exact or near)[0]


def _not_found(message_id: str) -> NotFound:
    return NotFound(
        f"There is no recorded run {message_id!r}: `footnote replay` lists them. They are kept for some days where "
        "replay.record is on, and go with their conversation and documents."
    )
