"""All that is stored of a person, or of a workspace, deleted by one commit.

Where rows of others name a person, and in the audit log, a random pseudonym takes their place.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, or_, select, update

from core.answering.answers.stored import stored_ids
from core.domain.audit import AuditNote, Deed
from core.domain.conversation import Role
from core.domain.erasure import ErasedPerson, ErasedWorkspace
from core.domain.identity import PersonOnPlatform
from core.domain.incoming import PRIVATE_THREAD
from core.domain.service import SHOWN, WITHDRAWN, InboxStatus
from core.work.history import title_from
from storage.database import Commit, Database
from storage.database.repositories.audit import write_note
from storage.database.repositories.conversation_rows import to_address
from storage.database.repositories.inbox_rows import (
    GONE,
    INBOX,
    JOBS,
    REMOVALS,
    basis_of,
    empty_entries,
    from_payload,
    queue_removals,
    remove_thread_posts,
)
from storage.database.repositories.library_reads import parts
from storage.database.repositories.revisions import DOCUMENT_READERS
from storage.database.tables import METADATA, TABLES
from storage.text import to_storable, to_storable_value

_TALK, _MESSAGE, _FEEDBACK, _POSITION, _WINDOW, _TURN, _CALL = (
    TABLES[name]
    for name in (
        *("conversation", "message", "feedback", "reading_position"),
        *("question_window", "queue_turn", "model_call"),
    )
)
_CHANNEL = TABLES["channel_settings"]
_ADDITION, _KEPT, _AUDIT, _LISTENING, _SUMMARY, _CASSETTE, _INSTALLATION = (
    TABLES[name]
    for name in (
        *("addition", "kept_answer", "audit_entry", "thread_listening"),
        *("summary", "cassette", "installation"),
    )
)
_TOKEN, _SESSION, _PERSON, _TEAM, _SOURCE, _PROGRESS = (
    TABLES[name] for name in ("api_token", "web_session", "web_person", "platform_team", "source", "ingest_progress")
)
_M = _MESSAGE.c
# Tables whose rows are not simply deleted with their workspace.
_NOT_SIMPLE = frozenset({"inbox", "audit_entry", "model_call", "platform_team", "source", "conversation"})


class SqlErasure:
    """Erasure on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open_messages(self, workspace: str, person: PersonOnPlatform | None) -> list[tuple[str, bool]]:
        query = select(INBOX.c.message_key, INBOX.c.owner.is_not(None)).where(INBOX.c.workspace == workspace)
        if person is not None:
            query = query.where(INBOX.c.platform == person.platform, INBOX.c.author == person.id)
        return [(row[0], bool(row[1])) for row in await self._database.rows(query.where(INBOX.c.finished_at.is_(None)))]

    async def erase_person(self, person: PersonOnPlatform, pseudonym: str, by: str, now: datetime) -> ErasedPerson:
        known = to_storable_value(person)
        found = await self._database.write(
            lambda connection: _ErasedPerson(connection, known, pseudonym, by).erase(now),
            Commit.DURABLE,
            is_shared=False,
        )
        await self._database.erase_log()
        return found

    async def erase_workspace(
        self, workspace: str, pseudonym: str, by: str, now: datetime, posted: Collection[str]
    ) -> ErasedWorkspace:
        found = await self._database.write(
            lambda connection: _erase_workspace(connection, to_storable(workspace), pseudonym, by, now, posted),
            Commit.DURABLE,
            is_shared=False,
        )
        await self._database.erase_log()
        return found


