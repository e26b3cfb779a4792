"""Kept answers in SQL, with their readers."""

from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, exists, or_, select, update

from core.domain.answer import Provenance
from core.domain.audit import Audit
from core.domain.kept_answers import KEPT_KIND, KeptAnswer, KeptRule, KeptState
from core.errors import NotFound
from storage.database import Commit, Database
from storage.database.repositories import audit as noted
from storage.database.repositories.conversation_rows import ADDRESS, to_address
from storage.database.repositories.revisions import DOCUMENT, SOURCE
from storage.database.tables import TABLES

_KEPT, _MESSAGE = TABLES["kept_answer"], TABLES["message"]
_IS_ACCEPTED = _KEPT.c.state == KeptState.ACCEPTED.value
_HAS_ANSWER = or_(_KEPT.c.answer_id == "", exists().where(_MESSAGE.c.id == _KEPT.c.answer_id))
_HAS_DOCUMENT = exists().where(DOCUMENT.c.id == _KEPT.c.document_id)
_OLDEST_FIRST = (_KEPT.c.created_at, _KEPT.c.id)

# A row for each document of a source of kept answers; without an accepted kept answer, its other columns are NULL.
RULES = (
    select(DOCUMENT.c.id.label("of_document"), *(_KEPT.c[name] for name in (*ADDRESS, "readers", "rests_on")))
    .select_from(
        DOCUMENT.join(SOURCE).outerjoin(_KEPT, and_(_KEPT.c.document_id == DOCUMENT.c.id, _IS_ACCEPTED, _HAS_ANSWER))
    )
    .where(SOURCE.c.kind == KEPT_KIND)
    .order_by(*_OLDEST_FIRST, DOCUMENT.c.id)
)


def to_rule(row: Row[Any], sources: Mapping[str, str]) -> KeptRule:
    """Return the rule in a row of RULES; `sources` are the sources of documents, by document."""
    if row.rests_on is None:
        return KeptRule(document_id=row.of_document)
    rests_on = _to_provenance(row.rests_on)
    return KeptRule(
        document_id=row.of_document,
        address=to_address(row),
        readers=frozenset(row.readers),
        rests_on=rests_on,
        sources={id: sources[id] for id in rests_on.documents if id in sources},
    )


class SqlKeptAnswerRepository:
    """KeptAnswerRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, kept: KeptAnswer) -> tuple[KeptAnswer, bool]:
        new = self._database.insert(_KEPT).values(_to_row(kept)).on_conflict_do_nothing().returning(_KEPT.c.id)
        added = await self._database.write(
            lambda connection: connection.execute(new).first() is not None, Commit.DURABLE
        )
        return await self.get(kept.id, kept.workspace), added

    async def get(self, id: str, workspace: str) -> KeptAnswer:
        found = await self._list(_KEPT.c.id == id, _KEPT.c.workspace == workspace)
        if not found:
            raise NotFound("This kept answer is gone. Use /inbox to see what waits for a review.")
        return found[0]

    async def change(self, kept: KeptAnswer, *, was: KeptState, audit: Audit = None) -> bool:
        statement = update(_KEPT).where(_KEPT.c.id == kept.id, _KEPT.c.state == was.value).values(_to_row(kept))
        return await self._database.write(
            lambda connection: noted.change(connection, statement, None, audit) > 0, Commit.DURABLE
        )

    async def remove(self, ids: Collection[str], *, audit: Audit = None) -> None:
        statement = delete(_KEPT).where(_KEPT.c.id.in_(ids))
        await self._database.write(lambda connection: noted.change(connection, statement, None, audit), Commit.DURABLE)

    async def list_kept(self, workspace: str | None = None) -> list[KeptAnswer]:
        return await self._list(*((_KEPT.c.workspace == workspace,) if workspace is not None else ()))

    async def list_lost(self, now: datetime) -> list[KeptAnswer]:
        found = await self._list(or_(_KEPT.c.expires_at <= now, ~_HAS_ANSWER, and_(_IS_ACCEPTED, ~_HAS_DOCUMENT)))
        lost = {kept.id: kept for kept in found}
        based = [kept for kept in await self._list() if kept.rests_on.documents or kept.rests_on.sources]
        documents, sources = await self._ids(DOCUMENT.c.id), await self._ids(SOURCE.c.id)
        for kept in based:
            if not documents.issuperset(kept.rests_on.documents) or not sources.issuperset(kept.rests_on.sources):
                lost[kept.id] = kept
        return sorted(lost.values(), key=lambda kept: (kept.created_at, kept.id))

    async def _ids(self, column: ColumnElement[str]) -> frozenset[str]:
        return frozenset(row[0] for row in await self._database.rows(select(column)))

    async def _list(self, *conditions: ColumnElement[bool]) -> list[KeptAnswer]:
        query = select(_KEPT).where(*conditions).order_by(*_OLDEST_FIRST)
        return [_to_kept(row) for row in await self._database.rows(query)]


def _to_row(kept: KeptAnswer) -> dict[str, Any]:
    values = asdict(kept)
    place = values.pop("address")
    rests_on = {name: list(ids) for name, ids in values["rests_on"].items()}
    return {**values, **place, "state": kept.state.value, "readers": sorted(kept.readers), "rests_on": rests_on}


def _to_kept(row: Row[Any]) -> KeptAnswer:
    values = {name: value for name, value in row._mapping.items() if name not in ADDRESS}
    return KeptAnswer(
        **{
            **values,
            "workspace": row.workspace,
            "state": KeptState(row.state),
            "address": to_address(row),
            "readers": frozenset(row.readers),
            "rests_on": _to_provenance(row.rests_on),
        }
    )


def _to_provenance(lists: Mapping[str, Any]) -> Provenance:
    return Provenance(**{name: tuple(ids) for name, ids in lists.items()})
