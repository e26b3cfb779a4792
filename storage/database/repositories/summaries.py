"""Stored summaries in SQL."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import bindparam, delete, literal, null, select
from sqlalchemy.exc import IntegrityError

from core.domain.service import SummaryKey, SummaryKind
from storage.database import Commit, Database
from storage.database.repositories.corpus import parts
from storage.database.tables import TABLES
from storage.text import to_storable, to_storable_value

_SUMMARY = TABLES["summary"]
_C = _SUMMARY.c
_DOCUMENT, _PAGE, _SOURCE, _CONVERSATION = (TABLES[name] for name in ("document", "page", "source", "conversation"))

# The column that refers to the subject, by kind.
_OWNERS: Mapping[SummaryKind, str] = {
    SummaryKind.DOCUMENT_LINE: "document_id",
    SummaryKind.SECTION: "page_id",
    SummaryKind.ROLLING: "conversation_id",
    SummaryKind.THREAD: "conversation_id",
}
_SUBJECTS: Mapping[str, Any] = {
    "document_id": select(_DOCUMENT.c.id)
    .select_from(_DOCUMENT.join(_SOURCE))
    .where(_DOCUMENT.c.id == bindparam("wanted")),
    "page_id": select(_PAGE.c.id)
    .select_from(_PAGE.join(_DOCUMENT).join(_SOURCE))
    .where(_PAGE.c.id == bindparam("wanted")),
    "conversation_id": select(_CONVERSATION.c.id).where(_CONVERSATION.c.id == bindparam("wanted")),
}
_SUBJECTS_ASKED: Any = bindparam("subjects", expanding=True)
_FIND = select(_C.kind, _C.subject, _C.revision, _C.text).where(
    _C.workspace == bindparam("in_workspace"), _C.subject.in_(_SUBJECTS_ASKED)
)
_REMOVE = delete(_SUMMARY).where(_C.workspace == bindparam("in_workspace"), _C.subject == bindparam("wanted"))


class SqlSummaryRepository:
    """SummaryRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, keys: Collection[SummaryKey]) -> Mapping[SummaryKey, str]:
        asked = {to_storable_value(key): key for key in keys}
        subjects: dict[str, dict[str, None]] = {}  # by workspace, in order
        for key in asked:
            subjects.setdefault(key.workspace, {})[key.subject] = None
        found: dict[SummaryKey, str] = {}
        for workspace, wanted in subjects.items():
            for some in parts([*wanted]):
                for row in await self._database.rows(_FIND, {"in_workspace": workspace, "subjects": some}):
                    kind = SummaryKind(row.kind)
                    key = SummaryKey(workspace=workspace, kind=kind, subject=row.subject, revision=row.revision)
                    if key in asked:
                        found[asked[key]] = row.text
        return found

    async def save(self, key: SummaryKey, text: str) -> None:
        statement = _replacing(self._database.insert(_SUMMARY), to_storable_value(key), text)
        try:
            await self._database.change(statement, {"wanted": to_storable(key.subject)}, Commit.RECORD)
        except IntegrityError:
            return  # on PostgreSQL, the subject may be deleted between the check and the insert

    async def remove(self, workspace: str, subject: str) -> None:
        wanted = {"in_workspace": to_storable(workspace), "wanted": to_storable(subject)}
        await self._database.change(_REMOVE, wanted)


def _replacing(insert: Any, key: SummaryKey, text: str) -> Any:
    """Return an upsert on condition that the subject exists: one statement, as two processes may save at once."""
    owner = _OWNERS[key.kind]
    workspace = (_CONVERSATION if owner == "conversation_id" else _SOURCE).c.workspace
    subject = _SUBJECTS[owner].where(workspace == literal(key.workspace)).subquery()
    values = {
        "workspace": literal(key.workspace),
        "kind": literal(key.kind.value),
        "subject": subject.c.id,
        "revision": literal(to_storable(key.revision)),
        "document_id": null(),
        "page_id": null(),
        "conversation_id": null(),
        owner: subject.c.id,
        "text": literal(to_storable(text)),
    }
    rows = select(*values.values()).where(subject.c.id.is_not(None))  # SQLite needs a WHERE before ON CONFLICT
    statement = insert.from_select([*values], rows)
    others = {name: statement.excluded[name] for name in ("revision", "text")}
    return statement.on_conflict_do_update(index_elements=[*_SUMMARY.primary_key], set_=others)
