"""The durable inbox; what an answer was beside its text, to show it again."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("message", sa.Column("outcome", sa.Text(), nullable=True))
    op.create_table(
        "inbox",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("event_key", sa.Text(), nullable=False),
        sa.Column("message_key", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("waits_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("final_error", sa.Text(), nullable=True),
        sa.Column("cancelled_by", sa.Text(), nullable=True),
        sa.Column("post_ref", sa.Text(), nullable=True),
        sa.Column("incoming", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "status IN ('refused', 'queued', 'running', 'done', 'failed', 'cancelled')", name=op.f("ck_inbox_status")
        ),
        sa.CheckConstraint("(finished_at IS NULL) = (status IN ('queued', 'running'))", name=op.f("ck_inbox_finished")),
        sa.CheckConstraint("(owner IS NULL) = (lease_until IS NULL)", name=op.f("ck_inbox_lease")),
        sa.CheckConstraint("attempts >= 0 AND failures >= 0", name=op.f("ck_inbox_attempts")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_inbox")),
        sa.UniqueConstraint("event_key", name=op.f("uq_inbox_event_key")),
    )
    op.create_index(op.f("ix_inbox_message_key"), "inbox", ["message_key"])
    op.create_index(op.f("ix_inbox_workspace_seq"), "inbox", ["workspace", "seq"])
    op.create_index(
        "ix_inbox_open",
        "inbox",
        ["thread", "seq"],
        sqlite_where=sa.text("finished_at IS NULL"),
        postgresql_where=sa.text("finished_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_table("inbox")
    op.drop_column("message", "outcome")
