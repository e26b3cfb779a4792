"""The table of ratings."""

from datetime import datetime

from core.domain.features import Rating
from storage.database.tables.base import FootnoteTable, key_column, one_of, text_column, time_column


class FeedbackRow(FootnoteTable, table=True):
    """One person's rating of an answer."""

    __tablename__ = "feedback"
    __table_args__ = (one_of("rating", Rating),)

    message_id: str = key_column(foreign_key="message.id", ondelete="CASCADE")
    author: str = key_column()
    rating: str = text_column()
    created_at: datetime = time_column()
