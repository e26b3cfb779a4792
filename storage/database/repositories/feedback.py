"""Ratings of answers in SQL."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, delete, select

from core.domain.features import Feedback, FeedbackReason, Rating
from core.errors import NotFound
from storage.database import Database
from storage.database.tables import TABLES

_FEEDBACK, _MESSAGE = (TABLES[name] for name in ("feedback", "message"))


class SqlFeedbackRepository:
    """FeedbackRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, feedback: Feedback) -> None:
        message = select(_MESSAGE.c.id).where(_MESSAGE.c.id == feedback.message_id)
        reason = feedback.reason.value if feedback.reason else None
        values = asdict(feedback) | {"rating": feedback.rating.value, "reason": reason}

        def work(connection: Connection) -> None:
            if connection.execute(message.with_for_update(key_share=True)).first() is None:
                raise NotFound(f"There is no message {feedback.message_id!r} to rate: it was deleted.")
            connection.execute(self._database.upsert(_FEEDBACK), values)

        await self._database.write(work)

    async def remove(self, message_id: str, author: str) -> None:
        own = (_FEEDBACK.c.message_id == message_id, _FEEDBACK.c.author == author)
        await self._database.change(delete(_FEEDBACK).where(*own))

    async def list_feedback(self, conversation_id: str) -> list[Feedback]:
        query = (
            select(_FEEDBACK)
            .join(_MESSAGE, _MESSAGE.c.id == _FEEDBACK.c.message_id)
            .where(_MESSAGE.c.conversation_id == conversation_id)
            .order_by(_MESSAGE.c.sequence, _FEEDBACK.c.author)
        )
        return [_to_feedback(row) for row in await self._database.rows(query)]


def _to_feedback(row: Any) -> Feedback:
    reason = FeedbackReason(row.reason) if row.reason else None
    return Feedback(**{**row._mapping, "rating": Rating(row.rating), "reason": reason})
