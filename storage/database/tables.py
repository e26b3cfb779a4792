"""The tables, as SQLModel classes. Source -> document -> page -> passage, conversation -> message: deleting cascades.

Each change needs a revision in storage/database/migrations; a test compares the two. Long texts are the last columns of
their table: SQLite reads a row from the left and skips the tail that a query does not ask for.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Index, LargeBinary, UniqueConstraint, text
from sqlmodel import Field

from core.domain.answer import AnswerStatus
from core.domain.conversation import Role
from core.domain.extracts import ExtractType
from core.domain.features import Rating
from core.domain.jobs import JobKind, JobStatus
from core.domain.service import AutoAnswer, FollowUps, InboxStatus, Listening, SummaryKind
from core.domain.sources import SyncResult
from storage.database import limit_tables as limit_tables
from storage.database import platform_tables
from storage.database.columns import FootnoteTable, json_column, key_column, one_of, text_column, time_column

OWN_THREADS = "own threads"  # channel of positions for a person's private threads; its row names no platform


class SourceRow(FootnoteTable, table=True):
    __table_args__ = (UniqueConstraint("workspace", "name"),)

    id: str = key_column()
    workspace: str = text_column()
    name: str = text_column()
    kind: str = text_column()
    location: str = text_column()
    link_template: str | None = text_column(default=None)
    readers: list[str] = json_column(sa_column_kwargs={"server_default": text("'[\"members\"]'")})


class DocumentRow(FootnoteTable, table=True):
    """A document; `pages` and `passages` count the rows of its live revision."""

    __table_args__ = (
        UniqueConstraint("source_id", "path"),
        CheckConstraint("pages >= 0 AND passages >= 0", name="counts"),
        CheckConstraint("revision IS NOT NULL OR (pages = 0 AND passages = 0)", name="revision"),
        CheckConstraint("(stamp_size IS NULL) = (stamp_modified_ns IS NULL) AND stamp_size >= 0", name="stamp"),
    )

    id: str = key_column()
    source_id: str = text_column(foreign_key="source.id", ondelete="CASCADE")
    path: str = text_column()
    title: str = text_column()
    kind: str = text_column()
    revision: str | None = text_column(default=None)
    url: str | None = text_column(default=None)
    pages: int = 0
    passages: int = 0
    stamp_size: int | None = Field(default=None, sa_type=BigInteger)
    stamp_modified_ns: int | None = Field(default=None, sa_type=BigInteger)
    crawled_at: datetime | None = time_column(default=None)
    extracted_at: datetime | None = time_column(default=None)
    failed_reason: str | None = text_column(default=None)
    aliases: list[str] = json_column()
    depends_on: list[str] = json_column()
    hidden: list[str] = json_column(sa_column_kwargs={"server_default": text("'[]'")})
    dated: str | None = text_column(default=None)


class DocumentReadersRow(FootnoteTable, table=True):
    """A document's own limits: its readers are among its source's, and among each list of readers.

    No foreign key to the document: they are set before it is read, and stay for it when it is removed and comes back.
    """

    document_id: str = key_column()
    source_id: str = text_column(foreign_key="source.id", ondelete="CASCADE")
    readers: list[list[str]] = json_column()


class PageRow(FootnoteTable, table=True):
    """A page. `headings` is [[level, title, start], ...], `anchors` [[name, place], ...]; old ones have no `place`."""

    __table_args__ = (UniqueConstraint("document_id", "number"), CheckConstraint("number >= 1", name="number"))

    id: str = key_column()
    document_id: str = text_column(foreign_key="document.id", ondelete="CASCADE")
    revision: str = text_column()
    number: int
    title: str = text_column()
    deep_link: str | None = text_column(default=None)
    heading_path: list[str] = json_column()
    headings: list[list[int | str]] = json_column()
    anchors: list[list[int | str]] = json_column()
    place: dict[str, int | str] | None = json_column(default=None)
    text: str = text_column()


class PassageRow(FootnoteTable, table=True):
    """A passage. `sentences` is flat: [start, end, start, end, ...], offsets in the page.

    It keeps its text: `substr(page.text, ...)` reads a page from the beginning, which takes seconds on long ones.
    """

    __table_args__ = (
        CheckConstraint("ordinal >= 0", name="ordinal"),
        CheckConstraint("span_start >= 0 AND span_end >= span_start", name="span"),
        CheckConstraint("length(text) = span_end - span_start", name="text"),
    )

    id: str = key_column()
    page_id: str = text_column(foreign_key="page.id", ondelete="CASCADE", index=True)
    ordinal: int
    span_start: int
    span_end: int
    heading_path: list[str] = json_column()
    sentences: list[int] = json_column()
    text: str = text_column()


class ConversationRow(FootnoteTable, table=True):
    """A conversation. Its messages' sequence numbers have gaps after removals.

    The document ids are no foreign keys: conversations stay readable when a document is removed.
    """

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

    id: str = key_column()
    platform: str = text_column()
    workspace: str = text_column()
    channel: str = text_column()
    thread: str = text_column()
    title: str = text_column()
    owner: str = text_column()
    created_at: datetime = time_column()
    last_message_at: datetime = time_column()
    message_count: int = 0
    pinned_document_id: str | None = text_column(default=None)
    focus_document_id: str | None = text_column(default=None)
    focus_document: str | None = text_column(default=None)
    focus_title: str | None = text_column(default=None)
    focus_touched_at: datetime | None = time_column(default=None)
    focus_sections: list[str] = json_column()


class MessageRow(FootnoteTable, table=True):
    """A message; `sequence` counts from 1 in its conversation, in the order of arrival."""

    __table_args__ = (
        UniqueConstraint("conversation_id", "sequence"),
        CheckConstraint("sequence >= 1", name="sequence"),
        one_of("role", Role),
        one_of("status", AnswerStatus),
    )

    id: str = key_column()
    conversation_id: str = text_column(foreign_key="conversation.id", ondelete="CASCADE")
    sequence: int
    role: str = text_column()
    author: str = text_column()
    status: str | None = text_column(default=None)
    job_id: str | None = text_column(default=None)
    stale: bool = False
    created_at: datetime = time_column()
    content: str = text_column()
    references: list[Any] = json_column()
    citations: list[Any] = json_column()
    tool_calls: list[Any] = json_column()
    outcome: dict[str, Any] | None = json_column(default=None)


class MessageDocumentRow(FootnoteTable, table=True):
    """A document that a message cites, to find conversations by document without reading JSON."""

    message_id: str = key_column(foreign_key="message.id", ondelete="CASCADE")
    document_id: str = key_column(index=True)


class InboxRow(FootnoteTable, table=True):
    """A received event with the decision about it; `seq` is the order inside a thread.

    Open rows (not finished) of a thread are answered one by one: the partial index finds each thread's first. `channel`
    is NULL in rows that ended before turns were fair.
    """

    __table_args__ = (
        one_of("status", InboxStatus),
        CheckConstraint("(finished_at IS NULL) = (status IN ('queued', 'running'))", name="finished"),
        CheckConstraint("(owner IS NULL) = (lease_until IS NULL)", name="lease"),
        CheckConstraint("attempts >= 0 AND failures >= 0", name="attempts"),
        Index(None, "workspace", "seq"),
        Index(None, "thread", "seq"),
        Index(None, "workspace", "channel", "code", "seq"),
        Index(
            "ix_inbox_open",
            "thread",
            "seq",
            sqlite_where=text("finished_at IS NULL"),
            postgresql_where=text("finished_at IS NULL"),
        ),
    )

    seq: int | None = Field(default=None, primary_key=True)
    event_key: str = text_column(unique=True)
    message_key: str = text_column(index=True)
    workspace: str = text_column()
    platform: str = text_column()
    thread: str = text_column()
    channel: str | None = text_column(default=None)
    author: str = text_column()
    status: str = text_column()
    code: str = text_column()
    sentence: str = text_column()
    created_at: datetime = time_column()
    finished_at: datetime | None = time_column(default=None)
    owner: str | None = text_column(default=None)
    lease_until: datetime | None = time_column(default=None)
    waits_until: datetime | None = time_column(default=None)
    attempts: int = 0
    failures: int = 0
    error: str | None = text_column(default=None)
    final_error: str | None = text_column(default=None)
    cancelled_by: str | None = text_column(default=None)
    post_ref: str | None = text_column(default=None)
    incoming: dict[str, Any] = json_column()


class PostRemovalRow(FootnoteTable, table=True):
    """An inbox entry whose post is still to be deleted from its platform, since its conversation was."""

    seq: int = Field(primary_key=True, foreign_key="inbox.seq", ondelete="CASCADE")
    waits_until: datetime | None = time_column(default=None)


class JobRow(FootnoteTable, table=True):
    """A job. Parent and root are no foreign keys: steps of a tree that run side by side are saved as they end."""

    __table_args__ = (
        one_of("kind", JobKind),
        one_of("status", JobStatus),
        CheckConstraint("attempts >= 0", name="attempts"),
        CheckConstraint("(parent_id IS NULL) = (root_id = id)", name="root"),
        Index(None, "workspace", "created_at"),
    )

    id: str = key_column()
    workspace: str = text_column()
    root_id: str = text_column(index=True)
    parent_id: str | None = text_column(default=None)
    kind: str = text_column()
    name: str = text_column()
    status: str = text_column()
    attempts: int = 1
    created_at: datetime = time_column()
    started_at: datetime | None = time_column(default=None)
    completed_at: datetime | None = time_column(default=None)
    error: str | None = text_column(default=None)
    input: dict[str, Any] = json_column()
    output: dict[str, Any] = json_column()


class ExtractionRow(FootnoteTable, table=True):
    """An extractor's last run over a document."""

    __table_args__ = (CheckConstraint("version >= 1 AND extracts >= 0", name="counts"),)

    document_id: str = key_column(foreign_key="document.id", ondelete="CASCADE")
    extractor: str = key_column()
    version: int
    revision: str = text_column()
    extracts: int
    extracted_at: datetime = time_column()
    error: str | None = text_column(default=None)
    warning: str | None = text_column(default=None)


