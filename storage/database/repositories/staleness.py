"""Comparisons of answers with their documents in SQL."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select, update

from core.domain.conversation import Conversation
from core.domain.features import OUT, Checked, DueNote, Fate, LiveTexts, LostQuote, StaleAnswer, Unchecked
from storage.database import Database
from storage.database.repositories.conversation_rows import to_conversation, to_message
from storage.database.tables import TABLES

_CHECK, _CONVERSATION, _MESSAGE, _CITED, _DOCUMENT, _PAGE = (
    TABLES[name] for name in ("citation_check", "conversation", "message", "message_document", "document", "page")
)
_LIVE = func.coalesce(_DOCUMENT.c.revision, OUT)
_SAME_CITED = (_CHECK.c.message_id == _CITED.c.message_id) & (_CHECK.c.document_id == _CITED.c.document_id)

# Built once: SQLAlchemy keeps the compiled form with the statement.
_UNCHECKED = (
    select(
        _MESSAGE.c.conversation_id,
        _CITED.c.message_id,
        _CITED.c.document_id,
        _CHECK.c.checked_revision,
        _LIVE.label("live_revision"),
        ((_CHECK.c.message_id.is_not(None)) & _CHECK.c.checked_revision.is_(None)).label("is_old"),
    )
    .select_from(
        _CITED.join(_MESSAGE, _MESSAGE.c.id == _CITED.c.message_id)
        .outerjoin(_CHECK, _SAME_CITED)
        .outerjoin(_DOCUMENT, _DOCUMENT.c.id == _CITED.c.document_id)
    )
    .where(or_(_CHECK.c.checked_revision.is_(None), _CHECK.c.checked_revision != _LIVE))
    .order_by(_MESSAGE.c.conversation_id, _MESSAGE.c.sequence, _CITED.c.document_id)
)
_TEXTS = (
    select(_DOCUMENT.c.revision, _PAGE.c.number, _PAGE.c.text)
    .select_from(_DOCUMENT.outerjoin(_PAGE, _PAGE.c.document_id == _DOCUMENT.c.id))
    .where(_DOCUMENT.c.id == bindparam("wanted"), _DOCUMENT.c.revision.is_not(None))
)
# Locks the row against other processes: the second one finds everything recorded.
_LOCK = select(_CONVERSATION.c.id).where(_CONVERSATION.c.id == bindparam("wanted")).with_for_update()
_OF_MESSAGES: Any = bindparam("messages", expanding=True)
_KNOWN = select(_CHECK).where(_CHECK.c.message_id.in_(_OF_MESSAGES))
_CITES = select(_CITED).where(_CITED.c.message_id.in_(_OF_MESSAGES))
_FORGET = delete(_CHECK).where(
    _CHECK.c.message_id == bindparam("message"), _CHECK.c.document_id == bindparam("document")
)
_ADD = insert(_CHECK)
_LOST_OF = select(_CHECK.c.lost).where(_CHECK.c.message_id == bindparam("message"))
_MARK = (
    update(_MESSAGE)
    .where(_MESSAGE.c.id.in_(_OF_MESSAGES))
    .values(stale=select(_CHECK.c.lost).where(_CHECK.c.message_id == _MESSAGE.c.id, _CHECK.c.lost != []).exists())
)
_DUE = (
    select(_CHECK.c.note_id, _CHECK.c.message_id, *_CONVERSATION.c)
    .select_from(
        _CHECK.join(_MESSAGE, _MESSAGE.c.id == _CHECK.c.message_id).join(
            _CONVERSATION, _CONVERSATION.c.id == _MESSAGE.c.conversation_id
        )
    )
    .where(_CHECK.c.note_id.is_not(None))
    .order_by(_CHECK.c.note_id, _MESSAGE.c.sequence)
)
_DONE = update(_CHECK).where(_CHECK.c.note_id == bindparam("done")).values(note_id=None)
_STALE_CONVERSATIONS = (
    select(_CONVERSATION)
    .where(
        _CONVERSATION.c.workspace == bindparam("in_workspace"),
        _CONVERSATION.c.id.in_(select(_MESSAGE.c.conversation_id).where(_MESSAGE.c.stale)),
    )
    .order_by(_CONVERSATION.c.last_message_at.desc(), _CONVERSATION.c.id)
)
_STALE_MESSAGES = (
    select(_MESSAGE)
    .where(_MESSAGE.c.conversation_id == bindparam("wanted"), _MESSAGE.c.stale)
    .order_by(_MESSAGE.c.sequence)
)


class SqlStaleRepository:
    """StaleRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_unchecked(self) -> list[Unchecked]:
        rows = await self._database.rows(_UNCHECKED)
        return [Unchecked(**{**row._mapping, "is_old": bool(row.is_old)}) for row in rows]

    async def live_texts(self, document_id: str) -> LiveTexts | None:
        rows = await self._database.rows(_TEXTS, {"wanted": document_id})
        if not rows:
            return None
        texts = {row.number: row.text for row in rows if row.number is not None}
        return LiveTexts(revision=rows[0].revision, texts=texts)

    async def record(self, conversation_id: str, checked: Sequence[Checked], note_id: str) -> bool:
        def work(connection: Connection) -> bool:
            if connection.execute(_LOCK, {"wanted": conversation_id}).one_or_none() is None:
                return False
            return _record(connection, checked, note_id)

        return await self._database.write(work)

    async def due_notes(self) -> list[DueNote]:
        conversations: dict[str, Conversation] = {}
        messages: dict[str, list[str]] = {}
        for row in await self._database.rows(_DUE):
            conversations[row.note_id] = to_conversation(row)
            messages.setdefault(row.note_id, []).append(row.message_id)
        return [
            DueNote(id=id, conversation=conversation, message_ids=tuple(dict.fromkeys(messages[id])))
            for id, conversation in conversations.items()
        ]

    async def note_done(self, note_id: str) -> None:
        await self._database.change(_DONE, {"done": note_id})

    async def list_stale(self, workspace: str, conversation_id: str | None = None) -> list[StaleAnswer]:
        wanted = {"in_workspace": workspace}
        query = _STALE_CONVERSATIONS
        if conversation_id is not None:
            query, wanted = query.where(_CONVERSATION.c.id == bindparam("only")), {**wanted, "only": conversation_id}

        def work(connection: Connection) -> list[StaleAnswer]:
            return [
                StaleAnswer(
                    conversation=to_conversation(conversation),
                    message=to_message(message),
                    lost=_to_lost(connection.execute(_LOST_OF, {"message": message.id}).scalars()),
                )
                for conversation in connection.execute(query, wanted).all()
                for message in connection.execute(_STALE_MESSAGES, {"wanted": conversation.id}).all()
            ]

        return await self._database.read(work)


