"""Teams that installed the app, and one-time codes, in SQL."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Row, Update, delete, select, update

from core.domain.service import Installation
from core.ports import Clock
from storage.database import Commit, Database
from storage.database.tables import TABLES
from storage.text import to_storable, to_storable_value

if TYPE_CHECKING:  # not at run time: cryptography loads slowly, and most commands don't need it
    from storage.database.encryption import SecretCipher

_BYTES = 32  # of a code: 43 characters that are safe in URLs and cookies
_INSTALLATIONS, _CODES = (TABLES[name] for name in ("installation", "one_time_code"))


class SqlInstallationRepository:
    """InstallationRepository on a Database; tokens are encrypted first."""

    def __init__(self, database: Database, cipher: "SecretCipher") -> None:
        self._database = database
        self._cipher = cipher

    async def save(self, installation: Installation) -> None:
        upsert = self._database.upsert(_INSTALLATIONS)
        await self._database.change(upsert, self._to_values(installation), Commit.DURABLE)

    async def find(self, platform: str, team_id: str) -> Installation | None:
        rows = await self._database.rows(select(_INSTALLATIONS).where(*_is(platform, team_id)))
        return self._to_installation(rows[0]) if rows else None

    async def list_installations(self, platform: str) -> list[Installation]:
        query = select(_INSTALLATIONS).where(_INSTALLATIONS.c.platform == platform).order_by(_INSTALLATIONS.c.team_id)
        return [self._to_installation(row) for row in await self._database.rows(query)]

    async def remove(self, platform: str, team_id: str) -> None:
        gone = delete(_INSTALLATIONS).where(*_is(platform, team_id))
        await self._database.change(gone, commit=Commit.DURABLE)

    async def reseal(self) -> int:
        """Encrypt tokens of older keys with the newest key; return their number. Raises ConfigError."""
        columns = (_INSTALLATIONS.c.platform, _INSTALLATIONS.c.team_id, _INSTALLATIONS.c.sealed_token)
        rows = await self._database.rows(select(*columns))
        changes = [self._reseal(row) for row in rows if not self._cipher.is_current(row.sealed_token)]
        if changes:
            await self._database.write(lambda connection: [connection.execute(one) for one in changes])
        return len(changes)

    def _reseal(self, row: Row[Any, Any, Any]) -> Update:
        """Return an update that changes nothing if the team was removed, or got a newer token, meanwhile."""
        owner = _owner(row.platform, row.team_id)
        sealed = self._cipher.encrypt(owner, self._cipher.decrypt(owner, row.sealed_token))
        same = (*_is(row.platform, row.team_id), _INSTALLATIONS.c.sealed_token == row.sealed_token)
        return update(_INSTALLATIONS).where(*same).values(sealed_token=sealed)

    def _to_values(self, installation: Installation) -> Mapping[str, Any]:
        stored = to_storable_value(installation)
        values = {name: value for name, value in asdict(stored).items() if name != "token"}
        sealed = self._cipher.encrypt(_owner(stored.platform, stored.team_id), stored.token)
        return {**values, "scopes": sorted(stored.scopes), "sealed_token": sealed}

    def _to_installation(self, row: Row[Any]) -> Installation:
        values = {name: value for name, value in row._mapping.items() if name != "sealed_token"}
        token = self._cipher.decrypt(_owner(row.platform, row.team_id), row.sealed_token)
        return Installation(**{**values, "token": token, "scopes": frozenset(row.scopes)})


class SqlOneTimeCodes:
    """OneTimeCodes on a Database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def issue(self, purpose: str, seconds: float) -> str:
        code, now = secrets.token_urlsafe(_BYTES), self._clock.now()
        values = {"purpose": purpose, "code_hash": hash_of(code), "expires_at": now + timedelta(seconds=seconds)}
        old, new = delete(_CODES).where(_CODES.c.expires_at <= now), _CODES.insert().values(**values)
        await self._database.write(lambda connection: (connection.execute(old), connection.execute(new)))
        return code

    async def consume(self, purpose: str, code: str) -> bool:
        same = (_CODES.c.purpose == purpose, _CODES.c.code_hash == hash_of(code))
        taken = delete(_CODES).where(*same, _CODES.c.expires_at > self._clock.now())
        return await self._database.change(taken, commit=Commit.DURABLE) == 1


def _owner(platform: str, team_id: str) -> str:
    return f"{platform} team {team_id}"


def _is(platform: str, team_id: str) -> tuple[Any, Any]:
    return (
        _INSTALLATIONS.c.platform == to_storable(platform),
        _INSTALLATIONS.c.team_id == to_storable(team_id),
    )


def hash_of(code: str) -> str:
    """Return the SHA-256 in hex: enough for a code that is as random as a key."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()
