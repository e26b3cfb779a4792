"""The durable inbox in SQL: one table, owner-fenced leases, the same statements on SQLite and PostgreSQL."""

import uuid
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, DateTime, Interval, Select, delete, func, literal, or_, select, text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from core.domain.answer import QueryType
from core.domain.conversation import IncomingMessage, ThreadAddress
from core.domain.inbox import Decision, InboxEntry, InboxStatus, PostRef
from core.ports import Clock
from storage.database import Database
from storage.tables import InboxRow

# Far longer than an event loop ever stalls: a lease that ends too early makes two processes work on one question.
LEASE_SECONDS = 30.0

_OPEN = col(InboxRow.finished_at).is_(None)


class SqlInboxStore:
    """InboxStore on a Database. `clock` is asked on SQLite alone, which only one machine can use."""

    def __init__(self, database: Database, clock: Clock, lease_seconds: float = LEASE_SECONDS) -> None:
        self._database = database
        self._clock = clock
        self._lease = timedelta(seconds=lease_seconds)
        self._owner = uuid.uuid4().hex

    @property
    def lease_seconds(self) -> float:
        return self._lease.total_seconds()

    async def accept(self, incoming: IncomingMessage, decision: Decision) -> tuple[InboxEntry, bool]:
        values = _to_values(incoming, decision, self._clock.now())

        def work(session: Session) -> tuple[InboxEntry, bool]:
            if _is_postgres(session):  # or a smaller seq of the thread might become visible after a larger one
                session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:t, 0))"), {"t": values["thread"]})
            added = session.scalars(_insert_new(session, values)).one_or_none()
            row = added or session.scalars(select(InboxRow).where(col(InboxRow.event_key) == values["event_key"])).one()
            return _to_entry(row), added is not None

        return await self._database.write(work, durable=decision.accepted)

    async def claim(self, limit: int, platforms: Collection[str]) -> list[InboxEntry]:
        def work(session: Session) -> list[InboxEntry]:
            now = self._now(session)
            found = session.scalars(_claimable(now, platforms).limit(limit)).all()
            if not found:
                return []
            change = (
                update(InboxRow)
                .where(col(InboxRow.seq).in_(found))
                .values(
                    status=InboxStatus.RUNNING.value,
                    owner=self._owner,
                    lease_until=self._after(session, self._lease),
                    waits_until=None,
                    attempts=InboxRow.attempts + 1,
                )
                .returning(InboxRow)
            )
            return sorted(map(_to_entry, session.scalars(change)), key=lambda entry: entry.seq)

        return await self._database.write(work)

    async def renew(self, seqs: Collection[int]) -> dict[int, str | None]:
        def work(session: Session) -> dict[int, str | None]:
            change = (
                update(InboxRow)
                .where(col(InboxRow.seq).in_(seqs), *self._mine())
                .values(lease_until=self._after(session, self._lease))
                .returning(col(InboxRow.seq), col(InboxRow.cancelled_by))
            )
            return {seq: cancelled_by for seq, cancelled_by in session.execute(change) if seq is not None}

        return await self._database.write(work)

    async def finish(
        self, seq: int, status: InboxStatus, *, post_ref: PostRef | None = None, error: str | None = None
    ) -> bool:
        ended = {"status": status.value, "finished_at": self._clock.now(), "post_ref": post_ref}
        return await self._change_mine([seq], {**ended, **({"error": error} if error else {})}) == 1

    async def retry(
        self, seq: int, *, delay_seconds: float, error: str, final_error: str | None = None, failed: bool = True
    ) -> bool:
        values = {"status": InboxStatus.QUEUED.value, "error": error}
        if final_error is not None:
            values["final_error"] = final_error
        delay = timedelta(seconds=delay_seconds)
        return await self._change_mine([seq], values, failures=int(failed), delay=delay) == 1

    async def release(self, seqs: Collection[int]) -> None:
        await self._change_mine(seqs, {"status": InboxStatus.QUEUED.value}, attempts=-1)

    async def release_abandoned(self) -> int:
        change = (
            update(InboxRow)
            .where(_OPEN, col(InboxRow.owner).is_not(None))
            .values(status=InboxStatus.QUEUED.value, owner=None, lease_until=None)
            .returning(col(InboxRow.seq))
        )
        return await self._database.write(lambda session: len(session.execute(change).all()))

    async def cancel(self, message_key: str, by: str) -> list[InboxEntry]:
        change = (
            update(InboxRow)
            .where(col(InboxRow.message_key) == message_key, _OPEN)
            .values(cancelled_by=by, waits_until=None)
            .returning(InboxRow)
        )

        def work(session: Session) -> list[InboxEntry]:
            return sorted(map(_to_entry, session.scalars(change)), key=lambda entry: entry.seq)

        return await self._database.write(work, durable=True)

    async def find(self, event_key: str) -> InboxEntry | None:
        found = await self._list(select(InboxRow).where(col(InboxRow.event_key) == event_key))
        return found[0] if found else None

    async def find_open(self, message_key: str) -> list[InboxEntry]:
        query = select(InboxRow).where(col(InboxRow.message_key) == message_key, _OPEN)
        return await self._list(query.order_by(col(InboxRow.seq)))

    async def recent(
        self, workspace: str, *, author: str | None = None, address: ThreadAddress | None = None, limit: int = 50
    ) -> list[InboxEntry]:
        query = select(InboxRow).where(col(InboxRow.workspace) == workspace)
        if author is not None:
            query = query.where(col(InboxRow.author) == author)
        if address is not None:
            query = query.where(col(InboxRow.thread) == str(address))
        return await self._list(query.order_by(col(InboxRow.seq).desc()).limit(limit))

    async def depth(self) -> dict[InboxStatus, int]:
        query = select(col(InboxRow.status), func.count()).where(_OPEN).group_by(col(InboxRow.status))
        counted = await self._database.read(lambda session: session.execute(query).all())
        return {InboxStatus(status): count for status, count in counted}

    async def purge(self, before: datetime) -> int:
        change = delete(InboxRow).where(col(InboxRow.finished_at) < before).returning(col(InboxRow.seq))
        return await self._database.write(lambda session: len(session.execute(change).all()))

    def watch(self, wake: Callable[[], None]) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def _list(self, query: Select[InboxRow]) -> list[InboxEntry]:
        return await self._database.read(lambda session: [_to_entry(row) for row in session.scalars(query)])

    async def _change_mine(
        self,
        seqs: Collection[int],
        values: dict[str, Any],
        *,
        failures: int = 0,
        attempts: int = 0,
        delay: timedelta | None = None,
    ) -> int:
        """Give up the lease of what is still owned, with these values; how many that were."""

        def work(session: Session) -> int:
            change = (
                update(InboxRow)
                .where(col(InboxRow.seq).in_(seqs), *self._mine())
                .values(
                    **values,
                    owner=None,
                    lease_until=None,
                    waits_until=self._after(session, delay) if delay else None,
                    failures=InboxRow.failures + failures,
                    attempts=InboxRow.attempts + attempts,
                )
                .returning(col(InboxRow.seq))
            )
            return len(session.execute(change).all())

        return await self._database.write(work)

    def _mine(self) -> tuple[ColumnElement[bool], ...]:
        return col(InboxRow.owner) == self._owner, _OPEN

    def _now(self, session: Session) -> Any:
        """This moment by the one clock all owners share."""
        if _is_postgres(session):
            return func.clock_timestamp(type_=DateTime(timezone=True))
        return self._clock.now()

    def _after(self, session: Session, delay: timedelta) -> Any:
        now = self._now(session)
        return now + literal(delay, Interval()) if _is_postgres(session) else now + delay