def _record(connection: Connection, checked: Sequence[Checked], note_id: str) -> bool:
    """Store the comparisons of one conversation; return whether any is news for people."""
    of_messages = {"messages": sorted({item.message_id for item in checked})}
    known = {(row.message_id, row.document_id): row for row in connection.execute(_KNOWN, of_messages)}
    cited = {(row.message_id, row.document_id) for row in connection.execute(_CITES, of_messages)}
    fresh: list[dict[str, Any]] = []
    has_news = False
    for item in checked:
        key = item.message_id, item.document_id
        before = known.get(key)
        if (before.checked_revision if before else None) != item.was or key not in cited:
            continue
        is_news = bool(item.lost) and not (before and before.lost) and not item.is_old
        has_news = has_news or is_news
        row = {
            "message_id": item.message_id,
            "document_id": item.document_id,
            "checked_revision": item.revision,
            "note_id": note_id if is_news else before.note_id if before else None,
            "lost": [[quote.number, quote.fate.value] for quote in item.lost],
        }
        fresh.append(row)
    if fresh:
        connection.execute(_FORGET, [{"message": row["message_id"], "document": row["document_id"]} for row in fresh])
        connection.execute(_ADD, fresh)
        connection.execute(_MARK, of_messages)
    return has_news


def _to_lost(rows: Iterable[Sequence[Any]]) -> tuple[LostQuote, ...]:
    quotes = (LostQuote(number=number, fate=Fate(fate)) for lost in rows for number, fate in lost)
    return tuple(sorted(quotes, key=lambda quote: quote.number))
