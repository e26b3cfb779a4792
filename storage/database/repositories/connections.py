"""Citations by document in SQL."""

from collections.abc import Callable

from sqlalchemy import bindparam, func, select

from core.domain.features import CitedIn
from core.domain.incoming import ThreadAddress
from storage.database import Database
from storage.database.repositories.conversation_rows import ADDRESS, to_address
from storage.database.tables import TABLES
from storage.text import to_storable

_CONVERSATION, _MESSAGE, _CITED = (TABLES[name] for name in ("conversation", "message", "message_document"))
_COLUMNS = (_CONVERSATION.c.id, *(_CONVERSATION.c[name] for name in ADDRESS), _CITED.c.document_id)
_BY_CONVERSATION = (
    select(*_COLUMNS, func.count().label("answers"))
    .select_from(
        _CITED.join(_MESSAGE, _MESSAGE.c.id == _CITED.c.message_id).join(
            _CONVERSATION, _CONVERSATION.c.id == _MESSAGE.c.conversation_id
        )
    )
    .where(_CONVERSATION.c.workspace == bindparam("in_workspace"))
    .group_by(*_COLUMNS)
)


class SqlCitedRepository:
    """CitedRepository on a Database. `is_private` recognises the threads of one person."""

    def __init__(self, database: Database, is_private: Callable[[ThreadAddress], bool]) -> None:
        self._database = database
        self._is_private = is_private

    async def cited(self, workspace: str, document_id: str | None = None) -> list[CitedIn]:
        statement = _BY_CONVERSATION
        if document_id is not None:
            statement = statement.where(_CITED.c.document_id == to_storable(document_id))
        rows = await self._database.rows(statement, {"in_workspace": to_storable(workspace)})
        found = [
            CitedIn(
                conversation_id=row.id,
                document_id=row.document_id,
                answers=row.answers,
                is_private=self._is_private(to_address(row)),
            )
            for row in rows
        ]
        return sorted(found, key=lambda item: (item.conversation_id, item.document_id))