def _is_postgres(session: Session) -> bool:
    return session.get_bind().dialect.name == "postgresql"


def _insert_new(session: Session, values: dict[str, Any]) -> Any:
    """Gives the new row, or nothing when the event is known."""
    if _is_postgres(session):
        into = postgresql.insert(InboxRow).values(**values)
        return into.on_conflict_do_nothing(index_elements=["event_key"]).returning(InboxRow)
    lite = sqlite.insert(InboxRow).values(**values)
    return lite.on_conflict_do_nothing(index_elements=["event_key"]).returning(InboxRow)


def _claimable(now: Any, platforms: Collection[str]) -> Select[int | None]:
    """The numbers of each thread's first open entry that nobody holds and that need not wait, oldest first."""
    earlier = aliased(InboxRow)
    behind = (
        select(col(earlier.seq))
        .where(
            col(earlier.thread) == col(InboxRow.thread),
            col(earlier.finished_at).is_(None),
            col(earlier.seq) < col(InboxRow.seq),
        )
        .exists()
    )
    return (
        select(col(InboxRow.seq))
        .where(
            _OPEN,
            col(InboxRow.platform).in_(platforms),
            or_(col(InboxRow.lease_until).is_(None), col(InboxRow.lease_until) < now),
            or_(col(InboxRow.waits_until).is_(None), col(InboxRow.waits_until) <= now),
            ~behind,
        )
        .order_by(col(InboxRow.seq))
        .with_for_update(skip_locked=True)
    )


def _to_values(incoming: IncomingMessage, decision: Decision, now: datetime) -> dict[str, Any]:
    payload = asdict(incoming)
    if not decision.accepted:
        payload["text"] = ""
    return {
        "event_key": incoming.event_key,
        "message_key": incoming.message_key or incoming.event_key,
        "workspace": incoming.address.workspace,
        "platform": incoming.address.platform,
        "thread": str(incoming.address),
        "author": incoming.author,
        "status": (InboxStatus.QUEUED if decision.accepted else InboxStatus.REFUSED).value,
        "code": decision.code,
        "sentence": decision.sentence,
        "created_at": now,
        "finished_at": None if decision.accepted else now,
        "incoming": payload,
    }


def _to_entry(row: InboxRow) -> InboxEntry:
    status = InboxStatus(row.status)
    values = row.incoming
    incoming = IncomingMessage(
        **{**values, "address": ThreadAddress(**values["address"]), "query_type": QueryType(values["query_type"])}
    )
    return InboxEntry(
        seq=row.seq or 0,
        incoming=incoming,
        message_key=row.message_key,
        status=status,
        decision=Decision(code=row.code, sentence=row.sentence, accepted=status is not InboxStatus.REFUSED),
        created_at=row.created_at,
        finished_at=row.finished_at,
        attempts=row.attempts,
        failures=row.failures,
        error=row.error,
        final_error=row.final_error,
        cancelled_by=row.cancelled_by,
        post_ref=row.post_ref,
        waits_until=row.waits_until,
    )
