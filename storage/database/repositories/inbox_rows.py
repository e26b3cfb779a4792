"""Rows of the inbox: their JSON, their texts, and the posts that are still to be taken back from their platforms."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, insert, or_, select, update

from core.answering.answers.stored import stored_ids
from core.domain.answer import Provenance, QueryType
from core.domain.incoming import Attachment, Circumstances, IncomingMessage, RepliesTo, Talk, ThreadAddress
from core.domain.service import LOST, SHOWN, Decision, InboxStatus, PostFate
from storage.database.column_types import UtcTime
from storage.database.tables import TABLES

INBOX, REMOVALS, JOBS, _MESSAGES, _TALKS = (
    TABLES[name] for name in ("inbox", "post_removal", "job", "message", "conversation")
)
_C = INBOX.c
GONE = "gone"  # code of an entry that only waits for its post to be taken back: its person or workspace was removed
RESTS_ON = "rests_on"  # in the metadata of posts like SHOWN, as JSON
IS_SHOWN = _C.code.in_((SHOWN.code, LOST))

RECEIVED = (
    "event_key", "message_key", "workspace", "platform", "thread", "channel", "author", "status", "code", "sentence",
    "created_at", "finished_at", "incoming",
)  # fmt: skip

_LATER = INBOX.alias("later")
# A newer version of the message, whose answer is in the same post, or will be.
_NEWER = select(_LATER.c.seq).where(_LATER.c.message_key == _C.message_key, _LATER.c.seq > _C.seq)
_IS_REPLACED = _NEWER.where(_LATER.c.post_ref.is_not(None)).exists()
_IS_BEING_REPLACED = _NEWER.where(_LATER.c.finished_at.is_(None)).exists()
REMOVALS_DUE = (
    select(INBOX, _IS_REPLACED.label("is_replaced"))
    .join(REMOVALS, REMOVALS.c.seq == _C.seq)
    .where(
        _C.platform.in_(bindparam("platforms", expanding=True)),
        _C.finished_at.is_not(None),
        ~_IS_BEING_REPLACED,
        or_(REMOVALS.c.waits_until.is_(None), REMOVALS.c.waits_until <= bindparam("now", type_=UtcTime)),
    )
    .order_by(_C.seq)
)
_STORED = select(_MESSAGES.c.id).where(_MESSAGES.c.id.in_(bindparam("ids", expanding=True)))
_T = _TALKS.c
# The post of an answer in the history: only its entry has its address, should it have to be taken back.
HAS_POST_TO_KEEP = and_(
    _C.post_ref.is_not(None),
    or_(
        IS_SHOWN,
        select(_T.id)
        .where(
            *(_T[name] == _C[name] for name in ("platform", "workspace", "channel")),
            _T.platform + ":" + _T.workspace + ":" + _T.channel + ":" + _T.thread == _C.thread,
        )
        .exists(),
    ),
)


def to_payload(incoming: IncomingMessage) -> dict[str, Any]:
    """Return the JSON of a received message."""
    about = incoming.about
    return _values_of(incoming) | {
        "address": _values_of(incoming.address),
        "circumstances": _values_of(incoming.circumstances),
        "attachments": [_values_of(item) for item in incoming.attachments],
        "about": _values_of(about) | {"said_at": about.said_at.isoformat()} if about is not None else None,
    }


def _values_of(item: IncomingMessage | ThreadAddress | Circumstances | Attachment | Talk) -> dict[str, Any]:
    """Return the fields by name: a fifth of the cost of `asdict`, which copies every value."""
    return {name: getattr(item, name) for name in item.__dataclass_fields__}


def to_values(incoming: IncomingMessage, decision: Decision, now: datetime) -> dict[str, Any]:
    """Return the columns RECEIVED of a message; the text of a refused one isn't kept."""
    unread = {} if decision.accepted else {"text": ""}
    return {
        "event_key": incoming.event_key,
        "message_key": incoming.message_key or incoming.event_key,
        "workspace": incoming.address.workspace,
        "platform": incoming.address.platform,
        "thread": str(incoming.address),
        "channel": incoming.address.channel,
        "author": incoming.author,
        "status": (InboxStatus.QUEUED if decision.accepted else InboxStatus.REFUSED).value,
        "code": decision.code,
        "sentence": decision.sentence,
        "created_at": now,
        "finished_at": None if decision.accepted else now,
        "incoming": to_payload(incoming) | unread,
    }