class ExtractRow(FootnoteTable, table=True):
    """An extract. It goes with its page, and so with the revision; `last_page` is the last one that it tells of.

    `words` is its data as lower-case text, for filters.
    """

    __table_args__ = (
        one_of("type", ExtractType),
        CheckConstraint("span_start >= 0 AND span_end >= span_start", name="span"),
        CheckConstraint("confidence >= 0 AND confidence <= 1", name="confidence"),
        Index(None, "document_id", "extractor"),
        Index(None, "type"),
    )

    id: str = key_column()
    document_id: str = text_column(foreign_key="document.id", ondelete="CASCADE")
    page_id: str = text_column(foreign_key="page.id", ondelete="CASCADE", index=True)
    extractor: str = text_column()
    type: str = text_column()
    schema_name: str = text_column()
    last_page: int
    span_start: int
    span_end: int
    confidence: float
    words: str = text_column()
    data: dict[str, Any] = json_column()


class ModelReadingRow(FootnoteTable, table=True):
    """A model's reply about one piece of a document for one extractor; `said` is a list of JSON objects."""

    document_id: str = key_column(foreign_key="document.id", ondelete="CASCADE")
    piece: str = key_column()
    extractor: str = key_column()
    version: int
    read_at: datetime = time_column()
    said: list[Any] = json_column()
    error: str | None = text_column(default=None)


