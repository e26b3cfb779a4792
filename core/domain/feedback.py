"""What people thought of an answer."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Rating(StrEnum):
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """One person's rating of one answer."""

    message_id: str
    author: str
    rating: Rating
    created_at: datetime