def from_payload(payload: Mapping[str, Any]) -> IncomingMessage:
    """Return the message in the JSON of a row; rows of earlier versions lack some fields."""
    how, about = payload.get("circumstances"), payload.get("about")
    known = Circumstances(**{**how, "replies_to": RepliesTo(how["replies_to"])}) if how else Circumstances()
    values = {
        **payload,
        "address": ThreadAddress(**payload["address"]),
        "query_type": QueryType(payload["query_type"]),
        "circumstances": known,
        "attachments": tuple(Attachment(**item) for item in payload.get("attachments", ())),
        "about": Talk(**{**about, "said_at": datetime.fromisoformat(about["said_at"])}) if about else None,
    }
    return IncomingMessage(**values)


def with_basis(shown: IncomingMessage, rests_on: Provenance, *, quotes_people: bool) -> IncomingMessage:
    """Return the message of a post like SHOWN, with all that it rests on."""
    basis = {"documents": rests_on.documents, "sources": rests_on.sources, "people": quotes_people}
    return replace(shown, metadata={**shown.metadata, RESTS_ON: json.dumps(basis)})


def basis_of(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the keys of `with_basis` from the JSON of a row."""
    found: Mapping[str, Any] = json.loads(payload["metadata"].get(RESTS_ON) or "{}")
    return found


def empty_entries(connection: Connection, which: ColumnElement[bool]) -> list[int]:
    """Empty the texts of finished entries, and delete their job trees; return the entries that have a post.

    Keys and decisions stay, so that a repeat of the event is still known.
    """
    posted: list[int] = []
    for row in connection.execute(select(_C.seq, _C.incoming, _C.post_ref).where(which, _C.finished_at.is_not(None))):
        root = stored_ids(from_payload(row.incoming)).request
        emptied = {**row.incoming, "text": "", "about": None, "attachments": []}
        connection.execute(update(INBOX).where(_C.seq == row.seq).values(incoming=emptied))
        connection.execute(delete(JOBS).where(JOBS.c.root_id == root))
        posted += [row.seq] if row.post_ref else []
    return posted


def remove_thread_posts(connection: Connection, address: ThreadAddress) -> None:
    """Empty a deleted conversation's entries, and have their posts deleted from the platform."""
    queue_removals(connection, empty_entries(connection, _C.thread == str(address)))


def queue_removals(connection: Connection, seqs: Collection[int]) -> None:
    """Have the posts of entries taken back, also future ones; repeats are safe."""
    known = connection.execute(select(REMOVALS.c.seq).where(REMOVALS.c.seq.in_(seqs))).scalars().all()
    if due := [{"seq": seq} for seq in sorted(set(seqs) - set(known))]:
        connection.execute(insert(REMOVALS), due)


def fates(connection: Connection, rows: Sequence[Any]) -> list[PostFate]:
    """Return the fate of the post of each of these rows of REMOVALS_DUE."""
    answers = [stored_ids(from_payload(row.incoming)).answer for row in rows]
    stored = set(connection.execute(_STORED, {"ids": answers}).scalars())
    return [_fate(row, answer in stored) for row, answer in zip(rows, answers, strict=True)]


def _fate(row: Any, has_answer: bool) -> PostFate:
    if row.is_replaced or not row.post_ref:
        return PostFate.STAYS
    return PostFate.REDACTED if has_answer or row.code == LOST else PostFate.DELETED


def drop_removal(connection: Connection, seq: int, fate: PostFate) -> None:
    """Note that a post was taken back; an entry that only waited for this goes, too."""
    connection.execute(delete(REMOVALS).where(REMOVALS.c.seq == seq))
    if fate is PostFate.DELETED:
        connection.execute(update(INBOX).where(_C.seq == seq).values(post_ref=None))
    connection.execute(delete(INBOX).where(_C.seq == seq, _C.code == GONE))
