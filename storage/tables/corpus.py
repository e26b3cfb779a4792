"""The tables, as SQLModel classes. A change here goes with a revision in storage/migrations (a test compares the two).

Source -> document -> page -> passage, and conversation -> message -> message_document: deleting the left deletes the
right. What a row can take from the row it belongs to it does not repeat: a document's workspace is its source's, a
passage's document, revision and page number are its page's. Only one revision of a document is ever stored.

A passage keeps its own text, although `substr(page.text, start, length)` would give it: a database walks the page's
text from its beginning for each, which takes seconds on long ones. The check of their lengths holds the two together.

Long texts are the last columns: SQLite reads a row from the left and leaves out the tail that nobody asked for.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Index, MetaData, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from core.domain.answer import AnswerStatus
from core.domain.conversation import Role
from core.domain.feedback import Rating
from core.domain.inbox import InboxStatus
from core.domain.jobs import JobKind, JobStatus
from storage.tables.column_types import CompactJson, StorableText, UtcTime

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class FootnoteTable(SQLModel):
    """Base of all tables: their own metadata, so that nobody else's SQLModel classes get into the migrations."""

    metadata = MetaData(naming_convention=_NAMES)


def _one_of(column: str, values: type[StrEnum]) -> CheckConstraint:
    listed = ", ".join(f"'{value.value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def _key(**options: Any) -> Any:
    return Field(primary_key=True, sa_type=StorableText, **options)


def _text(**options: Any) -> Any:
    return Field(sa_type=StorableText, **options)


def _json(**options: Any) -> Any:
    return Field(sa_type=CompactJson, **options)


def _time(**options: Any) -> Any:
    return Field(sa_type=UtcTime, **options)


class SourceRow(FootnoteTable, table=True):
    __tablename__ = "source"
    __table_args__ = (UniqueConstraint("workspace", "name"),)

    id: str = _key()
    workspace: str = _text()
    name: str = _text()
    kind: str = _text()
    location: str = _text()
    link_template: str | None = _text(default=None)


class DocumentRow(FootnoteTable, table=True):
    """A document; `pages` and `passages` count the rows of its live revision."""

    __tablename__ = "document"
    __table_args__ = (
        UniqueConstraint("source_id", "path"),
        CheckConstraint("pages >= 0 AND passages >= 0", name="counts"),
        CheckConstraint("revision IS NOT NULL OR (pages = 0 AND passages = 0)", name="revision"),
        CheckConstraint("(stamp_size IS NULL) = (stamp_modified_ns IS NULL) AND stamp_size >= 0", name="stamp"),
    )

    id: str = _key()
    source_id: str = _text(foreign_key="source.id", ondelete="CASCADE")
    path: str = _text()
    title: str = _text()
    kind: str = _text()
    revision: str | None = _text(default=None)
    url: str | None = _text(default=None)
    pages: int = 0
    passages: int = 0
    stamp_size: int | None = Field(default=None, sa_type=BigInteger)
    stamp_modified_ns: int | None = Field(default=None, sa_type=BigInteger)
    crawled_at: datetime | None = _time(default=None)
    extracted_at: datetime | None = _time(default=None)
    failed_reason: str | None = _text(default=None)
    aliases: list[str] = _json()
    depends_on: list[str] = _json()


class PageRow(FootnoteTable, table=True):
    """A page. `headings` is [[level, title, start], ...], `anchors` [[name, place], ...]; old ones have no `place`."""

    __tablename__ = "page"
    __table_args__ = (UniqueConstraint("document_id", "number"), CheckConstraint("number >= 1", name="number"))

    id: str = _key()
    document_id: str = _text(foreign_key="document.id", ondelete="CASCADE")
    revision: str = _text()
    number: int
    title: str = _text()
    deep_link: str | None = _text(default=None)
    heading_path: list[str] = _json()
    headings: list[list[int | str]] = _json()
    anchors: list[list[int | str]] = _json()
    place: dict[str, int | str] | None = _json(default=None)
    text: str = _text()


class PassageRow(FootnoteTable, table=True):
    """A passage. `sentences` is flat: [start, end, start, end, ...], offsets in the page."""

    __tablename__ = "passage"
    __table_args__ = (
        CheckConstraint("ordinal >= 0", name="ordinal"),
        CheckConstraint("span_start >= 0 AND span_end >= span_start", name="span"),
        CheckConstraint("length(text) = span_end - span_start", name="text"),
    )

    id: str = _key()
    page_id: str = _text(foreign_key="page.id", ondelete="CASCADE", index=True)
    ordinal: int
    span_start: int
    span_end: int
    heading_path: list[str] = _json()
    sentences: list[int] = _json()
    text: str = _text()


class ConversationRow(FootnoteTable, table=True):
    """A conversation. Its messages' sequence numbers have gaps where some were removed.

    The document ids are no foreign keys: a removed document leaves its conversations readable (`forget_document`).
    """

    __tablename__ = "conversation"
    __table_args__ = (
        UniqueConstraint("platform", "workspace", "channel", "thread"),
        CheckConstraint("message_count >= 0", name="message_count"),
        CheckConstraint(
            "(focus_document_id IS NULL) = (focus_touched_at IS NULL)"
            " AND (focus_document_id IS NULL) = (focus_document IS NULL)"
            " AND (focus_document_id IS NULL) = (focus_title IS NULL)",
            name="focus",
        ),
        Index(None, "workspace", "last_message_at"),
    )

    id: str = _key()
    platform: str = _text()
    workspace: str = _text()
    channel: str = _text()
    thread: str = _text()
    title: str = _text()
    owner: str = _text()
    created_at: datetime = _time()
    last_message_at: datetime = _time()
    message_count: int = 0
    pinned_document_id: str | None = _text(default=None)
    focus_document_id: str | None = _text(default=None)
    focus_document: str | None = _text(default=None)
    focus_title: str | None = _text(default=None)
    focus_touched_at: datetime | None = _time(default=None)
    focus_sections: list[str] = _json()


class MessageRow(FootnoteTable, table=True):
    """A message; `sequence` counts from 1 in its conversation, in the order of arrival."""

    __tablename__ = "message"
    __table_args__ = (
        UniqueConstraint("conversation_id", "sequence"),
        CheckConstraint("sequence >= 1", name="sequence"),
        _one_of("role", Role),
        _one_of("status", AnswerStatus),
    )

    id: str = _key()
    conversation_id: str = _text(foreign_key="conversation.id", ondelete="CASCADE")
    sequence: int
    role: str = _text()
    author: str = _text()
    status: str | None = _text(default=None)
    job_id: str | None = _text(default=None)
    stale: bool = False
    created_at: datetime = _time()
    content: str = _text()
    references: list[Any] = _json()
    citations: list[Any] = _json()
    tool_calls: list[Any] = _json()
    outcome: dict[str, Any] | None = _json(default=None)


class MessageDocumentRow(FootnoteTable, table=True):
    """A document that a message cites: what finds conversations by document without reading JSON."""

    __tablename__ = "message_document"

    message_id: str = _key(foreign_key="message.id", ondelete="CASCADE")
    document_id: str = _key(index=True)


class FeedbackRow(FootnoteTable, table=True):
    """One person's rating of an answer."""

    __tablename__ = "feedback"
    __table_args__ = (_one_of("rating", Rating),)

    message_id: str = _key(foreign_key="message.id", ondelete="CASCADE")
    author: str = _key()
    rating: str = _text()
    created_at: datetime = _time()


class JobRow(FootnoteTable, table=True):
    """A job. Parent and root are no foreign keys: steps of a tree that run side by side are saved as they end."""

    __tablename__ = "job"
    __table_args__ = (
        _one_of("kind", JobKind),
        _one_of("status", JobStatus),
        CheckConstraint("attempts >= 0", name="attempts"),
        CheckConstraint("(parent_id IS NULL) = (root_id = id)", name="root"),
        Index(None, "workspace", "created_at"),
    )

    id: str = _key()
    workspace: str = _text()
    root_id: str = _text(index=True)
    parent_id: str | None = _text(default=None)
    kind: str = _text()
    name: str = _text()
    status: str = _text()
    attempts: int = 1
    created_at: datetime = _time()
    started_at: datetime | None = _time(default=None)
    completed_at: datetime | None = _time(default=None)
    error: str | None = _text(default=None)
    input: dict[str, Any] = _json()
    output: dict[str, Any] = _json()


class InboxRow(FootnoteTable, table=True):
    """A received event with the decision about it; `seq` is the order inside a thread.

    Open rows (not finished) of a thread are answered one by one: the partial index finds each thread's first.
    """

    __tablename__ = "inbox"
    __table_args__ = (
        _one_of("status", InboxStatus),
        CheckConstraint("(finished_at IS NULL) = (status IN ('queued', 'running'))", name="finished"),
        CheckConstraint("(owner IS NULL) = (lease_until IS NULL)", name="lease"),
        CheckConstraint("attempts >= 0 AND failures >= 0", name="attempts"),
        Index(None, "workspace", "seq"),
        Index(None, "thread", "seq"),
        Index(
            "ix_inbox_open",
            "thread",
            "seq",
            sqlite_where=text("finished_at IS NULL"),
            postgresql_where=text("finished_at IS NULL"),
        ),
    )

    seq: int | None = Field(default=None, primary_key=True)
    event_key: str = _text(unique=True)
    message_key: str = _text(index=True)
    workspace: str = _text()
    platform: str = _text()
    thread: str = _text()
    author: str = _text()
    status: str = _text()
    code: str = _text()
    sentence: str = _text()
    created_at: datetime = _time()
    finished_at: datetime | None = _time(default=None)
    owner: str | None = _text(default=None)
    lease_until: datetime | None = _time(default=None)
    waits_until: datetime | None = _time(default=None)
    attempts: int = 0
    failures: int = 0
    error: str | None = _text(default=None)
    final_error: str | None = _text(default=None)
    cancelled_by: str | None = _text(default=None)
    post_ref: str | None = _text(default=None)
    incoming: dict[str, Any] = _json()
