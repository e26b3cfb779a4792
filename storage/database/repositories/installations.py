"""Teams that installed the app, and one-time codes, in SQL."""

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Row, Update, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from core.domain.service import Installation
from core.ports import Clock
from storage.database import Commit, Database
from storage.database.codes import hash_of, new_code
from storage.database.tables import FootnoteTable, InstallationRow, OneTimeCodeRow
from storage.storable import to_storable

if TYPE_CHECKING:
    from storage.database.encryption import (
        Sealer,  # cryptography takes its time to load, and most commands need none of it
    )

_INSTALLATIONS = FootnoteTable.metadata.tables[InstallationRow.__tablename__]
_KEY = {"platform", "team_id"}
_CODES = FootnoteTable.metadata.tables[OneTimeCodeRow.__tablename__]


class SqlInstallationRepository:
    """InstallationRepository on a Database; tokens are sealed before they are handed to it."""

    def __init__(self, database: Database, sealer: "Sealer") -> None:
        self._database = database
        self._sealer = sealer

    async def save(self, installation: Installation) -> None:
        insert = (postgresql if self._database.is_postgres else sqlite).insert(_INSTALLATIONS)
        statement = insert.values(**self._to_values(installation))
        others = {name: statement.excluded[name] for name in set(_INSTALLATIONS.c.keys()) - _KEY}
        replacing = statement.on_conflict_do_update(index_elements=["platform", "team_id"], set_=others)
        await self._database.write_rows(lambda connection: connection.execute(replacing), Commit.DURABLE)

    async def find(self, platform: str, team_id: str) -> Installation | None:
        query = select(_INSTALLATIONS).where(*_is(platform, team_id))
        row = await self._database.read_rows(lambda connection: connection.execute(query).first())
        return self._to_installation(row) if row is not None else None

    async def list_installations(self, platform: str) -> list[Installation]:
        query = select(_INSTALLATIONS).where(_INSTALLATIONS.c.platform == platform).order_by(_INSTALLATIONS.c.team_id)
        rows = await self._database.read_rows(lambda connection: connection.execute(query).all())
        return [self._to_installation(row) for row in rows]

    async def remove(self, platform: str, team_id: str) -> None:
        gone = delete(_INSTALLATIONS).where(*_is(platform, team_id))
        await self._database.write_rows(lambda connection: connection.execute(gone), Commit.DURABLE)

    async def reseal(self) -> int:
        """Seal anew, with the newest key, what older keys sealed; how many those were. Raises ConfigError."""
        columns = (_INSTALLATIONS.c.platform, _INSTALLATIONS.c.team_id, _INSTALLATIONS.c.sealed_token)
        rows = await self._database.read_rows(lambda connection: connection.execute(select(*columns)).all())
        changes = [self._reseal(row) for row in rows if not self._sealer.is_current(row.sealed_token)]
        if changes:
            await self._database.write_rows(lambda connection: [connection.execute(one) for one in changes])
        return len(changes)

    def _reseal(self, row: Row[Any, Any, Any]) -> Update:
        """Changes nothing where the team was removed, or has a newer token, by then."""
        owner = _owner(row.platform, row.team_id)
        sealed = self._sealer.seal(owner, self._sealer.open(owner, row.sealed_token))
        same = (*_is(row.platform, row.team_id), _INSTALLATIONS.c.sealed_token == row.sealed_token)
        return update(_INSTALLATIONS).where(*same).values(sealed_token=sealed)

    def _to_values(self, installation: Installation) -> Mapping[str, Any]:
        platform, team_id = to_storable(installation.platform), to_storable(installation.team_id)
        return {
            "platform": platform,
            "team_id": team_id,
            "team_name": installation.team_name,
            "team_url": installation.team_url,
            "bot_user_id": installation.bot_user_id,
            "bot_id": installation.bot_id,
            "sealed_token": self._sealer.seal(_owner(platform, team_id), to_storable(installation.token)),
            "scopes": sorted(installation.scopes),
            "installed_at": installation.installed_at,
            "installed_by": installation.installed_by,
        }

    def _to_installation(self, row: Row[Any]) -> Installation:
        return Installation(
            platform=row.platform,
            team_id=row.team_id,
            team_name=row.team_name,
            team_url=row.team_url,
            bot_user_id=row.bot_user_id,
            bot_id=row.bot_id,
            token=self._sealer.open(_owner(row.platform, row.team_id), row.sealed_token),
            scopes=frozenset(row.scopes),
            installed_at=row.installed_at,
            installed_by=row.installed_by,
        )


class SqlOneTimeCodes:
    """OneTimeCodes on a Database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def issue(self, purpose: str, seconds: float) -> str:
        code, now = new_code(), self._clock.now()
        values = {"purpose": purpose, "code_hash": hash_of(code), "expires_at": now + timedelta(seconds=seconds)}
        old, new = delete(_CODES).where(_CODES.c.expires_at <= now), _CODES.insert().values(**values)
        await self._database.write_rows(lambda connection: (connection.execute(old), connection.execute(new)))
        return code

    async def consume(self, purpose: str, code: str) -> bool:
        same = (_CODES.c.purpose == purpose, _CODES.c.code_hash == hash_of(code))
        taken = delete(_CODES).where(*same, _CODES.c.expires_at > self._clock.now())
        result = await self._database.write_rows(lambda connection: connection.execute(taken).rowcount, Commit.DURABLE)
        return result == 1


def _owner(platform: str, team_id: str) -> str:
    return f"{platform} team {team_id}"


def _is(platform: str, team_id: str) -> tuple[Any, Any]:
    return (
        _INSTALLATIONS.c.platform == to_storable(platform),
        _INSTALLATIONS.c.team_id == to_storable(team_id),
    )