class ModelSpendingRow(FootnoteTable, table=True):
    """The extractors' use of models on one day (YYYY-MM-DD, UTC)."""

    day: str = key_column()
    requests: int
    tokens: int


class ChannelSettingsRow(FootnoteTable, table=True):
    """The settings of a channel. `sources` are names; NULL means all.

    `auto_answer_reported` isn't a setting: up to then the admin has reports of its shadow mode.
    """

    __table_args__ = (
        CheckConstraint("questions_per_minute >= 1", name="questions_per_minute"),
        one_of("follow_ups", FollowUps),
        one_of("auto_answer", AutoAnswer),
    )

    workspace: str = key_column()
    platform: str = key_column()
    channel: str = key_column()
    auto_answer: str = text_column(default=AutoAnswer.OFF.value)
    auto_answer_by: str = text_column(default="")
    auto_answer_since: datetime | None = time_column(default=None)
    auto_answer_reported: datetime | None = time_column(default=None)
    answer_posts: bool = False
    questions_per_minute: int | None = None
    language: str | None = text_column(default=None)
    strategy: str | None = text_column(default=None)
    sources: list[str] | None = json_column(default=None)
    follow_ups: str = text_column(default=FollowUps.ASKER.value)


class ThreadListeningRow(FootnoteTable, table=True):
    """Whether questions of a thread need a mention."""

    __table_args__ = (one_of("listening", Listening),)

    workspace: str = key_column()
    platform: str = key_column()
    channel: str = key_column()
    thread: str = key_column()
    listening: str = text_column()


