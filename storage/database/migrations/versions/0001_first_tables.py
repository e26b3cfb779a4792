"""The first tables: library, conversations, jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _library()
    _library_texts()
    _conversations()
    _messages()
    _jobs()


def downgrade() -> None:
    for table in ("job", "message_document", "message", "conversation", "passage", "page", "document", "source"):
        op.drop_table(table)


def _library() -> None:
    """Sources own documents."""
    op.create_table(
        "source",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("location", sa.Text(), nullable=False),
        sa.Column("link_template", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_source")),
        sa.UniqueConstraint("workspace", "name", name=op.f("uq_source_workspace_name")),
    )
    op.create_table(
        "document",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("stamp_size", sa.BigInteger(), nullable=True),
        sa.Column("stamp_modified_ns", sa.BigInteger(), nullable=True),
        sa.Column("crawled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("extracted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failed_reason", sa.Text(), nullable=True),
        sa.Column("aliases", sa.Text(), nullable=False),
        sa.Column("depends_on", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "(stamp_size IS NULL) = (stamp_modified_ns IS NULL) AND stamp_size >= 0", name=op.f("ck_document_stamp")
        ),
        sa.CheckConstraint("pages >= 0 AND passages >= 0", name=op.f("ck_document_counts")),
        sa.CheckConstraint("revision IS NOT NULL OR (pages = 0 AND passages = 0)", name=op.f("ck_document_revision")),
        sa.ForeignKeyConstraint(["source_id"], ["source.id"], name=op.f("fk_document_source_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document")),
        sa.UniqueConstraint("source_id", "path", name=op.f("uq_document_source_id_path")),
    )


def _library_texts() -> None:
    """Documents own pages, pages passages."""
    op.create_table(
        "page",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("deep_link", sa.Text(), nullable=True),
        sa.Column("heading_path", sa.Text(), nullable=False),
        sa.Column("headings", sa.Text(), nullable=False),
        sa.Column("anchors", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.CheckConstraint("number >= 1", name=op.f("ck_page_number")),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"], name=op.f("fk_page_document_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page")),
        sa.UniqueConstraint("document_id", "number", name=op.f("uq_page_document_id_number")),
    )
    op.create_table(
        "passage",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("page_id", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("span_start", sa.Integer(), nullable=False),
        sa.Column("span_end", sa.Integer(), nullable=False),
        sa.Column("heading_path", sa.Text(), nullable=False),
        sa.Column("sentences", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.CheckConstraint("length(text) = span_end - span_start", name=op.f("ck_passage_text")),
        sa.CheckConstraint("ordinal >= 0", name=op.f("ck_passage_ordinal")),
        sa.CheckConstraint("span_start >= 0 AND span_end >= span_start", name=op.f("ck_passage_span")),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name=op.f("fk_passage_page_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_passage")),
    )
    op.create_index(op.f("ix_passage_page_id"), "passage", ["page_id"])


def _conversations() -> None:
    """Conversations own messages; message_document finds them by what they cite."""
    op.create_table(
        "conversation",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_message_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("message_count", sa.Integer(), nullable=False),
        sa.Column("pinned_document_id", sa.Text(), nullable=True),
        sa.Column("focus_document_id", sa.Text(), nullable=True),
        sa.Column("focus_document", sa.Text(), nullable=True),
        sa.Column("focus_title", sa.Text(), nullable=True),
        sa.Column("focus_touched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("focus_sections", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "(focus_document_id IS NULL) = (focus_touched_at IS NULL)"
            " AND (focus_document_id IS NULL) = (focus_document IS NULL)"
            " AND (focus_document_id IS NULL) = (focus_title IS NULL)",
            name=op.f("ck_conversation_focus"),
        ),
        sa.CheckConstraint("message_count >= 0", name=op.f("ck_conversation_message_count")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversation")),
        sa.UniqueConstraint(
            "platform", "workspace", "channel", "thread", name=op.f("uq_conversation_platform_workspace_channel_thread")
        ),
    )
    op.create_index(op.f("ix_conversation_workspace_last_message_at"), "conversation", ["workspace", "last_message_at"])


def _messages() -> None:
    """Messages, and the documents they cite."""
    op.create_table(
        "message",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=True),
        sa.Column("job_id", sa.Text(), nullable=True),
        sa.Column("stale", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("references", sa.Text(), nullable=False),
        sa.Column("citations", sa.Text(), nullable=False),
        sa.Column("tool_calls", sa.Text(), nullable=False),
        sa.CheckConstraint("role IN ('user', 'assistant', 'tool_result')", name=op.f("ck_message_role")),
        sa.CheckConstraint(
            "status IN ('answered', 'not_found', 'clarify', 'refused', 'stopped', 'error')",
            name=op.f("ck_message_status"),
        ),
        sa.CheckConstraint("sequence >= 1", name=op.f("ck_message_sequence")),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversation.id"], name=op.f("fk_message_conversation_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_message")),
        sa.UniqueConstraint("conversation_id", "sequence", name=op.f("uq_message_conversation_id_sequence")),
    )
    op.create_table(
        "message_document",
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["message_id"], ["message.id"], name=op.f("fk_message_document_message_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("message_id", "document_id", name=op.f("pk_message_document")),
    )
    op.create_index(op.f("ix_message_document_document_id"), "message_document", ["document_id"])


def _jobs() -> None:
    """Job trees."""
    op.create_table(
        "job",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("root_id", sa.Text(), nullable=False),
        sa.Column("parent_id", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("input", sa.Text(), nullable=False),
        sa.Column("output", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('request', 'planning', 'tool', 'synthesis', 'post', 'ingest', 'sync',"
            " 'extraction', 'maintenance')",
            name=op.f("ck_job_kind"),
        ),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'waiting', 'done', 'failed', 'cancelled')", name=op.f("ck_job_status")
        ),
        sa.CheckConstraint("(parent_id IS NULL) = (root_id = id)", name=op.f("ck_job_root")),
        sa.CheckConstraint("attempts >= 0", name=op.f("ck_job_attempts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
    )
    op.create_index(op.f("ix_job_root_id"), "job", ["root_id"])
    op.create_index(op.f("ix_job_workspace_created_at"), "job", ["workspace", "created_at"])
