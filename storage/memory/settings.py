"""Settings of channels, threads and people in memory."""

from collections.abc import Mapping, Sequence

from core.domain.conversation import ChannelAddress, ThreadAddress
from core.domain.service import TO_THE_END, ChannelSettings, Listening, PositionHolder
from storage.storable import to_storable, to_storable_value


class MemorySettingsRepository:
    """SettingsRepository that forgets everything with the process."""

    def __init__(self) -> None:
        self._channels: dict[ChannelAddress, ChannelSettings] = {}
        self._listening: dict[ThreadAddress, Listening] = {}
        self._positions: dict[PositionHolder, dict[str, int]] = {}

    async def channel(self, address: ChannelAddress) -> ChannelSettings:
        return self._channels.get(to_storable_value(address), ChannelSettings())

    async def save_channel(self, address: ChannelAddress, settings: ChannelSettings) -> None:
        self._channels[to_storable_value(address)] = to_storable_value(settings)

    async def listening(self, address: ThreadAddress) -> Listening:
        return self._listening.get(to_storable_value(address), Listening.NORMAL)

    async def save_listening(self, address: ThreadAddress, listening: Listening) -> None:
        self._listening[to_storable_value(address)] = listening

    async def positions(self, holder: PositionHolder) -> Mapping[str, int]:
        return dict(self._positions.get(to_storable_value(holder), {}))

    async def positions_of(self, holders: Sequence[PositionHolder]) -> list[Mapping[str, int]]:
        return [await self.positions(holder) for holder in holders]

    async def positioned(self, workspace: str) -> frozenset[str]:
        held = (
            positions for holder, positions in self._positions.items() if holder.workspace == to_storable(workspace)
        )
        return frozenset(id for positions in held for id, last in positions.items() if last < TO_THE_END)

    async def save_position(self, holder: PositionHolder, document_id: str, last_page: int | None) -> None:
        held = self._positions.setdefault(to_storable_value(holder), {})
        if last_page is None:
            held.pop(to_storable_value(document_id), None)
        else:
            held[to_storable_value(document_id)] = last_page
