"""Servers and teams of the chat platforms in SQL."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Connection, delete, select, update

from core.domain.audit import Audit
from core.domain.service import PlatformTeam
from storage.database import Commit, Database
from storage.database.repositories import audit as noted
from storage.database.tables import TABLES

_TEAMS, _GREETINGS = TABLES["platform_team"], TABLES["greeting"]


class SqlTeamRepository:
    """TeamRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_teams(self) -> list[PlatformTeam]:
        teams = [PlatformTeam(**row._mapping) for row in await self._database.rows(select(_TEAMS))]
        return sorted(teams, key=lambda team: (team.platform, team.id))

    async def bind(
        self, platform: str, team_id: str, workspace: str | None, now: datetime, *, audit: Audit = None
    ) -> None:
        new = PlatformTeam(platform=platform, id=team_id, workspace=workspace, changed_at=now)
        change = {"workspace": workspace, "changed_at": now}

        def work(connection: Connection) -> None:
            self._put(connection, new, change)
            noted.write_note(connection, audit)

        await self._database.write(work, Commit.DURABLE)

    async def record_connected(self, platform: str, names: Mapping[str, str], now: datetime) -> None:
        def record(connection: Connection) -> None:
            here = _TEAMS.c.platform == platform
            was_here = here & (_TEAMS.c.is_connected | (_TEAMS.c.name != ""))  # not only bound
            known = set(connection.execute(select(_TEAMS.c.id).where(was_here)).scalars())
            new_teams = [{"platform": platform, "place": id, "is_greeted": False} for id in names if id not in known]
            if known and new_teams:
                connection.execute(self._database.insert(_GREETINGS).values(new_teams).on_conflict_do_nothing())
            left = here & _TEAMS.c.is_connected & _TEAMS.c.id.not_in([*names])
            connection.execute(update(_TEAMS).where(left).values(is_connected=False, left_at=now))
            for team_id, name in names.items():
                new = PlatformTeam(platform=platform, id=team_id, name=name, is_connected=True)
                self._put(connection, new, {"is_connected": True, "left_at": None, **({"name": name} if name else {})})

        await self._database.write(record)

    async def record_joined(self, platform: str, team_id: str, places: Collection[str]) -> None:
        here = (_GREETINGS.c.platform == platform, _GREETINGS.c.place == team_id)

        def record(connection: Connection) -> None:
            is_first = connection.execute(select(_GREETINGS.c.place).where(*here)).first() is None
            new = [{"platform": platform, "place": place, "is_greeted": is_first} for place in sorted(places)]
            if new:
                connection.execute(self._database.insert(_GREETINGS).values(new).on_conflict_do_nothing())
            listed = {"platform": platform, "place": team_id, "is_greeted": True}
            connection.execute(self._database.upsert(_GREETINGS).values(listed))

        await self._database.write(record, Commit.DURABLE)

    async def owe_greeting(self, platform: str, place: str) -> bool:
        new = {"platform": platform, "place": place, "is_greeted": False}
        statement = self._database.insert(_GREETINGS).values(new).on_conflict_do_nothing()
        await self._database.write(lambda connection: connection.execute(statement), Commit.DURABLE)
        return place in await self.owed_greetings(platform)

    async def owed_greetings(self, platform: str) -> list[str]:
        owed = (_GREETINGS.c.platform == platform, _GREETINGS.c.is_greeted.is_(False))
        rows = await self._database.rows(select(_GREETINGS.c.place).where(*owed).order_by(_GREETINGS.c.place))
        return [row.place for row in rows]

    async def greeted(self, platform: str, place: str) -> None:
        here = (_GREETINGS.c.platform == platform, _GREETINGS.c.place == place)
        statement = update(_GREETINGS).where(*here).values(is_greeted=True)
        await self._database.write(lambda connection: connection.execute(statement), Commit.DURABLE)

    async def forget_greetings(self, platform: str, team_id: str) -> None:
        place = _GREETINGS.c.place
        its = (place == team_id) | place.startswith(f"{team_id}/", autoescape=True)
        statement = delete(_GREETINGS).where(_GREETINGS.c.platform == platform, its)
        await self._database.write(lambda connection: connection.execute(statement), Commit.DURABLE)

    def _put(self, connection: Connection, new: PlatformTeam, change: Mapping[str, object]) -> None:
        """Insert a team, or apply a change to the stored one."""
        values = {column.name: getattr(new, column.name) for column in _TEAMS.c}
        statement = self._database.insert(_TEAMS).values(values)
        connection.execute(statement.on_conflict_do_update(index_elements=[*_TEAMS.primary_key], set_=change))
