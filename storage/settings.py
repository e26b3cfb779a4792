"""Settings of channels and threads in SQL."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite

from core.domain.conversation import ThreadAddress
from core.domain.settings import ChannelAddress, ChannelSettings, Listening
from storage.database import Database
from storage.service_tables import ChannelSettingsRow, ThreadListeningRow
from storage.storable import to_storable, to_storable_value
from storage.tables import FootnoteTable
from storage.writing import Commit

_CHANNELS = FootnoteTable.metadata.tables[ChannelSettingsRow.__tablename__]
_LISTENING = FootnoteTable.metadata.tables[ThreadListeningRow.__tablename__]


class SqlSettingsRepository:
    """SettingsRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def channel(self, address: ChannelAddress) -> ChannelSettings:
        key = _storable(address.workspace, address.platform, address.channel)
        row = await self._database.read(lambda session: session.get(ChannelSettingsRow, key))
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
        "sources": sorted(settings.sources) if settings.sources is not None else None,
    }


def _to_settings(row: ChannelSettingsRow) -> ChannelSettings:
    return ChannelSettings(
        auto_answer=row.auto_answer,
        answer_posts=row.answer_posts,
        sources=frozenset(row.sources) if row.sources is not None else None,
        language=row.language,
        questions_per_minute=row.questions_per_minute,
    )
