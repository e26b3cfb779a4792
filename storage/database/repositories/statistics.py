"""Questions with their outcomes in SQL."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, func, select

from core.domain.answer import AnswerStatus
from core.domain.conversation import Role
from core.domain.features import AskedQuestion, FeedbackReason, Rating
from core.domain.incoming import ThreadAddress
from core.domain.replies import Usage
from core.ports import Clock
from storage.database import Database
from storage.database.repositories.conversation_rows import ADDRESS, to_address
from storage.database.repositories.library_reads import parts
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
_REASONS = (
    select(_FEEDBACK.c.message_id, _FEEDBACK.c.reason)
    .where(_FEEDBACK.c.message_id.in_(_IDS), _FEEDBACK.c.reason.is_not(None))
    .order_by(_FEEDBACK.c.author)
)
_DOCUMENTS = select(_CITED.c.message_id, _CITED.c.document_id).where(_CITED.c.message_id.in_(_IDS))


class SqlAskedRepository:
    """Implements AskedRepository on a Database. `is_private` recognises the threads of one person."""

    def __init__(self, database: Database, clock: Clock, is_private: Callable[[ThreadAddress], bool]) -> None:
        self._database = database
        self._is_private = is_private
        self._clock = clock

    async def asked(self, workspace: str, days: float) -> list[AskedQuestion]:
        wanted = {"in_workspace": to_storable(workspace), "since": self._clock.now() - timedelta(days=days)}
        rows = [row for row in await self._database.rows(_ANSWERED, wanted) if not (row.outcome or {}).get("note_on")]
        cited: dict[str, set[str]] = {}  # the ids of the documents that answers cite, by message id
        for ids in parts([row.id for row in rows]):
            for row in await self._database.rows(_DOCUMENTS, {"ids": ids}):
                cited.setdefault(row.message_id, set()).add(row.document_id)
        reasons: dict[str, list[FeedbackReason]] = {}  # by message id
        for ids in parts([row.id for row in rows if row.not_helpful]):
            for row in await self._database.rows(_REASONS, {"ids": ids}):
                reasons.setdefault(row.message_id, []).append(FeedbackReason(row.reason))
        return [
            _to_question(
                row,
                frozenset(cited.get(row.id, ())),
                tuple(reasons.get(row.id, ())),
                is_private=self._is_private(to_address(row)),
            )
            for row in rows
        ]


def _to_question(
    row: Any, document_ids: frozenset[str], reasons: tuple[FeedbackReason, ...], *, is_private: bool
) -> AskedQuestion:
    usage = (row.outcome or {}).get("usage") or {}
    return AskedQuestion(
        text=row.content,
        status=AnswerStatus(row.status),
        asked_at=row.created_at,
        is_private=is_private,
        address=to_address(row),
        document_ids=document_ids,
        usage=Usage(**usage),
        helpful=row.helpful,
        not_helpful=row.not_helpful,
        reasons=reasons,
    )
