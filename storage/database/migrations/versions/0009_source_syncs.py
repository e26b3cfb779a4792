"""The last sync of every source."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "source_sync",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("good_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failing_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("job_id", sa.Text(), nullable=True),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.CheckConstraint("result IN ('done', 'failed')", name=op.f("ck_source_sync_result")),
        sa.CheckConstraint("(result = 'failed') = (error IS NOT NULL)", name=op.f("ck_source_sync_error")),
        sa.CheckConstraint(
            "(result = 'failed') = (failing_since IS NOT NULL)", name=op.f("ck_source_sync_failing_since")
        ),
        sa.PrimaryKeyConstraint("workspace", "source", name=op.f("pk_source_sync")),
    )


def downgrade() -> None:
    op.drop_table("source_sync")
