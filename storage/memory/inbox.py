"""The inbox in memory."""

import uuid
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from core.domain.conversation import IncomingMessage, ThreadAddress
from core.domain.service import WITHDRAWN, Decision, InboxEntry, InboxStatus, PostRef
from core.ports import Clock
from storage.storable import to_storable_value


@dataclass
class _Lease:
    owner: str
    until: datetime


@dataclass
class MemoryInbox:
    """What several stores may share, as processes share a database."""

    entries: dict[int, InboxEntry] = field(default_factory=dict)
    leases: dict[int, _Lease] = field(default_factory=dict)


class MemoryInboxStore:
    """InboxStore that forgets everything with the process."""

    def __init__(self, clock: Clock, lease_seconds: float = 30.0, inbox: MemoryInbox | None = None) -> None:
        self._clock = clock
        self._lease = timedelta(seconds=lease_seconds)
        self._owner = uuid.uuid4().hex
        self._inbox = inbox if inbox is not None else MemoryInbox()

    @property
    def lease_seconds(self) -> float:
        return self._lease.total_seconds()

    async def accept(self, incoming: IncomingMessage, decision: Decision) -> tuple[InboxEntry, bool]:
        incoming = to_storable_value(incoming)
        known = await self.find(incoming.event_key)
        if known is not None:
            return known, False
        now = self._clock.now()
        entry = InboxEntry(
            seq=max(self._inbox.entries, default=0) + 1,
            incoming=incoming if decision.accepted else replace(incoming, text=""),
            message_key=incoming.message_key or incoming.event_key,
            status=InboxStatus.QUEUED if decision.accepted else InboxStatus.REFUSED,
            decision=to_storable_value(decision),
            created_at=now,
            finished_at=None if decision.accepted else now,
        )
        if decision.accepted:
            await self.cancel(entry.message_key, WITHDRAWN)
        self._inbox.entries[entry.seq] = entry
        return entry, True

    async def claim(self, limit: int, platforms: Collection[str]) -> list[InboxEntry]:
        now = self._clock.now()
        claimed: list[InboxEntry] = []
        heads = {entry.thread: entry for entry in reversed(self._open())}
        for entry in sorted(heads.values(), key=lambda entry: entry.seq):
            lease = self._inbox.leases.get(entry.seq)
            held = lease is not None and lease.until >= now
            waits = entry.waits_until is not None and entry.waits_until > now
            if len(claimed) < limit and entry.address.platform in platforms and not held and not waits:
                self._inbox.leases[entry.seq] = _Lease(self._owner, now + self._lease)
                attempts = entry.attempts + 1
                running = replace(entry, status=InboxStatus.RUNNING, attempts=attempts, waits_until=None)
                claimed.append(self._put(running))
        return claimed

    async def renew(self, seqs: Collection[int]) -> dict[int, str | None]:
        owned = {seq: self._inbox.entries[seq].cancelled_by for seq in seqs if self._owns(seq)}
        for seq in owned:
            self._inbox.leases[seq].until = self._clock.now() + self._lease
        return owned

    async def finish(
        self, seq: int, status: InboxStatus, *, post_ref: PostRef | None = None, error: str | None = None
    ) -> bool:
        def ended(entry: InboxEntry) -> InboxEntry:
            now = self._clock.now()
            return replace(entry, status=status, finished_at=now, post_ref=post_ref, error=error or entry.error)

        return self._give_up([seq], ended) == 1

    async def retry(
        self, seq: int, *, delay_seconds: float, error: str, final_error: str | None = None, failed: bool = True
    ) -> bool:
        def queued(entry: InboxEntry) -> InboxEntry:
            return replace(
                entry,
                status=InboxStatus.QUEUED,
                error=error,
                final_error=final_error or entry.final_error,
                failures=entry.failures + failed,
                waits_until=self._clock.now() + timedelta(seconds=delay_seconds) if delay_seconds else None,
            )

        return self._give_up([seq], queued) == 1

    async def release(self, seqs: Collection[int]) -> None:
        self._give_up(seqs, lambda entry: replace(entry, status=InboxStatus.QUEUED, attempts=entry.attempts - 1))

    async def release_abandoned(self) -> int:
        held = [seq for seq in self._inbox.leases if self._inbox.entries[seq].finished_at is None]
        for seq in held:
            del self._inbox.leases[seq]
            self._put(replace(self._inbox.entries[seq], status=InboxStatus.QUEUED))
        return len(held)

    async def cancel(self, message_key: str, by: str) -> list[InboxEntry]:
        found = [entry for entry in await self.find_open(message_key) if entry.cancelled_by != WITHDRAWN]
        return [self._put(replace(entry, cancelled_by=by, waits_until=None)) for entry in found]

    async def find(self, event_key: str) -> InboxEntry | None:
        wanted = to_storable_value(event_key)
        return next((entry for entry in self._inbox.entries.values() if entry.event_key == wanted), None)

    async def find_open(self, message_key: str) -> list[InboxEntry]:
        wanted = to_storable_value(message_key)
        return [entry for entry in self._open() if entry.message_key == wanted]

    async def list_versions(self, message_key: str) -> list[InboxEntry]:
        wanted = to_storable_value(message_key)
        return [entry for entry in self._inbox.entries.values() if entry.message_key == wanted]

    async def recent(
        self, workspace: str, *, author: str | None = None, address: ThreadAddress | None = None, limit: int = 50
    ) -> list[InboxEntry]:
        found = [
            entry
            for entry in reversed(self._inbox.entries.values())
            if entry.workspace == workspace
            and author in (None, entry.incoming.author)
            and address in (None, entry.address)
        ]
        return found[:limit]

    async def list_open(self, workspace: str, limit: int | None = None) -> list[InboxEntry]:
        return [entry for entry in reversed(self._open()) if entry.workspace == workspace][:limit]

    async def depth(self) -> dict[InboxStatus, int]:
        return dict(Counter(entry.status for entry in self._open()))

    async def purge(self, before: datetime) -> int:
        gone = [
            seq
            for seq, entry in self._inbox.entries.items()
            if entry.finished_at is not None and entry.finished_at < before
        ]
        for seq in gone:
            del self._inbox.entries[seq]
        return len(gone)

    def watch(self, wake: Callable[[], None]) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def _open(self) -> list[InboxEntry]:
        return [entry for entry in self._inbox.entries.values() if entry.finished_at is None]

    def _owns(self, seq: int) -> bool:
        lease = self._inbox.leases.get(seq)
        return lease is not None and lease.owner == self._owner

    def _put(self, entry: InboxEntry) -> InboxEntry:
        self._inbox.entries[entry.seq] = entry
        return entry

    def _give_up(self, seqs: Collection[int], change: Callable[[InboxEntry], InboxEntry]) -> int:
        """Change what is still owned and end its lease; how many that were."""
        owned = [seq for seq in seqs if self._owns(seq)]
        for seq in owned:
            del self._inbox.leases[seq]
            self._put(change(self._inbox.entries[seq]))
        return len(owned)
