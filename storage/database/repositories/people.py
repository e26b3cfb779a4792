"""The rows about one person, of all tables, in SQL: for a file that they may have."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, Select, bindparam, func, or_, select

from core.domain.conversation import Role
from core.domain.identity import PersonOnPlatform
from storage.database import Database
from storage.database.tables import TABLES
from storage.text import to_storable

_TALK, _SAID, _INBOX, _RATED, _READ, _ADDED, _KEPT, _CALL, _DEED, _SET, _HEARD, _VISIT, _SOURCE = (
    TABLES[name].c
    for name in (
        *("conversation", "message", "inbox", "feedback", "reading_position", "addition", "kept_answer"),
        *("model_call", "audit_entry", "channel_settings", "channel_message", "channel_visit", "source"),
    )
)
_PERSON: BindParameter[str] = bindparam("person")


def _here(columns: Any) -> tuple[ColumnElement[bool], ...]:
    """In the person's workspace and on their platform."""
    return columns.workspace == bindparam("workspace"), columns.platform == bindparam("platform")


def _in_channels() -> tuple[ColumnElement[bool], ...]:
    """In live channels of the person's workspace and platform."""
    return _SOURCE.workspace == bindparam("workspace"), _SOURCE.location.startswith(bindparam("platform") + ":")


# Without answers: the person may have lost the right to read them.
_QUERIES: Mapping[str, Select[Any]] = {
    "conversations": select(
        *(_TALK.id, _TALK.channel, _TALK.thread, _TALK.title, _TALK.created_at, _TALK.last_message_at)
    )
    .where(*_here(_TALK), _TALK.owner == _PERSON)
    .order_by(_TALK.created_at, _TALK.id),
    "messages": select(_SAID.id, _SAID.conversation_id, _SAID.created_at, _SAID.author, _SAID.content)
    .join(TABLES["conversation"], _TALK.id == _SAID.conversation_id)
    .where(*_here(_TALK), _TALK.owner == _PERSON, _SAID.role == Role.USER.value)
    .order_by(_SAID.created_at, _SAID.id),
    "received": select(
        *(_INBOX.created_at, _INBOX.channel, _INBOX.thread, _INBOX.status, _INBOX.code, _INBOX.sentence),
        _INBOX.incoming,
    )
    .where(*_here(_INBOX), _INBOX.author == _PERSON)
    .order_by(_INBOX.seq),
    "ratings": select(_RATED.message_id, _RATED.rating, _RATED.reason, _RATED.created_at)
    .join(TABLES["message"], _SAID.id == _RATED.message_id)
    .join(TABLES["conversation"], _TALK.id == _SAID.conversation_id)
    .where(*_here(_TALK), _RATED.author == _PERSON)
    .order_by(_RATED.created_at, _RATED.message_id),
    "reading_positions": select(_READ.channel, _READ.document_id, _READ.last_page)
    .where(_READ.workspace == bindparam("workspace"), _READ.person == _PERSON)
    .order_by(_READ.channel, _READ.document_id),
    "shadow_modes": select(_SET.channel, _SET.auto_answer, _SET.auto_answer_since)
    .where(*_here(_SET), _SET.auto_answer_by == _PERSON)
    .order_by(_SET.channel),
    "documents_added": select(
        *(_ADDED.created_at, _ADDED.channel, _ADDED.thread, _ADDED.author_name, _ADDED.kind, _ADDED.name, _ADDED.state)
    )
    .where(*_here(_ADDED), _ADDED.author == _PERSON)
    .order_by(_ADDED.created_at, _ADDED.id),
    "said_and_kept": select(
        *(_KEPT.created_at, _KEPT.channel, _KEPT.thread, _KEPT.said_by_name, _KEPT.state, _KEPT.expires_at, _KEPT.text)
    )
    .where(*_here(_KEPT), _KEPT.said_by == _PERSON)
    .order_by(_KEPT.created_at, _KEPT.id),
    "proposed_or_decided": select(_KEPT.id, _KEPT.created_at, _KEPT.channel, _KEPT.state)
    .where(*_here(_KEPT), or_(_KEPT.author == _PERSON, _KEPT.decided_by == _PERSON))
    .order_by(_KEPT.created_at, _KEPT.id),
    "said_in_channels": select(_HEARD.said_at, _SOURCE.name, _HEARD.author_name, _HEARD.text, _HEARD.link)
    .join(TABLES["source"], _SOURCE.id == _HEARD.source_id)
    .where(*_in_channels(), _HEARD.author == _PERSON)
    .order_by(_HEARD.said_at, _HEARD.id),
    "seen_in_channels": select(_VISIT.seen_at, _SOURCE.name)
    .join(TABLES["source"], _SOURCE.id == _VISIT.source_id)
    .where(*_in_channels(), _VISIT.person == _PERSON)
    .order_by(_VISIT.seen_at, _SOURCE.name),
    "model_calls": select(
        *(_CALL.day, _CALL.model, func.count().label("calls")),
        *(func.sum(_CALL.input_tokens + _CALL.output_tokens).label("tokens"),),
        *(func.sum(_CALL.cost_micros).label("cost_micros"),),
    )
    .where(_CALL.workspace == bindparam("workspace"), _CALL.person == bindparam("account"))
    .group_by(_CALL.day, _CALL.model)
    .order_by(_CALL.day, _CALL.model),
    "audit_log": select(_DEED.done_at, _DEED.deed, _DEED.about)
    .where(_DEED.workspace == bindparam("workspace"), _DEED.actor == _PERSON)
    .order_by(_DEED.id),
}


class SqlPersonRecords:
    """See PersonRecords."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, person: PersonOnPlatform) -> dict[str, list[dict[str, Any]]]:
        values = {
            "workspace": to_storable(person.workspace),
            "platform": to_storable(person.platform),
            "person": to_storable(person.id),
            "account": to_storable(person.account),
        }

        def work(connection: Connection) -> dict[str, list[dict[str, Any]]]:
            return {
                name: [_to_record(dict(row)) for row in connection.execute(query, values).mappings()]
                for name, query in _QUERIES.items()
            }

        return await self._database.read(work)


def _to_record(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row; of a received message its text and the name that the person had."""
    incoming = row.pop("incoming", None)
    said = {"name": incoming.get("author_name", ""), "text": incoming.get("text", "")} if incoming else {}
    return row | said
