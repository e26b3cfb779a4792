"""Settings of channels, threads and people in SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Executable, Table, bindparam, delete, select

from core.domain.audit import Audit
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.service import TO_THE_END, AutoAnswer, ChannelSettings, FollowUps, Listening, PositionHolder
from storage.database import Commit, Database
from storage.database.repositories import audit as noted
from storage.database.tables import OWN_THREADS, TABLES

_CHANNELS, _POSITIONS, _LISTENING = (
    TABLES[name] for name in ("channel_settings", "reading_position", "thread_listening")
)
_REPORTED = "auto_answer_reported"  # AutoAnswerRepository's

# Built once: SQLAlchemy keeps the compiled form with the statement.
_CHANNEL = select(_CHANNELS).where(
    *(_CHANNELS.c[name] == bindparam(name) for name in ("workspace", "platform", "channel"))
)
_THREAD = select(_LISTENING.c.listening).where(
    *(_LISTENING.c[name] == bindparam(name) for name in ("workspace", "platform", "channel", "thread"))
)
_HELD_BY = tuple(_POSITIONS.c[name] == bindparam(name) for name in ("workspace", "platform", "channel", "person"))
_HELD = select(_POSITIONS.c.document_id, _POSITIONS.c.last_page).where(*_HELD_BY)
_REMOVE = delete(_POSITIONS).where(*_HELD_BY, _POSITIONS.c.document_id == bindparam("document"))
_POSITIONED = (
    select(_POSITIONS.c.document_id)
    .where(_POSITIONS.c.workspace == bindparam("in_workspace"), _POSITIONS.c.last_page < TO_THE_END)
    .distinct()
)


class SqlSettingsRepository:
    """SettingsRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def channel(self, address: ChannelAddress) -> ChannelSettings:
        return _to_channel(await self._database.rows(_CHANNEL, asdict(address)))

    async def save_channel(self, address: ChannelAddress, settings: ChannelSettings, *, audit: Audit = None) -> None:
        values = asdict(address) | asdict(settings)
        values["sources"] = None if settings.sources is None else sorted(settings.sources)
        values |= {"follow_ups": settings.follow_ups.value, "auto_answer": settings.auto_answer.value}
        await self._change(self._database.upsert(_CHANNELS, keep={_REPORTED}), values, audit)

    async def listening(self, address: ThreadAddress) -> Listening:
        return _to_listening(await self._database.rows(_THREAD, asdict(address)))

    async def lately(self, address: ThreadAddress, *, opens_thread: bool) -> tuple[Listening, ChannelSettings]:
        thread = [] if opens_thread else await self._database.rows_lately(_THREAD, asdict(address))
        channel = await self._database.rows_lately(_CHANNEL, asdict(ChannelAddress.of(address)))
        return _to_listening(thread), _to_channel(channel)

    async def save_listening(self, address: ThreadAddress, listening: Listening, *, audit: Audit = None) -> None:
        await self._save(_LISTENING, asdict(address) | {"listening": listening.value}, audit)

    async def positions(self, holder: PositionHolder) -> Mapping[str, int]:
        return (await self.positions_of([holder]))[0]

    async def positions_of(self, holders: Sequence[PositionHolder]) -> list[Mapping[str, int]]:
        keys = [_key(holder) for holder in holders]
        return await self._database.read(
            lambda connection: [
                {row.document_id: row.last_page for row in connection.execute(_HELD, key)} for key in keys
            ]
        )

    async def positioned(self, workspace: str) -> frozenset[str]:
        rows = await self._database.rows(_POSITIONED, {"in_workspace": workspace})
        return frozenset(row.document_id for row in rows)

    async def save_position(
        self, holder: PositionHolder, document_id: str, last_page: int | None, *, audit: Audit = None
    ) -> None:
        key = _key(holder)
        if last_page is not None:
            await self._save(_POSITIONS, {**key, "document_id": document_id, "last_page": last_page}, audit)
            return
        await self._change(_REMOVE, {**key, "document": document_id}, audit)

    async def _save(self, table: Table, values: Mapping[str, Any], audit: Audit = None) -> None:
        """Insert or replace a row."""
        await self._change(self._database.upsert(table), values, audit)

    async def _change(self, statement: Executable, values: Mapping[str, Any], audit: Audit) -> None:
        """Run one statement durably: a setting that an admin saw confirmed survives a power cut."""
        await self._database.write(
            lambda connection: noted.change(connection, statement, values, audit), Commit.DURABLE
        )


def _to_listening(rows: Sequence[Any]) -> Listening:
    return Listening(rows[0].listening) if rows else Listening.NORMAL


def _to_channel(rows: Sequence[Any]) -> ChannelSettings:
    if not rows:
        return ChannelSettings()
    [row] = rows
    columns = row._mapping.items()
    values = {name: value for name, value in columns if name not in ("workspace", "platform", "channel", _REPORTED)}
    values["sources"] = None if row.sources is None else frozenset(row.sources)
    values |= {"follow_ups": FollowUps(row.follow_ups), "auto_answer": AutoAnswer(row.auto_answer)}
    return ChannelSettings(**values)


def _key(holder: PositionHolder) -> dict[str, str]:
    """Return the columns that identify the holder of a position."""
    if isinstance(holder, ChannelAddress):
        return {**asdict(holder), "person": ""}
    channel = OWN_THREADS if holder.alone else ""
    return {"workspace": holder.workspace, "platform": "", "channel": channel, "person": holder.person}
