"""The durable inbox in SQL: one table, owner-fenced leases, the same statements on SQLite and PostgreSQL.

A PostgreSQL transaction that waits for limits or for turns isn't shared with other writes: two groups that hold such
locks in different orders would wait for each other.
"""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    DateTime,
    Executable,
    Interval,
    Row,
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

from core.domain.answer import Provenance
from core.domain.audit import Audit
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.limits import Asker, ParallelLimits, QuestionLimit, Turns
from core.domain.service import SHOWN, WITHDRAWN, Decision, DueRemoval, InboxEntry, InboxStatus, PostFate, PostRef
from core.ports import Clock
from storage.database import Commit, Database
from storage.database.column_types import UtcTime
from storage.database.repositories.audit import write_note
from storage.database.repositories.inbox_rows import (
    HAS_POST_TO_KEEP,
    INBOX,
    IS_SHOWN,
    RECEIVED,
    REMOVALS,
    REMOVALS_DUE,
    drop_removal,
    empty_entries,
    fates,
    from_payload,
    to_values,
    with_basis,
)
from storage.database.repositories.limits import Limits

log = logging.getLogger(__name__)

# Far longer than an event loop ever blocks: after a lease ends too early, two processes work on one question.
LEASE_SECONDS = 30.0
CHANNEL = "footnote_inbox"  # of PostgreSQL's notices
PAUSE_SECONDS = 5.0  # before the next attempt to connect for notices
CONNECT_SECONDS = 10
# Detect a silently dead connection after a minute, instead of the system's default of two hours.
KEEPALIVES = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}

_C = INBOX.c
_OPEN = _C.finished_at.is_(None)
_AS_STORED = (
    "seq", "message_key", "created_at", "finished_at", "attempts", "failures", "error", "final_error", "cancelled_by",
    "post_ref", "waits_until",
)  # fmt: skip
_ASKER = ("platform", "workspace", "channel", "author")
_REFUSED = ("status", "code", "sentence", "finished_at", "incoming")
_RELEASED: Mapping[str, Any] = {"owner": None, "lease_until": None}

# Statements are built once: SQLAlchemy keeps the compiled form with the statement object.
NOTIFY = text("SELECT pg_notify(:channel, :sender)").bindparams(channel=CHANNEL)
LOCK_THREAD = text("SELECT pg_advisory_xact_lock(hashtextextended(:thread, 0))")
LOCK_TURNS = text("SELECT pg_advisory_xact_lock(hashtextextended('footnote turns', 0))")
NOW = select(func.clock_timestamp(type_=DateTime(timezone=True)))

BY_EVENT = select(INBOX).where(_C.event_key == bindparam("key"))
OPEN_BY_MESSAGE = select(INBOX).where(_C.message_key == bindparam("key"), _OPEN).order_by(_C.seq)
# Written so that only the index of open rows fits: planners prefer the others, and read them completely.
OPEN = select(INBOX).where(_OPEN, _C.workspace.concat("") == bindparam("in_workspace")).order_by((_C.seq + 0).desc())
DEPTH = select(_C.status, func.count()).where(_OPEN).group_by(_C.status)
BY_MESSAGE = select(INBOX).where(_C.message_key == bindparam("key")).order_by(_C.seq)
# Stops open entries that are not withdrawn already.
_STOP = (
    update(INBOX)
    .where(_C.message_key == bindparam("key"), _OPEN, or_(_C.cancelled_by.is_(None), _C.cancelled_by != WITHDRAWN))
    .values(cancelled_by=bindparam("by"), waits_until=None)
)
CANCEL = _STOP.returning(*_C)
WITHDRAW_EARLIER = _STOP.where(_C.seq < bindparam("before"))
PURGE = delete(INBOX).where(_C.finished_at < bindparam("before", type_=UtcTime), ~HAS_POST_TO_KEEP)
# The event was stored as accepted, before its place in the windows was known.
REFUSE = (
    update(INBOX)
    .where(_C.seq == bindparam("one"))
    .values({name: bindparam(f"to_{name}", type_=_C[name].type) for name in _REFUSED})
    .returning(*_C)
)
RELEASE_ABANDONED = (
    update(INBOX).where(_OPEN, _C.owner.is_not(None)).values(status=InboxStatus.QUEUED.value, **_RELEASED)
)


