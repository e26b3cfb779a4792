"""Messages of live channels, and who was there last when."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

_SOURCE = {"refcolumns": ["source.id"], "ondelete": "CASCADE"}


def upgrade() -> None:
    texts = [sa.Column(name, sa.Text(), nullable=False) for name in ("root", "author", "author_name", "text", "link")]
    times = [sa.Column(name, sa.DateTime(timezone=True), nullable=False) for name in ("said_at", "begun_at")]
    marks = [sa.Column(name, sa.Boolean(), nullable=False) for name in ("is_gone", "is_read")]
    op.create_table(
        "channel_message",
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        *texts,
        *times,
        sa.Column("version", sa.Integer(), nullable=False),
        *marks,
        sa.ForeignKeyConstraint(["source_id"], name=op.f("fk_channel_message_source_id"), **_SOURCE),
        sa.PrimaryKeyConstraint("source_id", "id", name=op.f("pk_channel_message")),
    )
    for name in ("root", "author"):
        op.create_index(op.f(f"ix_channel_message_{name}"), "channel_message", [name])
    op.create_table(
        "channel_visit",
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["source_id"], name=op.f("fk_channel_visit_source_id"), **_SOURCE),
        sa.PrimaryKeyConstraint("source_id", "person", name=op.f("pk_channel_visit")),
    )


def downgrade() -> None:
    op.drop_table("channel_visit")
    op.drop_table("channel_message")
