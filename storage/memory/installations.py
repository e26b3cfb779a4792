"""Teams that installed the app, and one-time codes, in memory."""

from datetime import datetime, timedelta

from core.domain.service import Installation
from core.ports import Clock
from storage.database.codes import hash_of, new_code
from storage.storable import to_storable, to_storable_value


class MemoryInstallationRepository:
    """InstallationRepository that forgets everything with the process."""

    def __init__(self) -> None:
        self._installations: dict[tuple[str, str], Installation] = {}

    async def save(self, installation: Installation) -> None:
        stored = to_storable_value(installation)
        self._installations[stored.platform, stored.team_id] = stored

    async def find(self, platform: str, team_id: str) -> Installation | None:
        return self._installations.get((to_storable(platform), to_storable(team_id)))

    async def list_installations(self, platform: str) -> list[Installation]:
        return [one for key, one in sorted(self._installations.items()) if key[0] == to_storable(platform)]

    async def remove(self, platform: str, team_id: str) -> None:
        self._installations.pop((to_storable(platform), to_storable(team_id)), None)


class MemoryOneTimeCodes:
    """OneTimeCodes that forgets everything with the process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._expiring: dict[tuple[str, str], datetime] = {}

    async def issue(self, purpose: str, seconds: float) -> str:
        code, now = new_code(), self._clock.now()
        self._expiring = {key: at for key, at in self._expiring.items() if at > now}
        self._expiring[to_storable(purpose), hash_of(code)] = now + timedelta(seconds=seconds)
        return code

    async def consume(self, purpose: str, code: str) -> bool:
        expires_at = self._expiring.pop((to_storable(purpose), hash_of(code)), None)
        return expires_at is not None and expires_at > self._clock.now()
