"""Detected capabilities of models, in a JSON file of the data directory.

It is a cache: if it can't be read or written, models are probed again.
"""

import asyncio
import json
import logging
import os
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from core.domain.chat import Capabilities
from core.ports import Clock
from core.thread_work import to_its_end

logger = logging.getLogger(__name__)

KEPT_DAYS = 30  # a server may get another version, or another model under the same name
MOST = 100  # models; beyond that the oldest finding goes


class CapabilityFile:
    """Implements core.ports.CapabilityMemory."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._lock = asyncio.Lock()

    async def find(self, key: str) -> Capabilities | None:
        return await asyncio.to_thread(self._find, key)

    async def keep(self, key: str, found: Capabilities) -> None:
        async with self._lock:
            await to_its_end(lambda: self._keep(key, found))

    def _find(self, key: str) -> Capabilities | None:
        try:
            row = self._read()[key]
            if self._clock.now() - datetime.fromisoformat(row.pop("found_at")) > timedelta(days=KEPT_DAYS):
                return None
            if isinstance(row["context_tokens"], int) and isinstance(row["tools"], bool):
                return Capabilities(**row)
        except (KeyError, TypeError, ValueError, AttributeError):
            pass  # a foreign row
        return None

    def _keep(self, key: str, found: Capabilities) -> None:
        rows = self._read()
        rows.pop(key, None)
        rows[key] = {**asdict(found), "found_at": self._clock.now().isoformat()}
        kept = dict(list(rows.items())[-MOST:])
        fresh = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(kept, indent=1), encoding="utf-8")
            fresh.replace(self._path)
        except OSError as error:
            logger.warning("capabilities of models are not stored: %s", error)

    def _read(self) -> dict[str, Any]:
        try:
            rows = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return rows if isinstance(rows, dict) else {}
