"""Tells browsers of what other processes on the same database did: questions they took, answers they posted.

A post of the chat page is a message of the history, which any process can write; the browsers hang on this one. So it
looks at the newest entries of the inbox again and again, and at those that were open when it last looked.
"""

import asyncio
import logging

from bot.web.events import EventHub
from bot.web.translate import PLATFORM
from core.domain.service import InboxEntry
from core.errors import StorageError
from core.ports.service import InboxStore

POLL_SECONDS = 0.5  # how late a browser sees what another process posted; one small query each
RECENT = 100  # entries looked at; older ones only while they are open

_log = logging.getLogger(__name__)


class Noticing:
    """`run` for as long as browsers may come."""

    def __init__(self, store: InboxStore, hub: EventHub, workspace: str) -> None:
        self._store = store
        self._hub = hub
        self._workspace = workspace
        self._open: dict[int, InboxEntry] = {}
        self._seen: set[int] | None = None  # the last look's entries; None: there was none

    async def run(self) -> None:
        """Look until it is cancelled, while there are browsers; a database that does not answer is tried again.

        A browser that comes has just read the whole state: what happened before is told once more, and does no harm.
        """
        while True:
            try:
                if self._hub.readers:
                    await self.look()
            except StorageError as error:
                _log.warning("What other processes did can't be seen: %s", error)
            await asyncio.sleep(POLL_SECONDS)

    async def look(self) -> None:
        """Tell what changed since the last look."""
        recent = {entry.seq: entry for entry in await self._store.recent(self._workspace, limit=RECENT)}
        for seq, entry in [*self._open.items()]:
            now = recent.get(seq) or await self._store.find(entry.event_key)
            if now is None or now.status.is_final:
                del self._open[seq]
                self._tell("end", entry)
        for seq, entry in sorted(recent.items()):
            if entry.address.platform != PLATFORM or seq in self._open:
                continue
            if self._seen is not None and seq not in self._seen:
                self._tell("changed", entry)
            if not entry.status.is_final:
                self._open[seq] = entry
        self._seen = set(recent)

    def _tell(self, kind: str, entry: InboxEntry) -> None:
        self._hub.publish(str(entry.address), kind, {"key": entry.message_key} if kind == "end" else {})
        self._hub.publish_all("threads", {})
