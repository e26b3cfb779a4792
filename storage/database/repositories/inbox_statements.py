"""The inbox's SQL, each statement made once: what SQLAlchemy has compiled it keeps with the statement object.

The two databases differ in their clock (PostgreSQL's own, as several machines share it; elsewhere the caller's, as
parameters) and in what an insert of a known event is called.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CursorResult,
    DateTime,
    Interval,
    Select,
    Update,
    bindparam,
    delete,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from core.domain.service import WITHDRAWN, InboxStatus
from storage.database.tables import FootnoteTable
from storage.database.tables.column_types import UtcTime

INBOX = FootnoteTable.metadata.tables["inbox"]
_C = INBOX.c
_OPEN = _C.finished_at.is_(None)
_LET_GO: Mapping[str, Any] = {"owner": None, "lease_until": None}

LOCK_THREAD = text("SELECT pg_advisory_xact_lock(hashtextextended(:thread, 0))")

BY_EVENT = select(INBOX).where(_C.event_key == bindparam("key"))
OPEN_BY_MESSAGE = select(INBOX).where(_C.message_key == bindparam("key"), _OPEN).order_by(_C.seq)
# Written so that no other index than that of the open rows fits: planners think the others better, and walk them whole.
OPEN = select(INBOX).where(_OPEN, _C.workspace.concat("") == bindparam("in_workspace")).order_by((_C.seq + 0).desc())
DEPTH = select(_C.status, func.count()).where(_OPEN).group_by(_C.status)
BY_MESSAGE = select(INBOX).where(_C.message_key == bindparam("key")).order_by(_C.seq)
# Open entries that are to be stopped, but for those that are withdrawn already.
_STOP = (
    update(INBOX)
    .where(_C.message_key == bindparam("key"), _OPEN, or_(_C.cancelled_by.is_(None), _C.cancelled_by != WITHDRAWN))
    .values(cancelled_by=bindparam("by"), waits_until=None)
)
CANCEL = _STOP.returning(*_C)
WITHDRAW_EARLIER = _STOP.where(_C.seq < bindparam("before"))
PURGE = delete(INBOX).where(_C.finished_at < bindparam("before", type_=UtcTime))
RELEASE_ABANDONED = update(INBOX).where(_OPEN, _C.owner.is_not(None)).values(status=InboxStatus.QUEUED.value, **_LET_GO)


class InboxStatements:
    """Those that one owner runs, or that need the clock."""

    def __init__(self, owner: str, *, is_postgres: bool) -> None:
        self._is_postgres = is_postgres
        mine = (_C.owner == owner, _OPEN)
        self.accept = _insert_new(is_postgres=is_postgres)
        self.claim = _claim(owner, self._now(), self._after())
        self.renew = (
            update(INBOX)
            .where(_C.seq.in_(_many_seqs()), *mine)
            .values(lease_until=self._after())
            .returning(_C.seq, _C.cancelled_by)
        )
        finished: dict[str, Any] = {
            "status": bindparam("ended_as"),
            "finished_at": bindparam("ended_at", type_=UtcTime),
            "post_ref": bindparam("ref"),
            "error": func.coalesce(bindparam("failure"), _C.error),
            "waits_until": None,
        }
        self.finish = update(INBOX).where(_C.seq == bindparam("one"), *mine).values(**finished, **_LET_GO)
        retried: dict[str, Any] = {
            "status": InboxStatus.QUEUED.value,
            "error": bindparam("failure"),
            "final_error": func.coalesce(bindparam("final"), _C.final_error),
            "failures": _C.failures + bindparam("failed"),
            "waits_until": self._after(),
        }
        self.retry = update(INBOX).where(_C.seq == bindparam("one"), *mine).values(**retried, **_LET_GO)
        released: dict[str, Any] = {"status": InboxStatus.QUEUED.value, "attempts": _C.attempts - 1}
        self.release = update(INBOX).where(_C.seq.in_(_many_seqs()), *mine).values(**released, **_LET_GO)

    def times(self, now: datetime, delay: timedelta | None) -> dict[str, Any]:
        """Parameters of a statement that sets a time: this moment and the delay from it, as the database wants them."""
        if self._is_postgres:
            return {"delay": delay}
        return {"after": now + delay if delay else None}

    def moment(self, now: datetime) -> dict[str, Any]:
        """Parameters of a statement that compares times."""
        return {} if self._is_postgres else {"now": now}

    def _now(self) -> ColumnElement[datetime]:
        if self._is_postgres:
            return func.clock_timestamp(type_=DateTime(timezone=True))
        return bindparam("now", type_=UtcTime)

    def _after(self) -> ColumnElement[Any]:
        """This moment and a delay; without a delay, NULL."""
        if self._is_postgres:
            return self._now() + bindparam("delay", type_=Interval())
        return bindparam("after", type_=UtcTime)


def changed(result: CursorResult[Any]) -> int:
    """How many rows a statement changed."""
    return result.rowcount


def recent(*, author: bool, address: bool) -> Select[Any]:
    """A workspace's newest entries, of one author or one thread where asked for."""
    query = select(INBOX).where(_C.workspace == bindparam("in_workspace"))
    if author:
        query = query.where(_C.author == bindparam("by"))
    if address:
        query = query.where(_C.thread == bindparam("in_thread"))
    return query.order_by(_C.seq.desc()).limit(bindparam("most"))


def _many_seqs() -> Any:
    return bindparam("seqs", expanding=True)


def _insert_new(*, is_postgres: bool) -> Any:
    """Gives the new row, or nothing when the event is known."""
    into = postgresql.insert(INBOX) if is_postgres else sqlite.insert(INBOX)
    return into.on_conflict_do_nothing(index_elements=["event_key"]).returning(*_C)


def _claim(owner: str, now: ColumnElement[datetime], lease_end: ColumnElement[Any]) -> Update:
    """Takes each thread's first open entry that nobody holds and that need not wait, oldest first; gives the rows."""
    earlier = INBOX.alias("earlier")
    behind = (
        select(earlier.c.seq)
        .where(earlier.c.thread == _C.thread, earlier.c.finished_at.is_(None), earlier.c.seq < _C.seq)
        .exists()
    )
    picked = (
        select(_C.seq)
        .where(
            _OPEN,
            _C.platform.in_(bindparam("platforms", expanding=True)),
            or_(_C.lease_until.is_(None), _C.lease_until < now),
            or_(_C.waits_until.is_(None), _C.waits_until <= now),
            ~behind,
        )
        .order_by(_C.seq + 0)  # as above
        .limit(bindparam("most"))
        .with_for_update(skip_locked=True)
        .cte("picked")
    )
    taken = {"status": InboxStatus.RUNNING.value, "owner": owner, "lease_until": lease_end, "waits_until": None}
    return (
        update(INBOX).where(_C.seq.in_(select(picked.c.seq))).values(**taken, attempts=_C.attempts + 1).returning(*_C)
    )
