"""What the control commands ask of a running service: what is open, stop it, why was it decided so."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from core.domain.conversation import ThreadAddress
from core.domain.service import InboxEntry
from core.errors import InvalidState
from core.ports.service import InboxStore
from core.service.inbox import COMMAND

LOOKED_THROUGH = 50  # newest messages in which an open question or a decision is looked for
# Deleting a thread waits this long for its answers to stop.
ENDING_PAUSE_SECONDS = 0.05
ENDING_TRIES = 60


class RunningQuestions(Protocol):
    """The questions that a service has in hand. Where no service runs there is none, and no command that needs it."""

    async def open_in(self, workspace: str, address: ThreadAddress) -> list[InboxEntry]:
        """What waits or runs in a thread, newest first."""

    async def newest_open(self, workspace: str, author: str, address: ThreadAddress | None) -> InboxEntry | None:
        """The author's newest question that has not ended: in the thread, else in its channel (None: anywhere)."""

    async def newest(self, workspace: str, author: str, address: ThreadAddress | None) -> InboxEntry | None:
        """The author's newest message with the decision about it, looked for in the same order; no commands."""

    async def stop(self, entry: InboxEntry, by: str) -> None:
        """Stop its answer; the post will say so. InvalidState when it has ended, AccessDenied for somebody else."""

    async def end_all(self, workspace: str, address: ThreadAddress) -> None:
        """Stop all answers of a thread and wait for their end. InvalidState when they do not end."""


class ServiceQuestions:
    """RunningQuestions over the inbox and `stop`, which is Worker.cancel."""

    def __init__(self, entries: InboxStore, stop: Callable[[str, str], Awaitable[object]]) -> None:
        self._entries = entries
        self._stop = stop

    async def open_in(self, workspace: str, address: ThreadAddress) -> list[InboxEntry]:
        found = await self._entries.recent(workspace, address=address, limit=LOOKED_THROUGH)
        return [entry for entry in found if not entry.status.is_final]

    async def newest_open(self, workspace: str, author: str, address: ThreadAddress | None) -> InboxEntry | None:
        found = await self._by(workspace, author, address)
        return next((entry for entry in found if not entry.status.is_final), None)

    async def newest(self, workspace: str, author: str, address: ThreadAddress | None) -> InboxEntry | None:
        found = await self._by(workspace, author, address)
        return next((entry for entry in found if entry.decision.code != COMMAND.code), None)

    async def stop(self, entry: InboxEntry, by: str) -> None:
        await self._stop(entry.message_key, by)

    async def end_all(self, workspace: str, address: ThreadAddress) -> None:
        for _ in range(ENDING_TRIES):
            waiting = await self.open_in(workspace, address)
            if not waiting:
                return
            for entry in waiting:
                if entry.cancelled_by is None:
                    await self._stop(entry.message_key, entry.incoming.author)
            await asyncio.sleep(ENDING_PAUSE_SECONDS)
        raise InvalidState("An answer is still being written in this thread: stop it first, then delete.")

    async def _by(self, workspace: str, author: str, address: ThreadAddress | None) -> list[InboxEntry]:
        """An author's newest messages: those of the thread first, then those of its channel."""
        found = await self._entries.recent(workspace, author=author, limit=LOOKED_THROUGH)
        if address is None:
            return found
        here = [entry for entry in found if entry.address == address]
        near = [entry for entry in found if entry.address != address and _same_channel(entry.address, address)]
        return here + near


def _same_channel(one: ThreadAddress, other: ThreadAddress) -> bool:
    return (one.platform, one.channel) == (other.platform, other.channel)
