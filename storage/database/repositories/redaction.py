"""Answers that rest on removed documents, emptied by the transaction that removes the documents.

An answer rests on its footnotes and on all that its model read (Provenance). Its question stays, as it is a person's.
All else of the turn goes: text, quotes, tool texts, steps, recordings, summaries of the conversation, and its post,
which the worker replaces by REDACTED. An answer whose footnotes all lead to other documents keeps its text and its
post, and loses the rest. Posts that are no answers (InboxStore.note_shown, additions) are replaced, too.
A document whose content is in the library under another path of its source was moved: its answers stay.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    type_coerce,
    update,
)

from core.answering.answers.stored import stored_ids
from core.answering.grounding import UNSUPPORTED_MARK
from core.answering.redaction import REDACTED
from core.domain.additions import AdditionState
from core.domain.answer import AnswerStatus
from core.domain.conversation import Role
from core.domain.corpus import Document
from core.domain.incoming import NOTE_ON, IncomingMessage, ThreadAddress
from core.domain.jobs import JobKind
from core.domain.service import LOST, SHOWN, InboxStatus, SummaryKind
from storage.database.column_types import StorableText
from storage.database.repositories.conversation_rows import FOCUS, to_address
from storage.database.repositories.inbox_rows import (
    INBOX,
    JOBS,
    basis_of,
    from_payload,
    queue_removals,
    to_values,
)
from storage.database.repositories.library_reads import parts
from storage.database.repositories.revisions import DOCUMENT, SOURCE
from storage.database.tables import TABLES

_TALK, _MESSAGE, _CITED, _CHECK, _CASSETTE, _CASSETTE_OF, _SUMMARY, _ADDITION = (
    TABLES[name]
    for name in (
        *("conversation", "message", "message_document", "citation_check"),
        *("cassette", "cassette_document", "summary", "addition"),
    )
)
_M = _MESSAGE.c
# Up to so many ids are looked for inside of the stored JSON by the database; more make decoding all of it cheaper.
FEW = 8
WORK = (JobKind.INGEST.value, JobKind.SYNC.value, JobKind.EXTRACTION.value)
_IO = ("input", "output")
_EMPTY: Mapping[str, Any] = {
    "content": REDACTED,
    "status": AnswerStatus.REFUSED.value,
    "stale": False,
    "references": [],
    "citations": [],
    "tool_calls": [],
    "outcome": None,
}
_SHRINK = (
    update(_TALK)
    .where(_TALK.c.id == bindparam("wanted"))
    .values(message_count=_TALK.c.message_count - bindparam("removed"))
)
_ANSWERS = select(_M.id, _M.conversation_id, type_coerce(_M.outcome, StorableText).label("outcome")).where(
    _M.role == Role.ASSISTANT.value, _M.outcome.is_not(None)
)
_TURNS = select(_M.id, _M.conversation_id, _M.role, _M.job_id, _M.outcome, _M.citations, _M.references, _M.content)
# Id of an answer -> its conversation's, and whether it cites or lists a removed document or only read it.
Resting: TypeAlias = dict[str, tuple[str, bool]]
_NO_FOCUS: Mapping[str, Any] = {f"focus_{name}": [] if name == "sections" else None for name in FOCUS}


@dataclass(frozen=True, slots=True)
class _Turn:
    """The deleted and the emptied parts of one turn."""

    emptied: tuple[str, ...]  # ids of answers
    cleared: tuple[str, ...]  # ids of answers that keep their text
    deleted: tuple[tuple[str, bool], ...]  # ids of tool results and notes, and whether each counts as a message
    jobs: tuple[str, ...]  # ids of the roots of job trees


def forget(connection: Connection, documents: Sequence[Document], *, sources: Collection[str] = ()) -> None:
    """Empty answers that rest on documents, or list a source (by id), which the same transaction removes."""
    removed, gone = {document.id for document in documents}, frozenset(sources)
    documents = [document for document in documents if not _is_moved(connection, document, removed)]
    for some in parts([document.id for document in documents]):
        pinned, focused = (_TALK.c[f"{kind}_document_id"].in_(some) for kind in ("pinned", "focus"))
        connection.execute(update(_TALK).where(pinned).values(pinned_document_id=None))
        connection.execute(update(_TALK).where(focused).values(**_NO_FOCUS))
        recorded = select(_CASSETTE_OF.c.message_id).where(_CASSETTE_OF.c.document_id.in_(some))
        connection.execute(delete(_CASSETTE).where(_CASSETTE.c.message_id.in_(recorded)))
    found = find_resting(connection, documents, sources=sources)
    ids = frozenset(document.id for document in documents)
    _empty(connection, found, ids)
    _lose_shown(connection, lambda of, lists: not (ids.isdisjoint(of) and gone.isdisjoint(lists)))
    _forget_additions(connection, ids)
    _forget_work(connection, documents)


def count_about(connection: Connection, documents: Sequence[Document]) -> int:
    """Count the conversations that are pinned to documents, focused on them, or have answers that rest on them."""
    found = {talk for talk, _ in find_resting(connection, documents).values()}
    for some in parts([document.id for document in documents]):
        about = or_(*(_TALK.c[f"{kind}_document_id"].in_(some) for kind in ("pinned", "focus")))
        found |= set(connection.execute(select(_TALK.c.id).where(about)).scalars())
    return len(found)


def find_resting(connection: Connection, documents: Sequence[Document], *, sources: Collection[str] = ()) -> Resting:
    """Return the answers that rest on documents, or list a source."""
    found: Resting = {}
    ids = frozenset(document.id for document in documents)
    for some in parts(sorted(ids)):
        cites = select(_M.id, _M.conversation_id).join(_CITED).where(_CITED.c.document_id.in_(some))
        found |= {row.id: (row.conversation_id, True) for row in connection.execute(cites)}
    for workspace in {document.workspace for document in documents}:
        here = [document for document in documents if document.workspace == workspace]
        found = _find_by_provenance(connection, workspace, here, frozenset(sources)) | found
    if sources and not documents:
        for (workspace,) in connection.execute(select(SOURCE.c.workspace).where(SOURCE.c.id.in_(sources)).distinct()):
            found |= _find_by_provenance(connection, workspace, (), frozenset(sources))
    return found


def redact_lost(connection: Connection) -> int:
    """Empty answers that rest on removed documents, such as one stored just after the removal.

    Returns the number of answers.
    """
    documents = set(connection.execute(select(DOCUMENT.c.id)).scalars())
    live = set(connection.execute(select(DOCUMENT.c.revision)).scalars())
    cited = select(_M.id, _M.conversation_id, _M.citations, _CITED.c.document_id).join(_CITED)
    found: Resting = {}
    gone: set[str] = set()
    moved: set[str] = set()
    for row in connection.execute(cited):
        if row.document_id not in documents:
            quoted = [item for item in row.citations if item["document_id"] == row.document_id]
            if quoted and all(item["revision"] in live for item in quoted):
                moved.add(row.document_id)
            else:
                found[row.id] = row.conversation_id, True
                gone.add(row.document_id)
    for row in connection.execute(_ANSWERS):
        lost = {*_basis(row.outcome).get("documents", ())} - documents - moved
        if lost:
            found.setdefault(row.id, (row.conversation_id, False))
            gone |= lost
    _empty(connection, found, frozenset(gone))
    known = set(connection.execute(select(SOURCE.c.id)).scalars())
    _lose_shown(connection, lambda of, lists: not (of <= documents and lists <= known))
    return len(found)


def _lose_shown(connection: Connection, is_lost: Callable[[set[str], set[str]], bool]) -> None:
    """Have posts that are no answers taken back, by the ids of the documents and the sources that they rest on."""
    lost = []
    for row in connection.execute(select(INBOX.c.seq, INBOX.c.incoming).where(INBOX.c.code == SHOWN.code)):
        basis = basis_of(row.incoming)
        if is_lost({*basis.get("documents", ())}, {*basis.get("sources", ())}):
            lost.append(row.seq)
    for seqs in parts(lost):
        connection.execute(update(INBOX).where(INBOX.c.seq.in_(seqs)).values(code=LOST))
        queue_removals(connection, seqs)


def _forget_additions(connection: Connection, documents: Collection[str]) -> None:
    """Forget how documents were added through a chat, and have the posts about it taken back."""
    ended = _ADDITION.c.state.in_([state.value for state in (AdditionState.READ, AdditionState.FAILED)])
    for ids in parts(sorted(documents)):
        gone = delete(_ADDITION).where(_ADDITION.c.document_id.in_(ids), ended).returning(*_ADDITION.c)
        for row in connection.execute(gone).all():
            if row.post_ref:
                address = ThreadAddress(
                    platform=row.platform, workspace=row.workspace, channel=row.channel, thread=row.thread
                )
                key = f"{address}:addition-{row.id}"
                post = IncomingMessage(
                    address=address, author=row.author, text="", event_key=key, message_key=key, metadata=row.details
                )
                values = to_values(post, SHOWN, row.changed_at or row.created_at)
                values |= {"code": LOST, "status": InboxStatus.DONE.value, "finished_at": values["created_at"]}
                added = insert(INBOX).values(**values, post_ref=row.post_ref).returning(INBOX.c.seq)
                queue_removals(connection, [connection.execute(added).scalar_one()])


def _forget_work(connection: Connection, documents: Sequence[Document]) -> None:
    """Empty the jobs that read documents: they name paths. After more than FEW removals, all jobs of the kind."""
    for workspace in {document.workspace for document in documents}:
        here = [document for document in documents if document.workspace == workspace]
        of_work = (JOBS.c.workspace == workspace, JOBS.c.kind.in_(WORK), JOBS.c.completed_at.is_not(None))
        columns = (JOBS.c.id, JOBS.c.name, JOBS.c.error, *(type_coerce(JOBS.c[name], StorableText) for name in _IO))
        names = [json.dumps(name, ensure_ascii=False)[1:-1].casefold() for name in _names(here) if name]
        named = [
            row.id
            for row in connection.execute(select(*columns).where(*of_work))
            if len(here) > FEW or any(name in " ".join(map(str, row)).casefold() for name in names)
        ]
        for ids in parts(named):
            emptied: dict[str, Any] = {"name": JOBS.c.kind, "input": {}, "output": {}, "error": None}
            connection.execute(update(JOBS).where(JOBS.c.id.in_(ids)).values(**emptied))


def _is_moved(connection: Connection, document: Document, removed: Collection[str]) -> bool:
    """Return whether another document of its source has the same content, and stays."""
    if document.revision is None:
        return False
    same = DOCUMENT.c.revision == document.revision, DOCUMENT.c.source_id == document.source_id
    found = connection.execute(select(DOCUMENT.c.id).where(*same).limit(len(removed) + 1)).scalars()
    return any(id not in removed for id in found)


def _find_by_provenance(
    connection: Connection, workspace: str, documents: Sequence[Document], sources: frozenset[str]
) -> Resting:
    ids = frozenset(document.id for document in documents)
    listed: dict[str, list[Document]] = {}  # by source
    for document in documents:
        listed.setdefault(document.source_id, []).append(document)
    wanted = sorted({*ids, *listed, *sources})
    query = _ANSWERS.join(_TALK).where(_TALK.c.workspace == workspace)
    if len(wanted) <= FEW:
        query = query.where(or_(*(type_coerce(_M.outcome, StorableText).contains(id) for id in wanted)))
    found: Resting = {}
    for row in connection.execute(query).all():
        basis = _basis(row.outcome)
        lists = frozenset(basis.get("sources", ()))
        named = [document for source in lists & listed.keys() for document in listed[source]]
        if not sources.isdisjoint(lists) or _names_one(connection, row, named):
            found[row.id] = row.conversation_id, True
        elif not ids.isdisjoint(basis.get("documents", ())):
            found[row.id] = row.conversation_id, False
    return found


def _basis(outcome: str) -> Mapping[str, Sequence[str]]:
    return json.loads(outcome).get("rests_on") or {}


def _names_one(connection: Connection, answer: Row[Any], documents: Sequence[Document]) -> bool:
    """Return whether a turn with lists of documents names one of these."""
    if not documents:
        return False
    turns = _load_turns(connection, [answer.conversation_id])
    turn = next(turn for turn in turns if any(row.id == answer.id for row in turn))
    texts = select(_M.content, type_coerce(_M.tool_calls, StorableText)).where(
        _M.id.in_([row.id for row in turn if row.role != Role.USER.value])
    )
    said = "\n".join(text for row in connection.execute(texts) for text in row).casefold()
    return any(name and json.dumps(name, ensure_ascii=False)[1:-1].casefold() in said for name in _names(documents))


def _names(documents: Iterable[Document]) -> Iterable[str]:
    for document in documents:
        yield from (document.path, document.title, *document.aliases)


def _empty(connection: Connection, answers: Resting, documents: frozenset[str]) -> None:
    """Empty the turns of these answers, with all that was derived from them; they lose `documents`."""
    for some in parts(sorted({talk for talk, _ in answers.values()})):
        turns = [turn for rows in _load_turns(connection, some) if (turn := _to_turn(rows, answers, documents))]
        for turn in turns:
            _empty_turn(connection, turn, documents)
        for talk, removed in _count_removed(connection, some, turns).items():
            connection.execute(_SHRINK, {"wanted": talk, "removed": removed})
        emptied = {id for turn in turns for id in turn.emptied}
        kinds = [SummaryKind.ROLLING.value, SummaryKind.THREAD.value]
        derived = (_SUMMARY.c.conversation_id.in_(some), _SUMMARY.c.kind.in_(kinds))
        connection.execute(delete(_SUMMARY).where(*derived))
        queue_removals(connection, _entries_of(connection, some, emptied))
        deleted = [id for turn in turns for id, _ in turn.deleted]
        for ids in parts(deleted):
            connection.execute(delete(_MESSAGE).where(_M.id.in_(ids)))


def _load_turns(connection: Connection, conversations: Sequence[str]) -> list[list[Any]]:
    """Return the messages of conversations, split before each question."""
    turns: list[list[Any]] = []
    query = _TURNS.where(_M.conversation_id.in_(conversations)).order_by(_M.conversation_id, _M.sequence)
    last = None
    for row in connection.execute(query):
        if row.role == Role.USER.value or row.conversation_id != last:
            turns.append([])
        turns[-1].append(row)
        last = row.conversation_id
    return turns


def _to_turn(rows: Sequence[Any], answers: Resting, documents: frozenset[str]) -> _Turn | None:
    """Return the changes of a turn; None if all of it stays."""
    notes = [row for row in rows if (row.outcome or {}).get("note_on")]
    about = [row for row in notes if not set(row.outcome["note_on"]).isdisjoint(answers)]
    if not any(row.id in answers for row in rows):
        deleted = tuple((row.id, True) for row in about)
        return _Turn(emptied=(), cleared=(), deleted=deleted, jobs=()) if about else None
    said = [row for row in rows if row.role == Role.ASSISTANT.value and row not in notes]
    tools = [row for row in rows if row.role == Role.TOOL_RESULT.value]
    ids = tuple(row.id for row in said)
    stays = all(_stays(row, documents) for row in said if row.id in answers and not answers[row.id][1]) and not any(
        answers[row.id][1] for row in said if row.id in answers
    )
    return _Turn(
        emptied=() if stays else ids,
        cleared=ids if stays else (),
        deleted=(*((row.id, False) for row in tools), *((row.id, True) for row in (() if stays else notes))),
        jobs=tuple(row.job_id for row in said if row.job_id),
    )


def _stays(answer: Any, documents: frozenset[str]) -> bool:
    """Return whether footnotes, which lead to other documents, back all that an answer says and its post shows."""
    shown = {item.get("document_id") for item in answer.references or ()}
    return bool(answer.citations) and UNSUPPORTED_MARK not in answer.content and shown.isdisjoint(documents)


def _empty_turn(connection: Connection, turn: _Turn, documents: frozenset[str]) -> None:
    here: Any = bindparam("ids", value=[*turn.emptied], expanding=True)
    connection.execute(update(_MESSAGE).where(_M.id.in_(here)).values(**_EMPTY))
    for table in (_CITED, _CHECK):
        connection.execute(delete(table).where(table.c.message_id.in_(here)))
    both: Any = bindparam("both", value=[*turn.emptied, *turn.cleared], expanding=True)
    connection.execute(delete(_CASSETTE).where(_CASSETTE.c.message_id.in_(both)))
    for id, outcome in connection.execute(select(_M.id, _M.outcome).where(_M.id.in_(turn.cleared))).all():
        basis = (outcome or {}).get("rests_on") or {}
        left = [item for item in basis.get("documents", ()) if item not in documents]
        without = outcome and {**outcome, "rests_on": {**basis, "documents": left}, "suggestions": []}
        values: dict[str, Any] = {"outcome": without, "tool_calls": [], "references": []}
        connection.execute(update(_MESSAGE).where(_M.id == id).values(**values))
    connection.execute(delete(JOBS).where(JOBS.c.root_id.in_(turn.jobs)))


def _count_removed(connection: Connection, conversations: Sequence[str], turns: Sequence[_Turn]) -> dict[str, int]:
    """Count the notes that go, by conversation."""
    spoken = [id for turn in turns for id, counts in turn.deleted if counts]
    if not spoken:
        return {}
    counted = select(_M.conversation_id, func.sum(case((_M.id.in_(spoken), 1), else_=0)))
    rows = connection.execute(counted.where(_M.conversation_id.in_(conversations)).group_by(_M.conversation_id))
    return {talk: int(count) for talk, count in rows if count}


def _entries_of(connection: Connection, conversations: Sequence[str], answers: Collection[str]) -> list[int]:
    """Return the inbox entries of answers and of notes on them; empty the messages that these were about.

    An answer is mostly in its conversation's thread, but a question may also resume one of another place.
    """
    talks = connection.execute(select(_TALK).where(_TALK.c.id.in_(conversations))).all()
    found, known = _matching(connection, INBOX.c.thread.in_([str(to_address(row)) for row in talks]), answers)
    if left := set(answers) - known:
        stored = type_coerce(INBOX.c.incoming, StorableText)
        for talk in talks:
            named = stored.contains(f'"conversation_id":"{talk.id}"', autoescape=True)
            found += _matching(connection, (INBOX.c.workspace == talk.workspace) & named, left)[0]
    return found


def _matching(
    connection: Connection, which: ColumnElement[bool], answers: Collection[str]
) -> tuple[list[int], set[str]]:
    found: list[int] = []
    known: set[str] = set()
    for row in connection.execute(select(INBOX.c.seq, INBOX.c.incoming).where(which)).all():
        incoming = from_payload(row.incoming)
        answer = stored_ids(incoming).answer
        if answer in answers or not set(incoming.metadata.get(NOTE_ON, "").split()).isdisjoint(answers):
            found.append(row.seq)
            known.add(answer)
            if incoming.about is not None:
                emptied = {**row.incoming, "about": None}
                connection.execute(update(INBOX).where(INBOX.c.seq == row.seq).values(incoming=emptied))
    return found, known
