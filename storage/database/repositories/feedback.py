"""Ratings of answers in SQL."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session
from sqlmodel import col

from core.domain.features import Feedback, Rating
from core.errors import NotFound
from storage.database import Database
from storage.database.tables import FeedbackRow, MessageRow


class SqlFeedbackRepository:
    """FeedbackRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, feedback: Feedback) -> None:
        await self._database.write(lambda session: _save(session, feedback))

    async def remove(self, message_id: str, author: str) -> None:
        change = delete(FeedbackRow).where(col(FeedbackRow.message_id) == message_id, col(FeedbackRow.author) == author)
        await self._database.write(lambda session: session.execute(change))

    async def list_feedback(self, conversation_id: str) -> list[Feedback]:
        query = (
            select(FeedbackRow)
            .join(MessageRow, col(MessageRow.id) == col(FeedbackRow.message_id))
            .where(col(MessageRow.conversation_id) == conversation_id)
            .order_by(col(MessageRow.sequence), col(FeedbackRow.author))
        )
        return await self._database.read(lambda session: [_to_feedback(row) for row in session.scalars(query)])


def _save(session: Session, feedback: Feedback) -> None:
    # The message's row is locked, so that two ratings of one person can't both be the first.
    if session.get(MessageRow, feedback.message_id, with_for_update=True) is None:
        raise NotFound(f"There is no message {feedback.message_id!r} to rate: it was deleted.")
    session.merge(
        FeedbackRow(
            message_id=feedback.message_id,
            author=feedback.author,
            rating=feedback.rating.value,
            created_at=feedback.created_at,
        )
    )


def _to_feedback(row: FeedbackRow) -> Feedback:
    return Feedback(message_id=row.message_id, author=row.author, rating=Rating(row.rating), created_at=row.created_at)
