"""What people thought of answers."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "feedback",
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("rating", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("rating IN ('up', 'down')", name=op.f("ck_feedback_rating")),
        sa.ForeignKeyConstraint(
            ["message_id"], ["message.id"], name=op.f("fk_feedback_message_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("message_id", "author", name=op.f("pk_feedback")),
    )


def downgrade() -> None:
    op.drop_table("feedback")
