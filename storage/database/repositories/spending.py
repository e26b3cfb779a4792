"""The ledger of model calls in SQL: the day's sum and a new reservation are one transaction, under one lock."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import (
    Connection,
    DateTime,
    and_,
    bindparam,
    case,
    delete,
    distinct,
    func,
    insert,
    select,
    text,
    update,
)

from core.domain.replies import Usage
from core.domain.spending import (
    Account,
    CallPurpose,
    DayBudget,
    Reservation,
    SpendingLine,
    SpendingReport,
    Spent,
)
from core.ports import Clock
from storage.database import Database
from storage.database.column_types import UtcTime
from storage.database.tables import TABLES
from storage.text import to_storable

_CALL = TABLES["model_call"]
_C = _CALL.c
# One budget of a workspace is for all its channels and people, so all of them wait for one lock.
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:place, 0))")
_NOW = select(func.clock_timestamp(type_=DateTime(timezone=True)))
_IS_SETTLED = _C.lease_until.is_(None)
_IS_RUNNING = _C.lease_until >= bindparam("now", type_=UtcTime)
_TOKENS = _C.input_tokens + _C.output_tokens
_TAKEN = select(
    func.coalesce(func.sum(case((_IS_SETTLED, _TOKENS), (_IS_RUNNING, _C.reserved_tokens), else_=0)), 0),
    func.coalesce(func.sum(case((_IS_SETTLED, _C.cost_micros), (_IS_RUNNING, _C.reserved_micros), else_=0)), 0),
).where(_C.workspace == bindparam("in_workspace"), _C.day == bindparam("on_day"))
_KEYS = (_C.day, _C.workspace, _C.person, _C.purpose, _C.model)
_LINES = (
    select(
        *_KEYS,
        func.count().label("calls"),
        func.sum(_TOKENS).label("tokens"),
        func.coalesce(func.sum(_C.cost_micros), 0).label("micros"),
        func.sum(case((_C.cost_micros.is_(None), 1), else_=0)).label("unpriced"),
    )
    .where(_IS_SETTLED, _C.day >= bindparam("since"))
    .group_by(*_KEYS)
    .order_by(_C.day.desc(), *_KEYS[1:])
)
_ANSWERS = select(func.count(distinct(_C.answer))).where(
    and_(_IS_SETTLED, _C.day >= bindparam("since"), _C.answer != "")
)


class SqlSpendingStore:
    """Implements SpendingStore on a Database. `clock` is used only on SQLite, which one machine uses."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def reserve(
        self, reservation: Reservation, budgets: Sequence[DayBudget], lease_seconds: float
    ) -> DayBudget | None:
        account = reservation.account
        workspace = to_storable(account.workspace)

        def work(connection: Connection) -> DayBudget | None:
            if budgets and self._database.is_postgres:
                connection.execute(_LOCK, {"place": f"footnote budget {workspace}"})
            now = self._now(connection)
            for budget in budgets:
                if not budget.has_room(
                    self._taken(connection, account, budget, now), reservation.tokens, reservation.micros or 0
                ):
                    return budget
            connection.execute(insert(_CALL), _to_values(reservation, now, lease_seconds))
            return None

        # See SqlInboxStore: a transaction that waits for a lock is not shared.
        return await self._database.write(work, is_shared=not (budgets and self._database.is_postgres))

    async def settle(self, reservation_id: str, usage: Usage | None, micros: int | None) -> None:
        if usage is None:
            await self._database.change(delete(_CALL).where(_C.id == reservation_id))
            return
        taken = {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_read_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
            "cost_micros": micros,
            "lease_until": None,
        }
        await self._database.change(update(_CALL).where(_C.id == reservation_id).values(taken))

    async def report(self, workspace: str | None, since: date) -> SpendingReport:
        lines, answers = _LINES, _ANSWERS
        if workspace is not None:
            lines, answers = (query.where(_C.workspace == to_storable(workspace)) for query in (lines, answers))
        wanted = {"since": since.isoformat()}
        rows = await self._database.rows(lines, wanted)
        [[count]] = await self._database.rows(answers, wanted)
        return SpendingReport(lines=tuple(map(_to_line, rows)), answers=count)

    async def purge(self, before: date) -> int:
        return await self._database.change(delete(_CALL).where(_C.day < before.isoformat()))

    def _taken(self, connection: Connection, account: Account, budget: DayBudget, now: datetime) -> Spent:
        """Return the sums that the day has taken from a budget, reservations included."""
        name = budget.scope.value
        query = _TAKEN.where(_C[name] == to_storable(getattr(account, name)))
        wanted = {"in_workspace": to_storable(account.workspace), "on_day": now.date().isoformat(), "now": now}
        tokens, micros = connection.execute(query, wanted).one()
        return Spent(tokens=int(tokens), micros=int(micros))

    def _now(self, connection: Connection) -> datetime:
        """Return the time (UTC) of the clock that all processes share."""
        if not self._database.is_postgres:
            return self._clock.now()
        moment: datetime = connection.execute(_NOW).scalar_one()
        return moment.astimezone(self._clock.now().tzinfo)


def _to_values(reservation: Reservation, now: datetime, lease_seconds: float) -> dict[str, Any]:
    account = reservation.account
    return {
        "id": reservation.id,
        "day": now.date().isoformat(),
        "workspace": account.workspace,
        "channel": account.channel,
        "person": account.person,
        "answer": account.answer,
        "purpose": account.purpose.value,
        "model": reservation.model,
        "lease_until": now + timedelta(seconds=lease_seconds),
        "reserved_tokens": reservation.tokens,
        "reserved_micros": reservation.micros,
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
    }


def _to_line(row: Any) -> SpendingLine:
    spent = Spent(calls=row.calls, tokens=int(row.tokens), micros=int(row.micros), unpriced=int(row.unpriced))
    return SpendingLine(
        day=date.fromisoformat(row.day),
        workspace=row.workspace,
        person=row.person,
        purpose=CallPurpose(row.purpose),
        model=row.model,
        spent=spent,
    )
