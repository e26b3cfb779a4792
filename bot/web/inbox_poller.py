"""Polls the inbox for changes made by other processes, and notifies the browsers.

Any process on the database can accept and answer questions of the chat page, but browsers are connected to this one.
It polls the newest entries, and the open ones of the last poll.
"""

import asyncio
import logging

from bot.web.events import EventHub
from bot.web.translate import PLATFORM
from core.domain.service import InboxEntry
from core.errors import StorageError
from core.ports.service import InboxStore

POLL_SECONDS = 0.5  # delay until a browser sees another process's post; one small query each
RECENT = 100  # entries in each poll; older ones only while they are open

_log = logging.getLogger(__name__)


class InboxPoller:
    def __init__(self, store: InboxStore, hub: EventHub, workspace: str) -> None:
        self._store = store
        self._hub = hub
        self._workspace = workspace
        self._open: dict[int, InboxEntry] = {}
        self._seen: set[int] | None = None  # entries of the last poll; None before the first

    async def run(self) -> None:
        """Poll until cancelled, while browsers are connected. Retries if the database fails.

        A new browser has just read the whole state; earlier changes are published again, which is harmless.
        """
        while True:
            try:
                if self._hub.readers:
                    await self.poll()
            except StorageError as error:
                _log.warning("Can't poll the inbox for changes of other processes: %s", error)
            await asyncio.sleep(POLL_SECONDS)

    async def poll(self) -> None:
        """Publish the changes since the last poll."""
        recent = {entry.seq: entry for entry in await self._store.recent(self._workspace, limit=RECENT)}
        for seq, entry in [*self._open.items()]:
            now = recent.get(seq) or await self._store.find(entry.event_key)
            if now is None or now.status.is_final:
                del self._open[seq]
                self._publish("end", entry)
        for seq, entry in sorted(recent.items()):
            if entry.address.platform != PLATFORM or seq in self._open:
                continue
            if self._seen is not None and seq not in self._seen:
                self._publish("changed", entry)
            if not entry.status.is_final:
                self._open[seq] = entry
        self._seen = set(recent)

    def _publish(self, kind: str, entry: InboxEntry) -> None:
        self._hub.publish(str(entry.address), kind, {"key": entry.message_key} if kind == "end" else {})
        self._hub.publish_all("threads", {})
