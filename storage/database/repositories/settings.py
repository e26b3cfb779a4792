"""Settings of channels, threads and people in SQL."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Table, bindparam, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from core.domain.conversation import ChannelAddress, ThreadAddress
from core.domain.service import TO_THE_END, ChannelSettings, Listening, PositionHolder
from storage.database import Commit, Database
from storage.database.tables import ChannelSettingsRow, FootnoteTable, ReadingPositionRow, ThreadListeningRow
from storage.database.tables.settings import OWN_THREADS
from storage.storable import to_storable, to_storable_value

_CHANNELS = FootnoteTable.metadata.tables[ChannelSettingsRow.__tablename__]
_POSITIONS = FootnoteTable.metadata.tables[ReadingPositionRow.__tablename__]
_LISTENING = FootnoteTable.metadata.tables[ThreadListeningRow.__tablename__]

# Made once: what SQLAlchemy has compiled it keeps with the statement.
_CHANNEL = select(_CHANNELS).where(
    *(_CHANNELS.c[name] == bindparam(name) for name in ("workspace", "platform", "channel"))
)
_HELD = select(_POSITIONS.c.document_id, _POSITIONS.c.last_page).where(
    *(_POSITIONS.c[name] == bindparam(name) for name in ("workspace", "platform", "channel", "person"))
)


class SqlSettingsRepository:
    """SettingsRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def channel(self, address: ChannelAddress) -> ChannelSettings:
        address = to_storable_value(address)
        key = {"workspace": address.workspace, "platform": address.platform, "channel": address.channel}
        row = await self._database.read_rows(lambda connection: connection.execute(_CHANNEL, key).one_or_none())
        return _to_settings(row) if row is not None else ChannelSettings()

    async def save_channel(self, address: ChannelAddress, settings: ChannelSettings) -> None:
        await self._save(_CHANNELS, _to_values(to_storable_value(address), settings))

    async def listening(self, address: ThreadAddress) -> Listening:
        key = _storable(address.workspace, address.platform, address.channel, address.thread)
        row = await self._database.read(lambda session: session.get(ThreadListeningRow, key))
        return Listening(row.listening) if row is not None else Listening.NORMAL

    async def save_listening(self, address: ThreadAddress, listening: Listening) -> None:
        address = to_storable_value(address)
        values = {
            "workspace": address.workspace,
            "platform": address.platform,
            "channel": address.channel,
            "thread": address.thread,
            "listening": listening.value,
        }
        await self._save(_LISTENING, values)

    async def positions(self, holder: PositionHolder) -> Mapping[str, int]:
        return (await self.positions_of([holder]))[0]

    async def positions_of(self, holders: Sequence[PositionHolder]) -> list[Mapping[str, int]]:
        keys = [_key(holder) for holder in holders]
        return await self._database.read_rows(
            lambda connection: [
                {row.document_id: row.last_page for row in connection.execute(_HELD, key)} for key in keys
            ]
        )

    async def positioned(self, workspace: str) -> frozenset[str]:
        query = select(_POSITIONS.c.document_id).where(
            _POSITIONS.c.workspace == to_storable(workspace), _POSITIONS.c.last_page < TO_THE_END
        )
        rows = await self._database.read_rows(lambda connection: connection.execute(query.distinct()).all())
        return frozenset(row.document_id for row in rows)

    async def save_position(self, holder: PositionHolder, document_id: str, last_page: int | None) -> None:
        document_id = to_storable(document_id)
        if last_page is None:
            gone = delete(_POSITIONS).where(*_held_by(holder), _POSITIONS.c.document_id == document_id)
            await self._database.write_rows(lambda connection: connection.execute(gone), Commit.DURABLE)
            return
        await self._save(_POSITIONS, {**_key(holder), "document_id": document_id, "last_page": last_page})

    async def _save(self, table: Table, values: Mapping[str, Any]) -> None:
        """Insert or replace in one statement, as another process may save the same at this moment.

        Lost with no power cut: what an admin was told is set stays set.
        """
        statement = (postgresql if self._database.is_postgres else sqlite).insert(table).values(**values)
        others = {column.name: statement.excluded[column.name] for column in table.c if not column.primary_key}
        replacing = statement.on_conflict_do_update(index_elements=[*table.primary_key], set_=others)
        await self._database.write_rows(lambda connection: connection.execute(replacing), Commit.DURABLE)


def _storable(*names: str) -> tuple[str, ...]:
    return tuple(map(to_storable, names))


def _to_values(address: ChannelAddress, settings: ChannelSettings) -> Mapping[str, Any]:
    return {
        "workspace": address.workspace,
        "platform": address.platform,
        "channel": address.channel,
        "auto_answer": settings.auto_answer,
        "answer_posts": settings.answer_posts,
        "questions_per_minute": settings.questions_per_minute,
        "language": settings.language,
        "strategy": settings.strategy,
        "sources": sorted(settings.sources) if settings.sources is not None else None,
    }


def _key(holder: PositionHolder) -> dict[str, str]:
    """The columns that say whose position it is."""
    if isinstance(holder, ChannelAddress):
        named = {"platform": holder.platform, "channel": holder.channel, "person": ""}
    else:
        named = {"platform": "", "channel": OWN_THREADS if holder.alone else "", "person": holder.person}
    return {name: to_storable(value) for name, value in {"workspace": holder.workspace, **named}.items()}


def _held_by(holder: PositionHolder) -> list[ColumnElement[bool]]:
    return [_POSITIONS.c[name] == value for name, value in _key(holder).items()]


def _to_settings(row: Row[Any]) -> ChannelSettings:
    return ChannelSettings(
        auto_answer=row.auto_answer,
        answer_posts=row.answer_posts,
        sources=frozenset(row.sources) if row.sources is not None else None,
        language=row.language,
        strategy=row.strategy,
        questions_per_minute=row.questions_per_minute,
    )
