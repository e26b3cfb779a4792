"""What people set for channels and threads."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "channel_settings",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("auto_answer", sa.Boolean(), nullable=False),
        sa.Column("answer_posts", sa.Boolean(), nullable=False),
        sa.Column("questions_per_minute", sa.Integer(), nullable=True),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("sources", sa.Text(), nullable=True),
        sa.CheckConstraint("questions_per_minute >= 1", name=op.f("ck_channel_settings_questions_per_minute")),
        sa.PrimaryKeyConstraint("workspace", "platform", "channel", name=op.f("pk_channel_settings")),
    )
    op.create_table(
        "thread_listening",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("listening", sa.Text(), nullable=False),
        sa.CheckConstraint("listening IN ('normal', 'muted', 'listening')", name=op.f("ck_thread_listening_listening")),
        sa.PrimaryKeyConstraint("workspace", "platform", "channel", "thread", name=op.f("pk_thread_listening")),
    )


def downgrade() -> None:
    op.drop_table("thread_listening")
    op.drop_table("channel_settings")
