"""Auto-answers in SQL: read from the inbox, the ratings and the settings of channels."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, case, func, or_, select, update

from core.answering.answers.stored import stored_ids
from core.domain.features import Rating
from core.domain.incoming import ChannelAddress
from core.domain.service import UNASKED, WOULD_ANSWER, AutoAnswer, Ratings, Trial
from storage.database import Commit, Database
from storage.database.repositories.inbox import to_entry
from storage.database.repositories.inbox_rows import INBOX, from_payload
from storage.database.tables import TABLES

_SETTINGS, _FEEDBACK = (TABLES[name] for name in ("channel_settings", "feedback"))
_C, _S, _F = INBOX.c, _SETTINGS.c, _FEEDBACK.c
_KEY = ("workspace", "platform", "channel")
_UP = func.sum(case((_F.rating == Rating.UP.value, 1), else_=-1))


class SqlAutoAnswerRepository:
    """AutoAnswerRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ratings(self, channel: ChannelAddress, limit: int) -> Ratings:
        asked = select(_C.incoming).where(*_in(channel, _C), _C.code == UNASKED.code)

        def work(connection: Connection) -> Ratings:
            rows = connection.execute(asked.order_by(_C.seq.desc()).limit(limit))
            answers = [stored_ids(from_payload(row.incoming)).answer for row in rows]
            rated = select(_UP).where(_F.message_id.in_(answers)).group_by(_F.message_id)
            found: Sequence[int] = connection.execute(rated).scalars().all()
            return Ratings(helpful=sum(one > 0 for one in found), unhelpful=sum(one < 0 for one in found))

        return await self._database.read(work)

    async def decided(self, channel: ChannelAddress, since: datetime, codes: Collection[str]) -> Trial:
        itself = f"{channel.platform}:{channel.workspace}:{channel.channel}:"  # of a channel without threads
        here = (
            *_in(channel, _C),
            _C.code.in_(sorted(codes)),
            _C.created_at >= since,
            or_(_C.thread == _C.message_key, _C.thread == itself),
        )
        newest = select(func.max(_C.seq)).where(*here).group_by(_C.message_key)
        would = select(INBOX).where(_C.seq.in_(newest), _C.code == WOULD_ANSWER.code).order_by(_C.seq.desc())

        def work(connection: Connection) -> Trial:
            count = connection.execute(select(func.count(_C.message_key.distinct())).where(*here)).scalar_one()
            return Trial(messages=count, would_answer=tuple(map(to_entry, connection.execute(would))))

        return await self._database.read(work)

    async def list_due(self, before: datetime) -> list[tuple[ChannelAddress, datetime]]:
        query = select(_SETTINGS).where(_S.auto_answer == AutoAnswer.SHADOW.value, _S.auto_answer_by != "")
        found = []
        for row in await self._database.rows(query.order_by(*(_S[name] for name in _KEY))):
            was = _reported(row)
            if was is not None and was <= before:
                found.append((ChannelAddress(**{name: getattr(row, name) for name in _KEY}), was))
        return found

    async def claim_report(self, channel: ChannelAddress, was: datetime, now: datetime) -> bool:
        here = _in(channel, _S)

        def work(connection: Connection) -> bool:
            row = connection.execute(select(_SETTINGS).where(*here).with_for_update()).first()
            if row is None or _reported(row) != was:
                return False
            connection.execute(update(_SETTINGS).where(*here).values(auto_answer_reported=now))
            return True

        return await self._database.write(work, Commit.DURABLE)


def _in(channel: ChannelAddress, columns: Any) -> list[Any]:
    return [columns[name] == value for name, value in asdict(channel).items()]


def _reported(row: Any) -> datetime | None:
    """Return the end of the last report of this shadow mode, else its beginning."""
    since: datetime | None = row.auto_answer_since
    reported: datetime | None = row.auto_answer_reported
    return max(since, reported) if since and reported else since