class ReadingPositionRow(FootnoteTable, table=True):
    """The last readable page of a document: in a channel (`person` is empty), or for a person (platform is empty).

    Positions for a person's private threads have OWN_THREADS as their channel. 0 means that nothing was read.
    No foreign key: a document that is removed and ingested again keeps its id, and its spoilers.
    """

    __table_args__ = (CheckConstraint("last_page >= 0", name="last_page"),)

    workspace: str = key_column()
    platform: str = key_column()
    channel: str = key_column()
    person: str = key_column()
    document_id: str = key_column()
    last_page: int


class FeedbackRow(FootnoteTable, table=True):
    """One person's rating of an answer; `reason` is a FeedbackReason."""

    __table_args__ = (one_of("rating", Rating),)

    message_id: str = key_column(foreign_key="message.id", ondelete="CASCADE")
    author: str = key_column()
    rating: str = text_column()
    created_at: datetime = time_column()
    reason: str | None = text_column(default=None)


class CitationCheckRow(FootnoteTable, table=True):
    """The last comparison of an answer with a document that it cites; without a row, they were never compared.

    `checked_revision` is "" for a removed document, NULL for answers from before there were comparisons. `lost` is
    [[footnote, fate], ...]; `note_id` is a note that is due to report it.
    """

    message_id: str = key_column(foreign_key="message.id", ondelete="CASCADE")
    document_id: str = key_column(index=True)
    checked_revision: str | None = text_column(default=None)
    note_id: str | None = text_column(default=None, index=True)
    lost: list[Any] = json_column()


class SummaryRow(FootnoteTable, table=True):
    """The newest summary of a subject and kind.

    The id is stored once more in the column that refers to its table, so that it is deleted with its subject.
    """

    __table_args__ = (
        one_of("kind", SummaryKind),
        CheckConstraint("coalesce(document_id, page_id, conversation_id) = subject", name="subject"),
    )

    workspace: str = key_column()
    kind: str = key_column()
    subject: str = key_column()
    revision: str = text_column()
    document_id: str | None = text_column(default=None, foreign_key="document.id", ondelete="CASCADE", index=True)
    page_id: str | None = text_column(default=None, foreign_key="page.id", ondelete="CASCADE", index=True)
    conversation_id: str | None = text_column(
        default=None, foreign_key="conversation.id", ondelete="CASCADE", index=True
    )
    text: str = text_column()


class CassetteRow(FootnoteTable, table=True):
    """One run. `documents` counts those it has rows for: with fewer left, one was removed, and so is the run."""

    message_id: str = key_column(foreign_key="message.id", ondelete="CASCADE")
    workspace: str = text_column(index=True)
    question: str = text_column()
    recorded_at: datetime = time_column(index=True)
    is_case: bool = Field(default=False)
    documents: int
    data: bytes = Field(sa_type=LargeBinary)


class CassetteDocumentRow(FootnoteTable, table=True):
    """A document whose text a run holds."""

    message_id: str = key_column(foreign_key="cassette.message_id", ondelete="CASCADE")
    document_id: str = key_column(foreign_key="document.id", ondelete="CASCADE", index=True)


class SourceSyncRow(FootnoteTable, table=True):
    """A source's last sync. No foreign key: a source that never came in has a state, too."""

    __table_args__ = (
        one_of("result", SyncResult),
        CheckConstraint("(result = 'failed') = (error IS NOT NULL)", name="error"),
        CheckConstraint("(result = 'failed') = (failing_since IS NOT NULL)", name="failing_since"),
    )

    workspace: str = key_column()
    source: str = key_column()
    kind: str = text_column()
    result: str = text_column()
    started_at: datetime = time_column()
    ended_at: datetime = time_column()
    good_at: datetime | None = time_column(default=None)
    failing_since: datetime | None = time_column(default=None)
    error: str | None = text_column(default=None)
    job_id: str | None = text_column(default=None)
    counts: dict[str, int] = json_column()
    warnings: list[str] = json_column()


class IngestProgressRow(FootnoteTable, table=True):
    """Progress of a process that reads a source. No foreign key: the source may be removed meanwhile."""

    process: str = key_column()
    source_id: str = key_column()
    done: int
    total: int
    noted_at: datetime = time_column()


METADATA = platform_tables.AdditionRow.metadata  # of all tables
TABLES = METADATA.tables  # by name