class _ErasedPerson:
    """The work of one transaction."""

    def __init__(self, connection: Connection, person: PersonOnPlatform, pseudonym: str, by: str) -> None:
        self._connection = connection
        self._person = person
        self._pseudonym = pseudonym
        self._by = by
        self._here = (_TALK.c.workspace == person.workspace, _TALK.c.platform == person.platform)
        self._received = (INBOX.c.workspace == person.workspace, INBOX.c.platform == person.platform)

    def erase(self, now: datetime) -> ErasedPerson:
        _end_open(self._connection, (*self._received, INBOX.c.author == self._person.id), now)
        rows = self._rows(select(INBOX).where(*self._received, INBOX.c.author == self._person.id))
        names = self._own_names(rows)
        addresses, questions = self._take_turns(rows, names)
        self._empty_received(names)
        self._forget_marks()
        self._forget_accounts()
        self._rename()
        posts = [row.seq for row in rows if row.post_ref]
        note = AuditNote(
            workspace=self._person.workspace, actor=self._by, deed=Deed.PERSON_REMOVED, about=self._pseudonym
        )
        write_note(self._connection, note)
        return ErasedPerson(conversations=tuple(addresses), questions=questions, posts=len(posts))

    def _rows(self, query: Any) -> Sequence[Any]:
        return self._connection.execute(query).all()

    def _own_names(self, rows: Iterable[Any]) -> set[str]:
        """Return the names under which messages are stored, except names of other people."""
        own = {from_payload(row.incoming).author_name or row.author for row in rows}
        if self._person.platform == "web":
            own |= {row.name for row in self._rows(select(_PERSON.c.name).where(_PERSON.c.author == self._person.id))}
        own |= {self._person.id}
        others = self._rows(select(INBOX.c.author, INBOX.c.incoming).where(*self._received).distinct())
        return own - {
            from_payload(row.incoming).author_name or row.author for row in others if row.author != self._person.id
        } | {self._person.id}

    def _take_turns(self, rows: Sequence[Any], names: Collection[str]) -> tuple[list[Any], int]:
        """Delete the turns that they asked, and the conversations that are left without any question."""
        asked = {stored_ids(from_payload(row.incoming)).question for row in rows}
        talks = {row.id: row for row in self._rows(select(_TALK).where(*self._here))}
        mine: dict[str, list[str]] = {}
        said = select(_M.id, _M.conversation_id, _M.author).join(_TALK).where(*self._here, _M.role == Role.USER.value)
        for row in self._rows(said):
            if row.id in asked or row.author in names:
                mine.setdefault(row.conversation_id, []).append(row.id)
        gone = []
        owned = [id for id, talk in talks.items() if talk.owner == self._person.id]
        for id in dict.fromkeys((*mine, *owned)):
            if not self._keep_others(talks[id], frozenset(mine.get(id, ()))):
                gone.append(to_address(talks[id]))
        return gone, sum(map(len, mine.values()))

    def _keep_others(self, talk: Any, mine: Collection[str]) -> bool:
        """Delete their turns of a conversation; all of it, and return False, if nobody else asked there."""
        messages = self._rows(
            select(_M.id, _M.role, _M.author, _M.job_id, _M.content)
            .where(_M.conversation_id == talk.id)
            .order_by(_M.sequence)
        )
        is_mine = False
        lost: list[Any] = []
        left: list[Any] = []
        for row in messages:
            is_mine = row.id in mine if row.role == Role.USER.value else is_mine
            (lost if is_mine else left).append(row)
        _delete_trees(self._connection, [row.job_id for row in lost if row.job_id])
        others = [row for row in left if row.role == Role.USER.value]
        if not others:
            self._connection.execute(delete(_TALK).where(_TALK.c.id == talk.id))
            remove_thread_posts(self._connection, to_address(talk))
            return False
        for some in parts([row.id for row in lost]):
            self._connection.execute(delete(_MESSAGE).where(_M.id.in_(some)))
        spoken = sum(row.role != Role.TOOL_RESULT.value for row in left)
        changed: dict[str, Any] = {"message_count": spoken}
        if talk.owner == self._person.id:  # its title is their question
            changed |= {"owner": self._pseudonym, "title": title_from(others[0].content)}
        self._connection.execute(update(_TALK).where(_TALK.c.id == talk.id).values(**changed))
        self._connection.execute(delete(_SUMMARY).where(_SUMMARY.c.conversation_id == talk.id))
        in_talk = select(_M.id).where(_M.conversation_id == talk.id)  # recordings hold the turns before
        self._connection.execute(delete(_CASSETTE).where(_CASSETTE.c.message_id.in_(in_talk)))
        return True

    def _empty_received(self, names: Collection[str]) -> None:
        """Empty the entries of their messages, take the posts of the answers back, and rename them in all entries."""
        id, pseudonym = self._person.id, self._pseudonym
        posted = empty_entries(self._connection, self._received[0] & self._received[1] & (INBOX.c.author == id))
        quoting = self._rows(select(INBOX.c.seq, INBOX.c.incoming).where(*self._received, INBOX.c.code == SHOWN.code))
        queue_removals(
            self._connection, [*posted, *(row.seq for row in quoting if basis_of(row.incoming).get("people"))]
        )
        private = f"{PRIVATE_THREAD}{id}"
        for row in self._rows(select(INBOX).where(*self._received)):
            incoming, changed = dict(row.incoming), {}
            if row.author == id:
                incoming |= {"author": pseudonym, "author_name": ""}
                incoming["metadata"] = incoming["metadata"] if row.post_ref else {}
                changed["author"] = pseudonym
            if row.cancelled_by == id:
                changed["cancelled_by"] = pseudonym
            if (incoming.get("about") or {}).get("author") in names:
                incoming["about"] = None
            if incoming["address"]["thread"] == private:
                incoming["address"] = {**incoming["address"], "thread": f"{PRIVATE_THREAD}{pseudonym}"}
                changed["thread"] = row.thread.removesuffix(private) + f"{PRIVATE_THREAD}{pseudonym}"
            if changed or incoming != row.incoming:
                statement = update(INBOX).where(INBOX.c.seq == row.seq)
                self._connection.execute(statement.values(**changed, incoming=incoming))

    def _forget_marks(self) -> None:
        """Delete ratings, reading positions, places in queues and limits, and settings of private threads."""
        person, execute = self._person, self._connection.execute
        in_talks = select(_M.id).join(_TALK).where(*self._here)
        execute(delete(_FEEDBACK).where(_FEEDBACK.c.author == person.id, _FEEDBACK.c.message_id.in_(in_talks)))
        execute(delete(_POSITION).where(_POSITION.c.workspace == person.workspace, _POSITION.c.person == person.id))
        for table in (_WINDOW, _TURN):
            named = (
                table.c.key == f"person {person.account}",
                table.c.key.startswith(f"person {person.account} in ", autoescape=True),
                table.c.key.endswith(f" told {person.account}", autoescape=True),
            )
            execute(delete(table).where(table.c.workspace == person.workspace, or_(*named)))
        private = _LISTENING.c.thread == f"{PRIVATE_THREAD}{person.id}"
        execute(delete(_LISTENING).where(_LISTENING.c.workspace == person.workspace, private))
        set_by = (_CHANNEL.c[name] == getattr(person, name) for name in ("workspace", "platform"))
        execute(update(_CHANNEL).where(*set_by, _CHANNEL.c.auto_answer_by == person.id).values(auto_answer_by=""))

    def _forget_accounts(self) -> None:
        """Delete their sign-ins at the web app and their tokens for the API, which are for all workspaces."""
        if self._person.platform == "web":
            self._connection.execute(delete(_SESSION).where(_SESSION.c.person == self._person.id))
            self._connection.execute(delete(_PERSON).where(_PERSON.c.author == self._person.id))
        if self._person.platform == "api":
            self._connection.execute(delete(_TOKEN).where(_TOKEN.c.person == self._person.id))

    def _rename(self) -> None:
        """Put the pseudonym in place of the person where rows belong to the team: costs, documents, the audit log."""
        person, pseudonym, execute = self._person, self._pseudonym, self._connection.execute
        calls = (_CALL.c.workspace == person.workspace, _CALL.c.person == person.account)
        execute(update(_CALL).where(*calls).values(person=pseudonym))
        for table in (_ADDITION, _KEPT):
            here = (table.c.workspace == person.workspace, table.c.platform == person.platform)
            for role in ("author", "decided_by"):
                named = {role: pseudonym, f"{role}_name": ""}
                execute(update(table).where(*here, table.c[role] == person.id).values(**named))
        installed = (_INSTALLATION.c.platform == person.platform, _INSTALLATION.c.installed_by == person.id)
        execute(update(_INSTALLATION).where(*installed).values(installed_by=pseudonym))
        self._rename_in_readers()
        word = re.compile(rf"(?<!\w){re.escape(person.id)}(?!\w)")
        for row in self._rows(select(_AUDIT).where(_AUDIT.c.workspace == person.workspace)):
            actor = pseudonym if row.actor == person.id else row.actor
            about = word.sub(pseudonym, row.about)
            if (actor, about) != (row.actor, row.about):
                execute(update(_AUDIT).where(_AUDIT.c.id == row.id).values(actor=actor, about=about))

    def _rename_in_readers(self) -> None:
        """Put the pseudonym into lists of readers: an empty list would mean something else."""
        word, nobody = f"person:{self._person.id}", f"person:{self._pseudonym}"
        in_workspace = select(_SOURCE.c.id).where(_SOURCE.c.workspace == self._person.workspace)
        for table, key, here in (
            (_SOURCE, _SOURCE.c.id, _SOURCE.c.id.in_(in_workspace)),
            (DOCUMENT_READERS, DOCUMENT_READERS.c.document_id, DOCUMENT_READERS.c.source_id.in_(in_workspace)),
            (_KEPT, _KEPT.c.id, _KEPT.c.workspace == self._person.workspace),
        ):
            for row in self._rows(select(key, table.c.readers).where(here)):
                readers = _put(row.readers, word, nobody)
                if readers != row.readers:
                    self._connection.execute(update(table).where(key == row[0]).values(readers=readers))