class InboxStatements:
    """The statements that depend on the owner or on the clock.

    PostgreSQL's own clock is used, as several machines share it; on SQLite, the caller passes times as parameters.
    """

    def __init__(self, owner: str, insert: Any, *, is_postgres: bool) -> None:
        self._is_postgres = is_postgres
        mine = (_C.owner == owner, _OPEN)
        self.accept = insert.on_conflict_do_nothing(index_elements=["event_key"]).returning(*_C)  # no row: known event
        self.overhear = _overhear(insert)
        self.waiting = _waiting(self._now())
        self.running = select(*(_C[name] for name in _ASKER)).where(_OPEN, _C.lease_until >= self._now())
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
        self.finish = update(INBOX).where(_C.seq == bindparam("one"), *mine).values(**finished, **_RELEASED)
        retried: dict[str, Any] = {
            "status": InboxStatus.QUEUED.value,
            "error": bindparam("failure"),
            "final_error": func.coalesce(bindparam("final"), _C.final_error),
            "failures": _C.failures + bindparam("failed"),
            "waits_until": self._after(),
        }
        self.retry = update(INBOX).where(_C.seq == bindparam("one"), *mine).values(**retried, **_RELEASED)
        released: dict[str, Any] = {"status": InboxStatus.QUEUED.value, "attempts": _C.attempts - 1}
        self.release = update(INBOX).where(_C.seq.in_(_many_seqs()), *mine).values(**released, **_RELEASED)

    def times(self, now: datetime, delay: timedelta | None) -> dict[str, Any]:
        """Return the parameters of a statement that sets a time to now plus a delay."""
        if self._is_postgres:
            return {"delay": delay}
        return {"after": now + delay if delay else None}

    def moment(self, now: datetime) -> dict[str, Any]:
        """Return the parameters of a statement that compares times."""
        return {} if self._is_postgres else {"now": now}

    def _now(self) -> ColumnElement[datetime]:
        if self._is_postgres:
            return func.clock_timestamp(type_=DateTime(timezone=True))
        return bindparam("now", type_=UtcTime)

    def _after(self) -> ColumnElement[Any]:
        """Return now plus a delay; NULL without a delay."""
        if self._is_postgres:
            return self._now() + bindparam("delay", type_=Interval())
        return bindparam("after", type_=UtcTime)


def _overhear(insert: Any) -> Any:
    """Return an insert of finished entries of messages that no entry has yet."""
    known = INBOX.alias("known")
    is_known = select(known.c.seq).where(known.c.message_key == bindparam("message_key")).exists()
    row = select(*(bindparam(name, type_=_C[name].type) for name in RECEIVED)).where(~is_known)
    return insert.from_select([*RECEIVED], row).on_conflict_do_nothing(index_elements=["event_key"])


def _many_seqs() -> Any:
    return bindparam("seqs", expanding=True)


def _is_free(now: ColumnElement[datetime]) -> ColumnElement[bool]:
    return or_(_C.lease_until.is_(None), _C.lease_until < now)


def _waiting(now: ColumnElement[datetime]) -> Select[Any]:
    """Return a query of each thread's first open entry, if free and due: `most` of each person, oldest first."""
    earlier = INBOX.alias("earlier")
    behind = (
        select(earlier.c.seq)
        .where(earlier.c.thread == _C.thread, earlier.c.finished_at.is_(None), earlier.c.seq < _C.seq)
        .exists()
    )
    person = (_C.workspace, _C.platform, _C.author)
    ready = (
        select(_C.seq, *(_C[name] for name in _ASKER))
        .add_columns(func.row_number().over(partition_by=person, order_by=_C.seq).label("place"))
        .where(
            _OPEN,
            _C.platform.in_(bindparam("platforms", expanding=True)),
            _is_free(now),
            or_(_C.waits_until.is_(None), _C.waits_until <= now),
            ~behind,
        )
        .subquery()
    )
    return select(ready).where(ready.c.place <= bindparam("most")).order_by(ready.c.seq)


