"""Limits on questions that hold over all processes, and fair turns."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table, column in (("question_window", "started_at"), ("queue_turn", "served_at")):
        counts = [sa.Column("asked", sa.Integer(), nullable=False)] if table == "question_window" else []
        checks = [sa.CheckConstraint("asked >= 0", name=op.f("ck_question_window_asked"))] if counts else []
        op.create_table(
            table,
            sa.Column("workspace", sa.Text(), nullable=False),
            sa.Column("key", sa.Text(), nullable=False),
            sa.Column(column, sa.DateTime(timezone=True), nullable=False),
            *counts,
            *checks,
            sa.PrimaryKeyConstraint("workspace", "key", name=op.f(f"pk_{table}")),
        )
        op.create_index(op.f(f"ix_{table}_{column}"), table, [column])
    op.add_column("inbox", sa.Column("channel", sa.Text(), nullable=True))
    _fill_channels()


def downgrade() -> None:
    op.drop_column("inbox", "channel")
    op.drop_table("queue_turn")
    op.drop_table("question_window")


def _fill_channels() -> None:
    """Only open questions have turns."""
    inbox = sa.table("inbox", *(sa.column(name) for name in ("seq", "channel", "incoming", "finished_at")))
    connection = op.get_bind()
    for seq, incoming in connection.execute(
        sa.select(inbox.c.seq, inbox.c.incoming).where(inbox.c.finished_at.is_(None))
    ).all():
        channel = json.loads(incoming)["address"]["channel"]
        connection.execute(sa.update(inbox).where(inbox.c.seq == seq).values(channel=channel))
