"""Messages of live channels in SQL."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, select, update

from core.domain.channels import LIVE_KIND, ChannelMessage, StoredMessage
from core.domain.corpus import Source
from storage.database import Commit, Database
from storage.database.repositories.library_reads import parts
from storage.database.repositories.revisions import SOURCE
from storage.database.tables import TABLES

_SAID, _VISIT = TABLES["channel_message"], TABLES["channel_visit"]
_S = _SAID.c
_LIVE = select(SOURCE).where(SOURCE.c.kind == LIVE_KIND).order_by(SOURCE.c.workspace, SOURCE.c.name)
_FIELDS = tuple(ChannelMessage.__dataclass_fields__)


class SqlChannelMessages:
    """ChannelMessageRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_sources(self, *, lately: bool = False) -> list[Source]:
        rows = await (self._database.rows_lately(_LIVE, {}) if lately else self._database.rows(_LIVE))
        found = [dict(row._mapping) for row in rows]
        return [Source(**{**values, "readers": frozenset(values["readers"])}) for values in found]

    async def save(
        self, source_id: str, messages: Sequence[ChannelMessage], seen: Mapping[str, int] | None = None
    ) -> frozenset[str]:
        return await self._database.write(
            lambda connection: _save(connection, source_id, messages, seen), Commit.DURABLE
        )

    async def bury(self, source_id: str, which: Collection[str]) -> frozenset[str]:
        """See ChannelMessageRepository."""

        def work(connection: Connection) -> frozenset[str]:
            roots = set[str]()
            for ids in parts(sorted(which)):
                gone = {
                    "is_gone": True,
                    "is_read": False,
                    **dict.fromkeys(("text", "author", "author_name", "link"), ""),
                }
                here = (_S.source_id == source_id, _S.id.in_(ids), ~_S.is_gone)
                roots |= set(connection.execute(update(_SAID).where(*here).values(**gone).returning(_S.root)).scalars())
            return frozenset(roots)

        roots = await self._database.write(work, Commit.DURABLE)
        if roots:
            await self._database.erase_log()
        return roots

    async def list_messages(
        self, source_id: str, *, roots: Collection[str] | None = None, since: datetime | None = None
    ) -> list[StoredMessage]:
        here = [_S.source_id == source_id, *((_S.said_at > since,) if since is not None else ())]
        if roots is None:
            return await self._list(*here)
        return [item for some in parts(sorted(roots)) for item in await self._list(*here, _S.root.in_(some))]

    async def list_open(self, source_id: str) -> frozenset[str]:
        query = select(_S.root).where(_S.source_id == source_id, ~_S.is_read).distinct()
        return frozenset(row.root for row in await self._database.rows(query))

    async def list_by(self, source_id: str, author: str) -> frozenset[str]:
        return await self._ids(_S.source_id == source_id, _S.author == author)

    async def list_older(self, source_id: str, begun_before: datetime) -> frozenset[str]:
        return await self._ids(_S.source_id == source_id, _S.begun_at < begun_before)

    async def settle(self, source_id: str, read: Sequence[StoredMessage]) -> None:
        def work(connection: Connection) -> None:
            for item in read:
                same = (_S.version == item.version, _S.is_gone.is_(item.is_gone))
                here = (_S.source_id == source_id, _S.id == item.message.id)
                connection.execute(update(_SAID).where(*here, *same).values(is_read=True))

        await self._database.write(work)

    async def purge(self, source_id: str, begun_before: datetime) -> None:
        here = (_S.source_id == source_id, _S.begun_at < begun_before, _S.is_gone, _S.is_read)
        await self._database.change(delete(_SAID).where(*here))

    async def note_visit(self, source_id: str, person: str, at: datetime) -> None:
        visit = {"source_id": source_id, "person": person, "seen_at": at}
        await self._database.change(self._database.upsert(_VISIT), visit)

    async def last_visit(self, source_id: str, person: str) -> datetime | None:
        here = (_VISIT.c.source_id == source_id, _VISIT.c.person == person)
        rows = await self._database.rows(select(_VISIT.c.seen_at).where(*here))
        return rows[0].seen_at if rows else None

    async def forget_visits(self, source_id: str, person: str) -> None:
        await self._database.change(delete(_VISIT).where(_VISIT.c.source_id == source_id, _VISIT.c.person == person))

    async def _ids(self, *which: ColumnElement[bool]) -> frozenset[str]:
        return frozenset(row.id for row in await self._database.rows(select(_S.id).where(*which, ~_S.is_gone)))

    async def _list(self, *which: ColumnElement[bool]) -> list[StoredMessage]:
        query = select(_SAID).where(*which).order_by(_S.said_at, _S.id)
        return [_to_stored(row) for row in await self._database.rows(query)]


def _save(
    connection: Connection, source_id: str, messages: Sequence[ChannelMessage], seen: Mapping[str, int] | None
) -> frozenset[str]:
    """Insert new messages and change edited ones; return the roots of the edited ones' threads."""
    edited = set[str]()
    for message in messages:
        here = and_(_S.source_id == source_id, _S.id == message.id)
        known = connection.execute(select(_SAID).where(here)).first()
        values = {name: getattr(message, name) for name in _FIELDS}
        if known is None:
            first = _first_of(connection, source_id, message)
            new = {**values, **first, "source_id": source_id, "version": 1, "is_gone": False, "is_read": False}
            connection.execute(_SAID.insert().values(**new))
        elif known.is_gone or (seen is not None and seen.get(message.id) != known.version):
            continue  # a deleted one stays deleted, even if it is sent again
        elif known.text != message.text or _has_new_name(known, message):
            changed = {"text": message.text, "version": known.version + 1, "is_read": False}
            name = {"author_name": message.author_name} if _has_new_name(known, message) else {}
            connection.execute(update(_SAID).where(here).values(**changed, **name))
            edited |= {known.root} if known.text != message.text else set()
    return frozenset(edited)


def _has_new_name(known: Row[Any], message: ChannelMessage) -> bool:
    """Return whether the author has another name; the ID stands for one that couldn't be looked up."""
    return message.author_name not in (known.author_name, message.author)


def _first_of(connection: Connection, source_id: str, message: ChannelMessage) -> dict[str, Any]:
    """Return the root of a message's thread and when it began: a reply to a reply belongs to the first message."""
    query = select(_S.root, _S.begun_at).where(_S.source_id == source_id, _S.id == message.root)
    known = connection.execute(query).first()
    return {"root": known.root, "begun_at": known.begun_at} if known is not None else {}


def _to_stored(row: Row[Any]) -> StoredMessage:
    message = ChannelMessage(**{name: row._mapping[name] for name in _FIELDS})
    return StoredMessage(message=message, version=row.version, is_gone=row.is_gone, is_read=row.is_read)