def _put(readers: list[Any], word: str, other: str) -> list[Any]:
    """Return a list of readers, or of lists of them, with another word in place of one."""
    return [_put(item, word, other) if isinstance(item, list) else other if item == word else item for item in readers]


def _erase_workspace(
    connection: Connection, workspace: str, pseudonym: str, by: str, now: datetime, posted: Collection[str]
) -> ErasedWorkspace:
    """Delete all rows of a workspace but its sources', which their files and the search index go before."""
    _end_open(connection, (INBOX.c.workspace == workspace,), now)
    here = _TALK.c.workspace == workspace
    conversations = connection.execute(select(func.count()).select_from(_TALK).where(here)).scalar_one()
    connection.execute(delete(_TALK).where(here))
    posts = _keep_posts(connection, workspace, posted)
    sources = select(_SOURCE.c.id).where(_SOURCE.c.workspace == workspace)
    connection.execute(delete(_PROGRESS).where(_PROGRESS.c.source_id.in_(sources)))
    for table in METADATA.sorted_tables:
        if "workspace" in table.c and table.name not in _NOT_SIMPLE:
            connection.execute(delete(table).where(table.c.workspace == workspace))
    connection.execute(update(_TEAM).where(_TEAM.c.workspace == workspace).values(workspace=None))
    is_left_own = _TEAM.c.platform + "-" + _TEAM.c.id == workspace
    connection.execute(delete(_TEAM).where(is_left_own, _TEAM.c.is_connected.is_(False), _TEAM.c.workspace.is_(None)))
    nameless = {"workspace": pseudonym, "channel": "", "person": "", "answer": ""}
    connection.execute(update(_CALL).where(_CALL.c.workspace == workspace).values(**nameless))
    noted = _AUDIT.c.workspace == workspace
    connection.execute(update(_AUDIT).where(noted).values(workspace=pseudonym, about=""))
    write_note(connection, AuditNote(workspace=pseudonym, actor=by, deed=Deed.WORKSPACE_REMOVED))
    return ErasedWorkspace(conversations=conversations, posts=posts)


