"""Questions with their outcomes in SQL."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, func, select

from core.domain.answer import AnswerStatus, Usage
from core.domain.conversation import Role, ThreadAddress, is_private_thread
from core.domain.features import AskedQuestion, Rating
from core.ports import Clock
from storage.database import Database
from storage.database.repositories.conversations import ADDRESS, to_address
from storage.database.tables import TABLES
from storage.text import to_storable

MOST = 10_000  # questions; years of a busy team

_CONVERSATION, _MESSAGE, _CITED, _FEEDBACK = (
    TABLES[name] for name in ("conversation", "message", "message_document", "feedback")
)
_ANSWER, _QUESTION = _MESSAGE.alias("answer"), _MESSAGE.alias("question")
# The question of an answer: the last one before it.
_ASKED = (
    select(func.max(_QUESTION.c.sequence))
    .where(
        _QUESTION.c.conversation_id == _ANSWER.c.conversation_id,
        _QUESTION.c.role == Role.USER.value,
        _QUESTION.c.sequence < _ANSWER.c.sequence,
    )
    .correlate(_ANSWER)
    .scalar_subquery()
)


def _count_of(rating: Rating) -> Any:
    return (
        select(func.count())
        .where(_FEEDBACK.c.message_id == _ANSWER.c.id, _FEEDBACK.c.rating == rating.value)
        .correlate(_ANSWER)
        .scalar_subquery()
    )


_TEXT = _MESSAGE.alias("text")
_ANSWERED = (
    select(
        _ANSWER.c.id,
        _ANSWER.c.status,
        _ANSWER.c.created_at,
        _ANSWER.c.outcome,
        *(_CONVERSATION.c[name] for name in ADDRESS),
        _TEXT.c.content,
        _count_of(Rating.UP).label("helpful"),
        _count_of(Rating.DOWN).label("not_helpful"),
    )
    .select_from(
        _ANSWER.join(_CONVERSATION, _CONVERSATION.c.id == _ANSWER.c.conversation_id).join(
            _TEXT, (_TEXT.c.conversation_id == _ANSWER.c.conversation_id) & (_TEXT.c.sequence == _ASKED)
        )
    )
    .where(
        _CONVERSATION.c.workspace == bindparam("in_workspace"),
        _ANSWER.c.status.is_not(None),
        _ANSWER.c.created_at >= bindparam("since"),
    )
    .order_by(_ANSWER.c.created_at.desc(), _ANSWER.c.id)
    .limit(MOST)
)
_IDS: Any = bindparam("ids", expanding=True)
_DOCUMENTS = select(_CITED.c.message_id, _CITED.c.document_id).where(_CITED.c.message_id.in_(_IDS))
IDS_PER_QUERY = 500  # SQLite built before 3.32 takes at most 999 values a query


class SqlAskedRepository:
    """Implements AskedRepository on a Database. `is_private` recognises the threads of one person."""

    def __init__(
        self, database: Database, clock: Clock, is_private: Callable[[ThreadAddress], bool] = is_private_thread
    ) -> None:
        self._database = database
        self._is_private = is_private
        self._clock = clock

    async def asked(self, workspace: str, days: float) -> list[AskedQuestion]:
        since = self._clock.now() - timedelta(days=days)
        wanted = {"in_workspace": to_storable(workspace), "since": since}
        rows = await self._database.read(lambda connection: connection.execute(_ANSWERED, wanted).all())
        rows = [row for row in rows if not (row.outcome or {}).get("note_on")]
        cited = await self._cited([row.id for row in rows])
        return [
            _to_question(row, cited.get(row.id, frozenset()), is_private=self._is_private(to_address(row)))
            for row in rows
        ]

    async def _cited(self, ids: Sequence[str]) -> dict[str, frozenset[str]]:
        """Return the ids of the documents that answers cite, by message id."""
        parts = [ids[start : start + IDS_PER_QUERY] for start in range(0, len(ids), IDS_PER_QUERY)]
        rows = await self._database.read(
            lambda connection: [row for part in parts for row in connection.execute(_DOCUMENTS, {"ids": part})]
        )
        found: dict[str, set[str]] = {}
        for row in rows:
            found.setdefault(row.message_id, set()).add(row.document_id)
        return {key: frozenset(documents) for key, documents in found.items()}


def _to_question(row: Any, document_ids: frozenset[str], *, is_private: bool) -> AskedQuestion:
    usage = (row.outcome or {}).get("usage") or {}
    return AskedQuestion(
        text=row.content,
        status=AnswerStatus(row.status),
        asked_at=row.created_at,
        is_private=is_private,
        document_ids=document_ids,
        usage=Usage(**usage),
        helpful=row.helpful,
        not_helpful=row.not_helpful,
    )
