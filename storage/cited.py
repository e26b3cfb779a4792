"""Which documents answers cite, in SQL."""

from sqlalchemy import bindparam, func, select

from core.domain.connections import CitedIn
from core.domain.conversation import PRIVATE_THREAD
from storage.database import Database
from storage.storable import to_storable
from storage.tables import FootnoteTable

_CONVERSATION, _MESSAGE, _CITED = (
    FootnoteTable.metadata.tables[name] for name in ("conversation", "message", "message_document")
)
_BY_CONVERSATION = (
    select(_CONVERSATION.c.id, _CONVERSATION.c.thread, _CITED.c.document_id, func.count().label("answers"))
    .select_from(
        _CITED.join(_MESSAGE, _MESSAGE.c.id == _CITED.c.message_id).join(
            _CONVERSATION, _CONVERSATION.c.id == _MESSAGE.c.conversation_id
        )
    )
    .where(_CONVERSATION.c.workspace == bindparam("in_workspace"))
    .group_by(_CONVERSATION.c.id, _CONVERSATION.c.thread, _CITED.c.document_id)
)


class SqlCitedRepository:
    """CitedRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def cited(self, workspace: str) -> list[CitedIn]:
        wanted = {"in_workspace": to_storable(workspace)}
        rows = await self._database.read_rows(lambda connection: connection.execute(_BY_CONVERSATION, wanted).all())
        return sorted(
            (
                CitedIn(
                    conversation_id=row.id,
                    document_id=row.document_id,
                    answers=row.answers,
                    is_private=row.thread.startswith(PRIVATE_THREAD),
                )
                for row in rows
            ),
            key=lambda item: (item.conversation_id, item.document_id),
        )
