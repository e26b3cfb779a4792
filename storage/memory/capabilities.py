"""The in-memory twin of storage/models/capabilities.py."""

from core.domain.answer import Capabilities


class MemoryCapabilities:
    """What was found out, for as long as the process runs (implements core.ports.CapabilityMemory)."""

    def __init__(self) -> None:
        self._kept: dict[str, Capabilities] = {}

    async def find(self, key: str) -> Capabilities | None:
        return self._kept.get(key)

    async def keep(self, key: str, found: Capabilities) -> None:
        self._kept[key] = found
