"""Stored summaries in SQL."""

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select

from core.domain.service import SummaryKey, SummaryKind
from storage.database import Commit, Database
from storage.database.repositories.library_reads import parts
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
_SUBJECT: Any = bindparam("wanted")
_IN_WORKSPACE: Any = bindparam("in_workspace")
# Locks keep the subject until the summary is stored.
_SUBJECTS: Mapping[str, Any] = {
    "document_id": select(_DOCUMENT.c.id)
    .select_from(_DOCUMENT.join(_SOURCE))
    .where(_DOCUMENT.c.id == _SUBJECT, _SOURCE.c.workspace == _IN_WORKSPACE)
    .with_for_update(key_share=True, of=_DOCUMENT),
    "page_id": select(_PAGE.c.id)
    .select_from(_PAGE.join(_DOCUMENT).join(_SOURCE))
    .where(_PAGE.c.id == _SUBJECT, _SOURCE.c.workspace == _IN_WORKSPACE)
    .with_for_update(key_share=True, of=_PAGE),
    "conversation_id": select(_CONVERSATION.c.id)
    .where(_CONVERSATION.c.id == _SUBJECT, _CONVERSATION.c.workspace == _IN_WORKSPACE)
    .with_for_update(key_share=True),
}
_SUBJECTS_ASKED: Any = bindparam("subjects", expanding=True)
_FIND = select(_C.kind, _C.subject, _C.revision, _C.text).where(
    _C.workspace == _IN_WORKSPACE, _C.subject.in_(_SUBJECTS_ASKED)
)
_REMOVE = delete(_SUMMARY).where(_C.workspace == _IN_WORKSPACE, _C.subject == _SUBJECT)


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
        owner, stored = _OWNERS[key.kind], asdict(to_storable_value(key)) | {"kind": key.kind.value, "text": text}
        values = {**dict.fromkeys(_SUBJECTS), **stored, owner: stored["subject"]}
        wanted = {"wanted": stored["subject"], "in_workspace": stored["workspace"]}

        def work(connection: Connection) -> None:
            if connection.execute(_SUBJECTS[owner], wanted).first() is not None:
                connection.execute(self._database.upsert(_SUMMARY), values)

        await self._database.write(work, Commit.RECORD)

    async def remove(self, workspace: str, subject: str) -> None:
        wanted = {"in_workspace": to_storable(workspace), "wanted": to_storable(subject)}
        await self._database.change(_REMOVE, wanted)
