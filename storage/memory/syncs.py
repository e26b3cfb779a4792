"""The state of syncs in memory."""

from core.domain.sources import SyncState
from storage.storable import to_storable, to_storable_value


class MemorySyncRepository:
    """SyncRepository that forgets everything with the process."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, str], SyncState] = {}

    async def save(self, state: SyncState) -> None:
        storable = to_storable_value(state)
        self._states[storable.workspace, storable.source] = storable

    async def find(self, workspace: str, source: str) -> SyncState | None:
        return self._states.get((to_storable(workspace), to_storable(source)))

    async def list_states(self, workspace: str) -> list[SyncState]:
        found = [state for (place, _), state in self._states.items() if place == to_storable(workspace)]
        return sorted(found, key=lambda state: state.source)

    async def remove(self, workspace: str, source: str) -> None:
        self._states.pop((to_storable(workspace), to_storable(source)), None)
