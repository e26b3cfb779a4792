"""Settings of channels and threads in memory."""

from core.domain.conversation import ThreadAddress
from core.domain.settings import ChannelAddress, ChannelSettings, Listening
from storage.storable import to_storable_value


class MemorySettingsRepository:
    """SettingsRepository that forgets everything with the process."""

    def __init__(self) -> None:
        self._channels: dict[ChannelAddress, ChannelSettings] = {}
        self._listening: dict[ThreadAddress, Listening] = {}

    async def channel(self, address: ChannelAddress) -> ChannelSettings:
        return self._channels.get(to_storable_value(address), ChannelSettings())

    async def save_channel(self, address: ChannelAddress, settings: ChannelSettings) -> None:
        self._channels[to_storable_value(address)] = to_storable_value(settings)

    async def listening(self, address: ThreadAddress) -> Listening:
        return self._listening.get(to_storable_value(address), Listening.NORMAL)

    async def save_listening(self, address: ThreadAddress, listening: Listening) -> None:
        self._listening[to_storable_value(address)] = listening
