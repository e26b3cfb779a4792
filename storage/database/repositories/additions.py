"""Documents added through a chat in SQL."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import DateTime, Row, delete, func, or_, select, update

from core.domain.additions import KEPT, Addition, AdditionKind, AdditionState
from core.domain.audit import Audit
from core.domain.incoming import ThreadAddress
from core.domain.service import PostRef
from core.errors import NotFound
from storage.database import Commit, Database
from storage.database.repositories import audit as noted
from storage.database.tables import TABLES

_ADDITIONS = TABLES["addition"]
_OF_ADDRESS = ("platform", "channel", "thread")
_OF_LEASE = ("owner", "lease_until")
_KEPT_LINK = (_ADDITIONS.c.kind == AdditionKind.LINK.value, _ADDITIONS.c.state.in_([state.value for state in KEPT]))


# Far longer than an event loop ever blocks; a restart after a crash waits so long for its own earlier claims.
LEASE_SECONDS = 30.0


class SqlAdditionRepository:
    """AdditionRepository on a Database. Leases exist on PostgreSQL only, and use its clock."""

    def __init__(self, database: Database, lease_seconds: float = LEASE_SECONDS) -> None:
        self._database = database
        self._owner = uuid.uuid4().hex
        self._lease = timedelta(seconds=lease_seconds)
        self._is_mine = _ADDITIONS.c.owner == self._owner

    async def claim(self, addition_id: str, *, takes_over: bool) -> bool:
        now = func.clock_timestamp(type_=DateTime(timezone=True))
        is_free = or_(_ADDITIONS.c.owner.is_(None), self._is_mine, _ADDITIONS.c.lease_until < now)
        return await self._take(addition_id, *(() if takes_over else (is_free,)))

    async def renew(self, addition_id: str) -> bool:
        return await self._take(addition_id, self._is_mine)

    async def release(self, addition_id: str) -> None:
        await self._set(addition_id, {"owner": None, "lease_until": None}, self._is_mine)

    async def _take(self, addition_id: str, *conditions: Any) -> bool:
        if not self._database.is_postgres:
            return True
        until = func.clock_timestamp(type_=DateTime(timezone=True)) + self._lease
        taken = update(_ADDITIONS).where(_ADDITIONS.c.id == addition_id, *conditions)
        return await self._database.change(taken.values(owner=self._owner, lease_until=until)) > 0

    async def add(self, addition: Addition) -> tuple[Addition, bool]:
        new = self._database.insert(_ADDITIONS).values(_to_row(addition)).on_conflict_do_nothing()
        statement = new.returning(_ADDITIONS.c.id)
        added = await self._database.write(
            lambda connection: connection.execute(statement).first() is not None, Commit.DURABLE
        )
        return await self.get(addition.id), added

    async def get(self, addition_id: str) -> Addition:
        rows = await self._database.rows(select(_ADDITIONS).where(_ADDITIONS.c.id == addition_id))
        if not rows:
            raise NotFound("This addition is not known any more. Use /library to list and remove documents.")
        return _to_addition(rows[0])

    async def change(self, addition: Addition, *, was: AdditionState, audit: Audit = None) -> bool:
        values = {name: value for name, value in _to_row(addition).items() if name != "post_ref"}
        values["is_settled"] = False
        same = (_ADDITIONS.c.id == addition.id, _ADDITIONS.c.state == was.value)
        statement = update(_ADDITIONS).where(*same).values(values)
        return await self._database.write(
            lambda connection: noted.change(connection, statement, None, audit) > 0, Commit.DURABLE
        )

    async def set_post(self, addition_id: str, post_ref: PostRef) -> None:
        await self._set(addition_id, {"post_ref": post_ref})

    async def settle(self, addition_id: str, state: AdditionState) -> None:
        is_no_others = or_(_ADDITIONS.c.owner.is_(None), self._is_mine)
        await self._set(addition_id, {"is_settled": True}, _ADDITIONS.c.state == state.value, is_no_others)

    async def list_unsettled(self, platform: str) -> list[Addition]:
        return await self._list(_ADDITIONS.c.platform == platform, _ADDITIONS.c.is_settled.is_(False))

    async def list_kept(self, workspace: str) -> list[Addition]:
        kept = _ADDITIONS.c.state.in_([state.value for state in KEPT])
        return await self._list(_ADDITIONS.c.workspace == workspace, kept)

    async def links(self, workspace: str) -> Mapping[str, str]:
        kept = await self.list_kept(workspace)
        return {addition.path: addition.name for addition in kept if addition.kind is AdditionKind.LINK}

    async def purge(self, before: datetime) -> list[str]:
        waits, is_kept_link = _ADDITIONS.c.state == AdditionState.PROPOSED.value, _KEPT_LINK[0] & _KEPT_LINK[1]
        ended = (_ADDITIONS.c.is_settled.is_(True), _ADDITIONS.c.changed_at < before, ~or_(waits, is_kept_link))
        statement = delete(_ADDITIONS).where(*ended).returning(_ADDITIONS.c.id)
        return await self._database.write(lambda connection: [row.id for row in connection.execute(statement)])

    async def _list(self, *conditions: Any) -> list[Addition]:
        order = (_ADDITIONS.c.created_at, _ADDITIONS.c.id)
        return [
            _to_addition(row)
            for row in await self._database.rows(select(_ADDITIONS).where(*conditions).order_by(*order))
        ]

    async def _set(self, addition_id: str, values: dict[str, object], *conditions: Any) -> None:
        statement = update(_ADDITIONS).where(_ADDITIONS.c.id == addition_id, *conditions).values(values)
        await self._database.write(lambda connection: connection.execute(statement), Commit.DURABLE)


def _to_row(addition: Addition) -> dict[str, Any]:
    values = asdict(addition)
    address = values.pop("address")
    return {**values, **{name: address[name] for name in _OF_ADDRESS}, "details": dict(addition.details)}


def _to_addition(row: Row[Any]) -> Addition:
    values = {name: value for name, value in row._mapping.items() if name not in _OF_LEASE}
    place = {name: values.pop(name) for name in _OF_ADDRESS}
    values |= {"kind": AdditionKind(values["kind"]), "state": AdditionState(values["state"])}
    return Addition(**values, address=ThreadAddress(workspace=values["workspace"], **place))