def _keep_posts(connection: Connection, workspace: str, posted: Collection[str]) -> int:
    """Delete the entries of a workspace; those with a post stay, empty, until it is taken back."""
    here = INBOX.c.workspace == workspace
    empty_entries(connection, here)
    with_post = (here, INBOX.c.post_ref.is_not(None), INBOX.c.post_ref != "", INBOX.c.platform.in_(posted))
    seqs = [*connection.execute(select(INBOX.c.seq).where(*with_post)).scalars()]
    queue_removals(connection, seqs)
    connection.execute(delete(INBOX).where(here, INBOX.c.seq.not_in(select(REMOVALS.c.seq))))
    connection.execute(update(INBOX).where(here).values(code=GONE, sentence="", error=None, final_error=None))
    return len(seqs)


def _end_open(connection: Connection, which: Sequence[Any], now: datetime) -> None:
    """End all open entries; workers have stopped, or had time to."""
    ended = {"status": InboxStatus.CANCELLED.value, "finished_at": now, "owner": None, "lease_until": None}
    connection.execute(
        update(INBOX)
        .where(*which, INBOX.c.finished_at.is_(None))
        .values(**ended, waits_until=None, cancelled_by=WITHDRAWN)
    )


def _delete_trees(connection: Connection, roots: Sequence[str]) -> None:
    for some in parts(roots):
        connection.execute(delete(JOBS).where(JOBS.c.root_id.in_(some)))
