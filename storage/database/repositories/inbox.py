"""The durable inbox in SQL: one table, owner-fenced leases, the same statements on SQLite and PostgreSQL."""

import uuid
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Executable, Row

from core.domain.conversation import IncomingMessage, ThreadAddress
from core.domain.service import WITHDRAWN, Decision, InboxEntry, InboxStatus, PostRef
from core.ports import Clock
from storage.database import Commit, Database
from storage.database.repositories import inbox_statements as sql
from storage.database.repositories.inbox_notices import NOTIFY, listening
from storage.database.repositories.inbox_payload import from_payload, to_payload

# Far longer than an event loop ever stalls: a lease that ends too early makes two processes work on one question.
LEASE_SECONDS = 30.0


class SqlInboxStore:
    """InboxStore on a Database. `clock` is asked on SQLite alone, which only one machine can use."""

    def __init__(self, database: Database, clock: Clock, lease_seconds: float = LEASE_SECONDS) -> None:
        self._database = database
        self._clock = clock
        self._lease = timedelta(seconds=lease_seconds)
        self._owner = uuid.uuid4().hex
        self._sql = sql.InboxStatements(self._owner, is_postgres=database.is_postgres)

    @property
    def lease_seconds(self) -> float:
        return self._lease.total_seconds()

    async def accept(self, incoming: IncomingMessage, decision: Decision) -> tuple[InboxEntry, bool]:
        values = _to_values(incoming, decision, self._clock.now())

        def work(connection: Connection) -> tuple[Row[Any], bool]:
            if self._database.is_postgres:  # or a smaller seq of the thread might become visible after a larger one
                connection.execute(sql.LOCK_THREAD, {"thread": values["thread"]})
            added = connection.execute(self._sql.accept, values).one_or_none()
            if added is not None and decision.accepted:
                if added.event_key != added.message_key:  # an edit takes the place of what it edits
                    earlier = {"key": added.message_key, "before": added.seq, "by": WITHDRAWN}
                    connection.execute(sql.WITHDRAW_EARLIER, earlier)
                self._notify(connection)
            return added or connection.execute(sql.BY_EVENT, {"key": values["event_key"]}).one(), added is not None

        row, is_new = await self._database.write_rows(work, Commit.DURABLE if decision.accepted else Commit.NORMAL)
        return _to_entry(row), is_new

    async def claim(self, limit: int, platforms: Collection[str]) -> list[InboxEntry]:
        def work(connection: Connection) -> list[Row[Any]]:
            now = self._clock.now()
            times = {**self._sql.moment(now), **self._sql.times(now, self._lease)}
            wanted = {"most": limit, "platforms": list(platforms)}
            return [*connection.execute(self._sql.claim, {**wanted, **times})]

        claimed = await self._database.write_rows(work)
        return sorted(map(_to_entry, claimed), key=lambda entry: entry.seq)

    async def renew(self, seqs: Collection[int]) -> dict[int, str | None]:
        def work(connection: Connection) -> dict[int, str | None]:
            times = self._sql.times(self._clock.now(), self._lease)
            return {
                row.seq: row.cancelled_by for row in connection.execute(self._sql.renew, {"seqs": [*seqs], **times})
            }

        return await self._database.write_rows(work)

    async def finish(
        self, seq: int, status: InboxStatus, *, post_ref: PostRef | None = None, error: str | None = None
    ) -> bool:
        ended = {"ended_as": status.value, "ended_at": self._clock.now(), "ref": post_ref, "failure": error or None}
        return await self._change(self._sql.finish, {"one": seq, **ended}) == 1

    async def retry(
        self, seq: int, *, delay_seconds: float, error: str, final_error: str | None = None, failed: bool = True
    ) -> bool:
        times = self._sql.times(self._clock.now(), timedelta(seconds=delay_seconds) if delay_seconds else None)
        told = {"failure": error, "final": final_error, "failed": int(failed)}
        return await self._change(self._sql.retry, {"one": seq, **told, **times}) == 1

    async def release(self, seqs: Collection[int]) -> None:
        def work(connection: Connection) -> None:
            if connection.execute(self._sql.release, {"seqs": [*seqs]}).rowcount:
                self._notify(connection)

        await self._database.write_rows(work)

    async def release_abandoned(self) -> int:
        return await self._change(sql.RELEASE_ABANDONED)

    async def cancel(self, message_key: str, by: str) -> list[InboxEntry]:
        def work(connection: Connection) -> list[Row[Any]]:
            self._notify(connection)  # who waits need not any more
            return [*connection.execute(sql.CANCEL, {"key": message_key, "by": by})]

        cancelled = await self._database.write_rows(work, Commit.DURABLE)
        return sorted(map(_to_entry, cancelled), key=lambda entry: entry.seq)

    async def find(self, event_key: str) -> InboxEntry | None:
        found = await self._list(sql.BY_EVENT, {"key": event_key})
        return found[0] if found else None

    async def find_open(self, message_key: str) -> list[InboxEntry]:
        return await self._list(sql.OPEN_BY_MESSAGE, {"key": message_key})

    async def list_versions(self, message_key: str) -> list[InboxEntry]:
        return await self._list(sql.BY_MESSAGE, {"key": message_key})

    async def recent(
        self, workspace: str, *, author: str | None = None, address: ThreadAddress | None = None, limit: int = 50
    ) -> list[InboxEntry]:
        query = sql.recent(author=author is not None, address=address is not None)
        wanted = {"in_workspace": workspace, "by": author, "in_thread": str(address), "most": limit}
        return await self._list(query, wanted)

    async def list_open(self, workspace: str, limit: int | None = None) -> list[InboxEntry]:
        return await self._list(sql.OPEN.limit(limit), {"in_workspace": workspace})

    async def depth(self) -> dict[InboxStatus, int]:
        counted = await self._database.read_rows(lambda connection: connection.execute(sql.DEPTH).all())
        return {InboxStatus(status): count for status, count in counted}

    async def purge(self, before: datetime) -> int:
        return await self._change(sql.PURGE, {"before": before})

    def watch(self, wake: Callable[[], None]) -> AbstractAsyncContextManager[None]:
        return listening(self._database.url, self._owner, wake) if self._database.is_postgres else nullcontext()

    def _notify(self, connection: Connection) -> None:
        """Tell the other processes, once this is committed, that there may be something to claim."""
        if self._database.is_postgres:
            connection.execute(NOTIFY, {"sender": self._owner})

    async def _list(self, query: Executable, wanted: Mapping[str, Any]) -> list[InboxEntry]:
        rows = await self._database.read_rows(lambda connection: connection.execute(query, wanted).all())
        return [_to_entry(row) for row in rows]

    async def _change(self, statement: Executable, values: Mapping[str, Any] | None = None) -> int:
        """How many rows were changed."""
        return await self._database.write_rows(lambda connection: sql.changed(connection.execute(statement, values)))


def _to_values(incoming: IncomingMessage, decision: Decision, now: datetime) -> dict[str, Any]:
    payload = to_payload(incoming)
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


def _to_entry(row: Row[Any]) -> InboxEntry:
    status = InboxStatus(row.status)
    return InboxEntry(
        seq=row.seq,
        incoming=from_payload(row.incoming),
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