def _claim(owner: str, now: ColumnElement[datetime], lease_end: ColumnElement[Any]) -> Update:
    """Return an update that claims and returns entries, if they are still free."""
    taken = {"status": InboxStatus.RUNNING.value, "owner": owner, "lease_until": lease_end, "waits_until": None}
    free = (_C.seq.in_(_many_seqs()), _OPEN, _is_free(now))
    return update(INBOX).where(*free).values(**taken, attempts=_C.attempts + 1).returning(*_C)


class SqlInboxStore:
    """InboxStore on a Database. `clock` is used only on SQLite, which one machine uses."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        lease_seconds: float = LEASE_SECONDS,
        parallel: ParallelLimits | None = None,
    ) -> None:
        self._database = database
        self._parallel = parallel or ParallelLimits()
        self._limits = Limits(database)
        self._clock = clock
        self._lease = timedelta(seconds=lease_seconds)
        self._owner = uuid.uuid4().hex
        self._sql = InboxStatements(self._owner, database.insert(INBOX), is_postgres=database.is_postgres)

    @property
    def lease_seconds(self) -> float:
        return self._lease.total_seconds()

    async def accept(
        self, incoming: IncomingMessage, decision: Decision, limits: Sequence[QuestionLimit] = ()
    ) -> tuple[InboxEntry, bool]:
        values = to_values(incoming, decision, self._clock.now())

        def work(connection: Connection) -> tuple[Row[Any], bool]:
            if self._database.is_postgres:  # else a smaller seq of the thread could become visible after a larger one
                connection.execute(LOCK_THREAD, {"thread": values["thread"]})
            added = connection.execute(self._sql.accept, values).one_or_none()
            if added is not None and decision.accepted and limits:
                refusal = self._limits.admit(connection, incoming, limits, self._moment(connection))
                if refusal is not None:
                    refused = to_values(incoming, refusal, self._clock.now())
                    given = {f"to_{name}": refused[name] for name in _REFUSED}
                    return connection.execute(REFUSE, {"one": added.seq, **given}).one(), True
            if added is not None and decision.accepted:
                if added.event_key != added.message_key:  # an edit replaces earlier versions
                    earlier = {"key": added.message_key, "before": added.seq, "by": WITHDRAWN}
                    connection.execute(WITHDRAW_EARLIER, earlier)
                self._notify(connection)
            return added or connection.execute(BY_EVENT, {"key": values["event_key"]}).one(), added is not None

        commit = Commit.DURABLE if decision.accepted else Commit.NORMAL
        is_shared = not (limits and self._database.is_postgres)
        row, is_new = await self._database.write(work, commit, is_shared=is_shared)
        return to_entry(row), is_new

    def overhear(self, incoming: IncomingMessage, decision: Decision) -> None:
        self._database.write_later(self._sql.overhear, to_values(incoming, decision, self._clock.now()))

    async def claim(self, limit: int, platforms: Collection[str]) -> list[InboxEntry]:
        def work(connection: Connection) -> list[Row[Any]]:
            if self._database.is_postgres:
                connection.execute(LOCK_TURNS)
            now = self._moment(connection)
            moment = self._sql.moment(now)
            wanted = {"most": limit, "platforms": list(platforms), **moment}
            waiting = [(row.seq, _to_asker(row)) for row in connection.execute(self._sql.waiting, wanted)]
            if not waiting:
                return []
            served = self._limits.served(connection, {asker for _, asker in waiting})
            running = [_to_asker(row) for row in connection.execute(self._sql.running, moment)]
            chosen = Turns(limits=self._parallel, running=running, served=served).choose(waiting, limit)
            times = {**moment, **self._sql.times(now, self._lease)}
            claimed = [*connection.execute(self._sql.claim, {"seqs": chosen, **times})]
            self._limits.record_turns(connection, [_to_asker(row) for row in claimed], now)
            return claimed

        claimed = await self._database.write(work, is_shared=not self._database.is_postgres)
        return sorted(map(to_entry, claimed), key=lambda entry: entry.seq)

    async def renew(self, seqs: Collection[int]) -> dict[int, str | None]:
        def work(connection: Connection) -> dict[int, str | None]:
            times = self._sql.times(self._clock.now(), self._lease)
            rows = connection.execute(self._sql.renew, {"seqs": [*seqs], **times})
            return {row.seq: row.cancelled_by for row in rows}

        return await self._database.write(work)

    async def finish(
        self, seq: int, status: InboxStatus, *, post_ref: PostRef | None = None, error: str | None = None
    ) -> bool:
        ended = {"ended_as": status.value, "ended_at": self._clock.now(), "ref": post_ref, "failure": error or None}
        return await self._database.change(self._sql.finish, {"one": seq, **ended}) == 1

    async def leave(self, seq: int, decision: Decision) -> bool:
        ended = {"ended_as": InboxStatus.REFUSED.value, "ended_at": self._clock.now(), "ref": None, "failure": None}

        def work(connection: Connection) -> bool:
            if connection.execute(self._sql.finish, {"one": seq, **ended}).rowcount != 1:
                return False
            values = {"code": decision.code, "sentence": decision.sentence}
            connection.execute(update(INBOX).where(_C.seq == seq).values(values))
            empty_entries(connection, _C.seq == seq)
            return True

        return await self._database.write(work)

    async def retry(
        self, seq: int, *, delay_seconds: float, error: str, final_error: str | None = None, failed: bool = True
    ) -> bool:
        times = self._sql.times(self._clock.now(), timedelta(seconds=delay_seconds) if delay_seconds else None)
        failure = {"failure": error, "final": final_error, "failed": int(failed)}
        return await self._database.change(self._sql.retry, {"one": seq, **failure, **times}) == 1

    async def release(self, seqs: Collection[int]) -> None:
        def work(connection: Connection) -> None:
            if connection.execute(self._sql.release, {"seqs": [*seqs]}).rowcount:
                self._notify(connection)

        await self._database.write(work)

    async def release_abandoned(self) -> int:
        return await self._database.change(RELEASE_ABANDONED)

    async def cancel(self, message_key: str, by: str, *, audit: Audit = None) -> list[InboxEntry]:
        def work(connection: Connection) -> list[Row[Any]]:
            self._notify(connection)  # waiting entries are due now
            found = [*connection.execute(CANCEL, {"key": message_key, "by": by})]
            write_note(connection, audit if found else None)
            return found

        found = map(to_entry, await self._database.write(work, Commit.DURABLE))
        return sorted(found, key=lambda entry: entry.seq)

    async def find(self, event_key: str) -> InboxEntry | None:
        found = await self._list(BY_EVENT, {"key": event_key})
        return found[0] if found else None

    async def find_open(self, message_key: str) -> list[InboxEntry]:
        return await self._list(OPEN_BY_MESSAGE, {"key": message_key})

    async def list_versions(self, message_key: str) -> list[InboxEntry]:
        return await self._list(BY_MESSAGE, {"key": message_key})

    async def recent(
        self, workspace: str, *, author: str | None = None, address: ThreadAddress | None = None, limit: int = 50
    ) -> list[InboxEntry]:
        query = select(INBOX).where(_C.workspace == workspace, ~IS_SHOWN)
        if author is not None:
            query = query.where(_C.author == author)
        if address is not None:
            query = query.where(_C.thread == str(address))
        return await self._list(query.order_by(_C.seq.desc()).limit(limit), {})

    async def list_open(self, workspace: str, limit: int | None = None) -> list[InboxEntry]:
        return await self._list(OPEN.limit(limit), {"in_workspace": workspace})

    async def depth(self) -> dict[InboxStatus, int]:
        return {InboxStatus(status): count for status, count in await self._database.rows(DEPTH)}

    async def forget(self, message_key: str) -> None:
        await self._database.write(lambda connection: empty_entries(connection, _C.message_key == message_key))

    async def note_shown(
        self, shown: IncomingMessage, post_ref: PostRef, rests_on: Provenance, *, quotes_people: bool = False
    ) -> None:
        now = self._clock.now()
        values = to_values(with_basis(shown, rests_on, quotes_people=quotes_people), SHOWN, now)
        values |= {"status": InboxStatus.DONE.value, "finished_at": now, "post_ref": post_ref}
        insert = self._database.insert(INBOX).values(values)
        await self._database.change(insert.on_conflict_do_update(index_elements=["event_key"], set_=values))

    async def list_removals(self, platforms: Collection[str], limit: int) -> list[DueRemoval]:
        wanted = {"platforms": [*platforms], "now": self._clock.now()}

        def work(connection: Connection) -> list[DueRemoval]:
            rows = connection.execute(REMOVALS_DUE.limit(limit), wanted).all()
            due = zip(rows, fates(connection, rows), strict=True)
            return [DueRemoval(entry=to_entry(row), fate=fate) for row, fate in due]

        return await self._database.read(work)

    async def removed(self, seq: int, fate: PostFate) -> None:
        await self._database.write(lambda connection: drop_removal(connection, seq, fate))

    async def removal_failed(self, seq: int, delay_seconds: float) -> None:
        later = self._clock.now() + timedelta(seconds=delay_seconds)
        await self._database.change(update(REMOVALS).where(REMOVALS.c.seq == seq).values(waits_until=later))

    async def purge(self, before: datetime) -> int:
        def work(connection: Connection) -> int:
            self._limits.purge(connection, before)
            return connection.execute(PURGE, {"before": before}).rowcount

        return await self._database.write(work)

    def watch(self, wake: Callable[[], None]) -> AbstractAsyncContextManager[None]:
        return _listening(self._database.url, self._owner, wake) if self._database.is_postgres else nullcontext()

    def _moment(self, connection: Connection) -> datetime:
        """Return the time of the clock that all owners share."""
        moment: datetime = connection.execute(NOW).scalar_one() if self._database.is_postgres else self._clock.now()
        return moment

    def _notify(self, connection: Connection) -> None:
        """Notify the other processes, with the commit, of possible new work."""
        if self._database.is_postgres:
            connection.execute(NOTIFY, {"sender": self._owner})

    async def _list(self, query: Executable, wanted: Mapping[str, Any]) -> list[InboxEntry]:
        return [to_entry(row) for row in await self._database.rows(query, wanted)]


def _to_asker(row: Row[Any]) -> Asker:
    return Asker(platform=row.platform, workspace=row.workspace, channel=row.channel or "", author=row.author)


def to_entry(row: Row[Any]) -> InboxEntry:
    status = InboxStatus(row.status)
    return InboxEntry(
        incoming=from_payload(row.incoming),
        status=status,
        decision=Decision(code=row.code, sentence=row.sentence, accepted=status is not InboxStatus.REFUSED),
        **{name: getattr(row, name) for name in _AS_STORED},
    )


@asynccontextmanager
async def _listening(url: URL, receiver: str, wake: Callable[[], None]) -> AsyncIterator[None]:
    """Call `wake` for each notice of another process than `receiver`, and after each interruption.

    Notices come with the commit of the transaction that sent them. While the connection is lost, only polls find new
    work.
    """
    tried = asyncio.Event()
    task = asyncio.create_task(_listen(url, receiver, wake, tried), name="inbox notices")
    try:
        await tried.wait()
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _listen(url: URL, receiver: str, wake: Callable[[], None], tried: asyncio.Event) -> None:
    import psycopg  # optional: needed only for PostgreSQL

    name = f"footnote inbox {receiver}"  # identifies this connection on the server
    _, given = url.get_dialect()().create_connect_args(url)
    options: dict[str, Any] = {**given, "application_name": name, "connect_timeout": CONNECT_SECONDS, **KEEPALIVES}
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(autocommit=True, **options) as connection:
                await connection.execute(f"LISTEN {CHANNEL}")
                tried.set()
                wake()
                async for notice in connection.notifies():
                    if notice.payload != receiver:
                        wake()
        except psycopg.Error as error:
            log.warning("New questions of other processes are only seen at the next poll: %s", error)
        tried.set()
        await asyncio.sleep(PAUSE_SECONDS)
